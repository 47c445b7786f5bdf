#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "console.h"
#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/duration.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/ranks.h"
#include "core/resident_memory.h"
#include "experiment/chosen_recipe.h"
#include "experiment/seeds.h"
#include "run/run_folder.h"
#include "run_options.h"
#include "train/trainable.h"
#include "train/trainer.h"

namespace lano::cli {
namespace {

struct TrainArguments {
  std::string data, out = "runs/latest";
  std::vector<std::string> config, overrides;
  std::string run;  // of --resume
  bool resume = false, keys = false;
  std::int64_t stop_after = 0, seeds = 0;
  int mesh_ranks = 1;
  int threads = 0;
  double minutes = 0;
  std::string device = "cpu";
  std::string from;  // a model file
};

void print_keys() {
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  for (const Schema::Key& key : schema.keys()) fmt::print("{:<28} {}: {}\n", key.name, key.type, key.help);
  fmt::print("\nDefaults:\n\n{}", schema.to_toml());
}

// The report is drawn by `lano`, which this program replaces itself with.
void draw_report(const std::string& folder) {
  const auto program = program_folder() / "lano";
  become(program, {"report", folder});
  fmt::print(stderr, "lano: no report drawn: '{}' cannot be started\n", program.string());
}

std::filesystem::path folder_of(const TrainArguments& o) { return o.run.empty() ? o.out : o.run; }

// The command that resumes.
std::string hint(const TrainArguments& o) {
  return fmt::format("resume with: {}lano train --resume {}{}{}",
                     ranks().alone() ? "" : fmt::format("mpirun -n {} ", ranks().size()), folder_of(o).string(),
                     mesh_ranks().alone() ? "" : fmt::format(" --mesh-ranks {}", mesh_ranks().size()),
                     o.threads > 0 ? fmt::format(" --threads {}", o.threads) : "");
}

void train_seeds(const TrainArguments& o, const TrainConfig& config) {
  if (o.stop_after > 0)
    fail_usage_plainly("training several seeds", "--stop-after does not go with --seeds", "leave one of them out");
  const std::int64_t count = o.seeds != 0 ? o.seeds : planned_seeds(folder_of(o));
  const SeedResults group = run_seeds(config, count, folder_of(o), o.resume, console());
  if (!ranks().first()) return;
  fmt::print("\n{}", seeds_text(group));
  if (group.finished()) return;
  fmt::print("stopped; {}\n", hint(o));
  leave_if_interrupted();
}

// Folder for timing steps: next to the run, removed before it begins.
std::filesystem::path timing_folder(const TrainArguments& o) {
  std::filesystem::path folder = folder_of(o).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return folder.string() + ".timing";
}

RecipeWish wish_of(const TrainArguments& o, const std::filesystem::path& own_recipe) {
  RecipeWish wish{o.config, o.overrides, o.data, {}, o.from, o.minutes};
  if (!o.resume) return wish;
  if (!o.from.empty())
    fail_usage_plainly("resuming a run", "--from does not go with --resume: a run continues with its own weights",
                       "leave out --from");
  if (o.minutes > 0)
    fail_usage_plainly("resuming a run", "--minutes does not go with --resume: the epochs of a run are fixed",
                       "leave out --minutes");
  if (o.config.empty()) wish.files = {own_recipe.string()};
  return wish;
}

// Ranks that are asked for different things would wait for each other in different places. Names of files may differ:
// what is in them is compared later.
void check_same_wish(const TrainArguments& o) {
  if (ranks().alone()) return;
  nlohmann::json config = nlohmann::json::array();
  for (const std::string& file : o.config) config.push_back(read_file(file, "reading"));
  check_same_on_all("training", "command", "give all ranks the same command",
                    nlohmann::json{{"config", config},
                                   {"set", o.overrides},
                                   {"minutes", o.minutes},
                                   {"from", !o.from.empty()},
                                   {"resume", o.resume},
                                   {"stop-after", o.stop_after},
                                   {"seeds", o.seeds},
                                   {"mesh-ranks", o.mesh_ranks}}
                        .dump());
}

void run_train(const TrainArguments& o, const Program& program) {
  if (o.keys) return ranks().first() ? print_keys() : void();
  const std::filesystem::path folder = folder_of(o);
  if (folder.empty()) fail_usage_plainly("training", "the name of --out is empty", "name the folder of the run");
  const bool group = o.seeds != 0 || (o.resume && is_seed_group(folder));
  const auto own_recipe = group ? folder / "recipe.toml" : config_file(folder);
  if (o.resume && o.config.empty() && !std::filesystem::exists(own_recipe)) {
    const bool file = std::filesystem::is_regular_file(folder);
    fail_plainly(fmt::format("resuming '{}'", folder.string()),
                 file ? "it is a file" : "there is no run in that folder",
                 file && std::filesystem::exists(config_file(folder.parent_path()))
                     ? fmt::format("it belongs to the run '{}': name that", folder.parent_path().string())
                     : "name the --out of 'lano train', or repeat the command that began it");
  }
  const RecipeWish wish = wish_of(o, own_recipe);
  check_same_wish(o);
  TrainConfig config = said_recipe(wish);
  choose_device(program, o.device);
  if (o.device != "cpu") config.engine = Engine::composite;  // the fused kernels are the processor's
  if (!ranks().alone() && needs_torch(config))
    fail_usage(fmt::format("training on {} ranks", ranks().size()), "a LANO on the fused engine",
               fmt::format("model.name = {}", config.model), "start it without mpirun");
  set_mesh_ranks(o.mesh_ranks);
  program.need_torch(needs_torch(config));
  program.use_threads(o.threads);
  keep_freed_memory();
  const InterruptGuard guard;
  const bool holds_group = is_seed_group(folder);
  if (!group && (holds_group || (!o.resume && std::filesystem::exists(config_file(folder))))) {
    fail(fmt::format("training into '{}'", folder.string()), "a new folder",
         fmt::format("a {} that is already there", holds_group ? "group of seeds" : "run"),
         "choose another --out, or resume it with --resume");
  }
  TrainOptions options;
  options.preface = unread_keys(config, o.overrides);
  if (!o.resume) {
    const OwnRecipe chosen = chosen_recipe(wish, config, timing_folder(o));
    config = chosen.config;
    options.preface.insert(options.preface.end(), chosen.because.begin(), chosen.because.end());
  }
  if (group) {
    for (const std::string& line : options.preface) console().say(line);
    return train_seeds(o, config);
  }
  options.resume = o.resume;
  options.stop_after = o.stop_after;
  if (ranks().first()) options.listener = &console();
  options.baselines = true;
  const TrainResult result = train(config, folder, options);
  if (!ranks().first()) return;
  if (!result.finished) {
    fmt::print("stopped in epoch {} of {}; {}\n", std::min(result.epochs + 1, config.epochs), config.epochs, hint(o));
    return leave_if_interrupted();
  }
  fmt::print("\nparameters           {}\ntraining time        {}\nweights kept         epoch {} of {}\n",
             result.parameters, duration_text(result.seconds), result.best_epoch, result.epochs);
  if (std::isfinite(result.validation_l2)) fmt::print("validation rel. L2   {:.4e}\n", result.validation_l2);
  if (std::isfinite(result.test_l2)) fmt::print("test relative L2     {:.4e}\n", result.test_l2);
  const bool tested = std::isfinite(result.test_l2);
  print_baselines(tested ? result.test_baselines : result.validation_baselines,
                  tested ? result.test_l2 : result.validation_l2);
  fmt::print("model: {}\n", model_file(folder).string());
  set_ranks(nullptr);  // the report is drawn by one process
  draw_report(folder.string());
}

}  // namespace

void add_train(CLI::App& app, const Program& program) {
  auto o = std::make_shared<TrainArguments>();
  CLI::App* command = app.add_subcommand("train", "train an operator on a dataset");
  command
      ->add_option("--config", o->config,
                   "a TOML recipe, e.g. configs/darcy/laptop.toml; repeatable, later files override earlier ones")
      ->take_all();
  command->add_option("--data", o->data, "the dataset file (or data.file in the config)");
  command
      ->add_option(
          "--minutes", o->minutes,
          "how long the training may take; without --config sizes and epochs are chosen to fit (10 by default)")
      ->check(CLI::Range(0.01, 1e6));
  command->add_option("--from", o->from,
                      "fine-tune: begin with the weights of this model file; --set normalise.from=refit fits its "
                      "normaliser to the new dataset");
  command->add_option("--out", o->out, "the folder of the run")->capture_default_str();
  command->add_option("--set", o->overrides, "change one key: --set train.epochs=50 (repeatable)")->take_all();
  CLI::Option* resume =
      command->add_option("--resume", o->run, "resume this run (or that of --out) from its newest checkpoint")
          ->expected(0, 1);
  command->add_option("--stop-after", o->stop_after, "stop after this many epochs in total, to be resumed later")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seeds", o->seeds, "number of seeds to train into OUT/seed-<seed>, with mean and deviation")
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--mesh-ranks", o->mesh_ranks,
          "under mpirun: divide the points of each sample over groups of this many ranks, and the samples of a "
          "step over the groups")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--keys", o->keys, "list every key with its meaning and default");
  command->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
  add_device_option(command, o->device);
  command->footer(
      "Example: lano train --data mine.h5 --minutes 5 --out runs/mine\n"
      "         lano train --data finer.h5 --from runs/mine/model.safetensors --minutes 2 --out runs/finer\n"
      "         lano train --config configs/darcy/laptop.toml --data darcy.h5 --out runs/darcy --set train.epochs=50\n"
      "         lano train --config configs/darcy/laptop.toml --config configs/models/transolver/laptop.toml --data "
      "darcy.h5 --out runs/transolver");
  command->callback([o, resume, program] {
    o->resume = resume->count() > 0;
    run_train(*o, program);
  });
}

}  // namespace lano::cli
