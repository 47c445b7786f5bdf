// `lano experiment agents|size|resolution|zero-shot|horizon|ablation`: the paper's experiments in addition to its
// table, all in one framework (experiment/study.h).
#include <fmt/format.h>

#include <functional>

#include "benchmark_sets.h"
#include "command.h"
#include "console.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "experiment/study_page.h"
#include "experiment/table_page.h"
#include "model_spec/architecture.h"
#include "run_options.h"
#include "train/recipes.h"
#include "train/trainable.h"

namespace lano::cli {
namespace {

namespace fs = std::filesystem;

struct StudyOptions {
  StudyPlan plan;
  StudyWords words;
  std::string preset = "laptop", data = "data", configs, out;
  std::vector<std::string> config, overrides, benchmarks, models;
  std::vector<std::int64_t> agents{8, 16, 32, 64, 128, 256}, depths, widths;
  double minutes = -1;
};

// What is particular to one of the commands.
struct StudyKind {
  const char *name, *help, *title;
  std::vector<std::string> benchmarks;  // by default
  std::vector<std::string> known;       // that it can be made on
  std::vector<std::string> models;      // by default; empty: LANO alone
  bool own_data;                        // --data may be a file
  std::vector<std::string> about;
  std::function<std::vector<Variant>(StudyOptions&, const std::string& benchmark)> variants;
};

bool on_own_data(const StudyOptions& o) { return fs::is_regular_file(o.data); }

// The recipe of a model on a benchmark, or the files of --config on your own data.
StudyBase base_of(const StudyOptions& o, const std::string& benchmark, const std::string& model, const fs::path& data) {
  if (on_own_data(o)) return {benchmark, read_recipe(o.config, o.data, o.overrides)};
  StudyBase base{benchmark,
                 read_recipe_files(recipe_files(find_configs(o.configs), benchmark, model, o.preset), o.overrides)};
  base.recipe.model = model;
  base.recipe.data = data.string();
  return base;
}

StudyBase lano_base(const StudyOptions& o, const std::string& benchmark) {
  if (!on_own_data(o)) make_missing_sets({benchmark}, o.preset, o.data, o.plan.threads);
  StudyBase base = base_of(o, benchmark, "lano", fs::path(o.data) / (benchmark + ".h5"));
  if (!is_lano(base.recipe.model))
    fail_usage(fmt::format("studying {}", o.plan.name), "model.name = \"lano\", whose sizes and switches it changes",
               fmt::format("'{}'", base.recipe.model));
  return base;
}

std::vector<StudyBase> bases_of(const StudyOptions& o, const std::string& benchmark, const fs::path& data) {
  std::vector<StudyBase> bases;
  for (const std::string& model : o.models) bases.push_back(base_of(o, benchmark, model, data));
  return bases;
}

std::vector<Variant> zero_shot(StudyOptions& o, const std::string& benchmark) {
  const MeshFamily family = make_mesh_family(benchmark, o.preset, o.data, o.plan.threads, false);
  return zero_shot_study(bases_of(o, benchmark, ""), family.meshes, family.trained);
}

std::vector<Variant> resolution(StudyOptions& o, const std::string& benchmark) {
  const MeshFamily family = make_mesh_family(benchmark, o.preset, o.data, o.plan.threads, true);
  return resolution_study(base_of(o, benchmark, "lano", ""), family.meshes);
}

std::vector<Variant> horizon(StudyOptions& o, const std::string& benchmark) {
  const LongSet motion = make_long_set(benchmark, o.preset, o.data, o.plan.threads);
  std::vector<StudyBase> bases = bases_of(o, benchmark, motion.data);
  for (StudyBase& base : bases) base.recipe.frames = motion.learned;
  return horizon_study(bases);
}

std::vector<Variant> sizes(StudyOptions& o, const std::string& benchmark) {
  const bool small = o.preset == "smoke", full = o.preset == kPaperReading || o.preset == kOurReading;
  using List = std::vector<std::int64_t>;
  return size_study(lano_base(o, benchmark),
                    !o.depths.empty() ? o.depths
                    : small           ? List{1, 2}
                    : full            ? List{4, 8, 16, 24, 32}
                                      : List{2, 4, 6, 8, 12},
                    !o.widths.empty() ? o.widths
                    : small           ? List{8, 16}
                    : full            ? List{32, 64, 128, 256}
                                      : List{16, 32, 64, 96});
}

std::vector<StudyKind> study_kinds() {
  const std::vector<std::string> all = made_benchmarks(), time = long_benchmarks();
  return {
      {"agents",
       "error against the number of agent tokens",
       "Error against the number of agents",
       {"darcy", "elasticity"},
       all,
       {},
       true,
       {"Every variant has the same epochs: those of the recipe's own number of agents, or the nearest in the "
        "list. One "
        "model is trained with a number of agents drawn at random each step and evaluated at each number."},
       [](StudyOptions& o, const std::string& b) { return agents_study(lano_base(o, b), o.agents); }},
      {"size",
       "error against depth and width",
       "Error against the size of the model",
       {"darcy", "elasticity"},
       all,
       {},
       true,
       {"Every variant has the same epochs, those of the recipe's own size. The paper shows Elasticity in a figure "
        "without "
        "numbers: from 8 to 24 blocks and up to width 128 its error falls, beyond them it does not."},
       sizes},
      {"resolution",
       "trained and tested at each of several resolutions of one problem",
       "Discretisation convergence: trained and tested on each mesh",
       {"airfoil", "darcy"},
       mesh_benchmarks(),
       {},
       false,
       {"The same problems on every mesh: solved once on the finest and kept at every s-th point. Every variant "
        "has the "
        "epochs that the finest mesh has time for."},
       resolution},
      {"zero-shot",
       "trained at one resolution, evaluated at finer and coarser ones",
       "Zero-shot: trained on one mesh, evaluated on others",
       {"airfoil", "darcy"},
       mesh_benchmarks(),
       {"lano", "transolver", "fno"},
       false,
       {"The same problems on every mesh: solved once on the finest and kept at every s-th point. Each operator "
        "has the "
        "whole budget. The ratio is the error on a mesh over that on the trained one."},
       zero_shot},
      {"horizon",
       "forecasting far past the trained horizon",
       "Error against steps in time",
       time,
       time,
       {"lano", "transolver", "fno"},
       false,
       {"Each operator learns from the first frames alone (Burgers 6 of 31, Navier-Stokes 20 of 40, first ten given) "
        "and is rolled out freely over all others."},
       horizon},
      {"ablation",
       "each switch of the model against the unchanged recipe",
       "Ablation",
       {"darcy", "elasticity"},
       all,
       {},
       true,
       {"Every variant has the epochs of the reference."},
       [](StudyOptions& o, const std::string& b) { return ablation_study(lano_base(o, b)); }}};
}

void run_study_command(StudyOptions& o, const StudyKind& kind, const Program& program) {
  StudyPlan& plan = o.plan;
  const std::string doing = fmt::format("studying {}", kind.name);
  const bool own = on_own_data(o);
  plan.name = kind.name;
  if (own && !kind.own_data)
    fail_usage(doing, "the folder of the benchmarks with --data", fmt::format("the file '{}'", o.data));
  if (own && !o.benchmarks.empty())
    fail_usage_plainly(doing, "--benchmarks does not go with a dataset of your own in --data", "leave one of them out");
  if (!own && !o.config.empty())
    fail_usage(doing, "--config with a dataset of your own, --data FILE", fmt::format("the folder '{}'", o.data),
               "benchmarks have their recipes by --preset");
  if (own) o.benchmarks = {fs::path(o.data).stem().string()};
  if (o.benchmarks.empty()) o.benchmarks = kind.benchmarks;
  if (!own) check_names(o.benchmarks, kind.known, "benchmarks", doing);
  if (o.models.empty()) o.models = kind.models;
  check_names(o.models, catalogue_names(), "models", doing);
  const std::vector<std::string> lano_alone{"lano"};
  program.need_torch(!o.models.empty() && o.models != lano_alone);
  program.use_threads(plan.threads);
  plan.program = program_folder() / "lano";
  plan.minutes = o.minutes >= 0 ? o.minutes : !own && o.preset == "laptop" ? 2 : 0;
  const InterruptGuard guard;
  for (const std::string& benchmark : o.benchmarks) {
    for (Variant& variant : kind.variants(o, benchmark)) plan.variants.push_back(std::move(variant));
  }
  const StudyWords words{kind.title, kind.about};
  run_study(
      plan, o.out, [&] { write_study(plan, words, o.out); }, console());
  const fs::path folder = o.out;
  fmt::print("\n{}\ntable: {}\npage:  {}\n", write_study(plan, words, folder), (folder / (plan.name + ".md")).string(),
             (folder / "index.html").string());
  if (interrupted()) fmt::print("stopped; the same command resumes\n");
  leave_if_interrupted();
  const std::vector<StudyRow> rows = read_study(plan, folder);
  if (std::all_of(rows.begin(), rows.end(), [](const StudyRow& row) { return row.errors.empty(); }))
    fail_plainly(doing, "no variant finished", "see the messages above");
}

void add_options(CLI::App* command, const std::shared_ptr<StudyOptions>& o, const StudyKind& kind) {
  command
      ->add_option(
          "--preset", o->preset,
          "recipes and sizes of the datasets: laptop, paper, paper-ours (the paper's sizes with our readings), or "
          "smoke (seconds)")
      ->check(CLI::IsMember({"laptop", kPaperReading, kOurReading, "smoke"}))
      ->capture_default_str();
  command
      ->add_option(
          "--benchmarks", o->benchmarks,
          fmt::format("a,b,... from {}; default {}", fmt::join(kind.known, ", "), fmt::join(kind.benchmarks, ",")))
      ->delimiter(',');
  if (!kind.models.empty())
    command->add_option("--models", o->models, fmt::format("a,b,...; default {}", fmt::join(kind.models, ",")))
        ->delimiter(',');
  const std::string name = kind.name;
  if (name == "agents")
    command->add_option("--agents", o->agents, "numbers of agents")->delimiter(',')->capture_default_str();
  if (name == "size") {
    command->add_option("--depths", o->depths, "numbers of blocks, in addition to the recipe's")->delimiter(',');
    command->add_option("--widths", o->widths, "widths, in addition to the recipe's")->delimiter(',');
  }
  command->add_option("--seeds", o->plan.seeds, "trainings of each variant")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--minutes", o->minutes,
          "training time per seed of the variant that fixes the epochs of all; 0: the recipe's epochs; default 2 for "
          "laptop, else 0")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--data", o->data,
                   kind.own_data ? "the folder of <benchmark>.h5, generated if missing; or your own dataset"
                                 : "the folder of the datasets; missing ones are generated there")
      ->capture_default_str();
  if (kind.own_data)
    command
        ->add_option("--config", o->config,
                     "a TOML recipe for your own dataset; repeatable, later files override earlier "
                     "ones")
        ->take_all();
  command->add_option("--configs", o->configs, "the folder of the recipes; default ./configs or the installation's");
  command->add_option("--set", o->overrides, "change one key of every recipe (repeatable)")->take_all();
  command->add_option("--out", o->out, "the folder of the runs, the table, the plots and their page")->required();
  command->add_option("--threads", o->plan.threads, "0: all cores")->check(CLI::NonNegativeNumber);
  command->footer(
      fmt::format("The same command resumes where it was stopped: finished runs are kept, a stopped one is resumed.\n"
                  "Example: lano experiment {0} --benchmarks {1} --minutes 3 --out runs/{0}",
                  kind.name, fmt::join(kind.benchmarks, ",")));
}

}  // namespace

void add_studies(CLI::App& experiment, const Program& program) {
  for (StudyKind& kind : study_kinds()) {
    auto o = std::make_shared<StudyOptions>();
    CLI::App* command = experiment.add_subcommand(kind.name, kind.help);
    add_options(command, o, kind);
    command->callback([o, kind, program] { run_study_command(*o, kind, program); });
  }
}

}  // namespace lano::cli
