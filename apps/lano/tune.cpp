#include "experiment/tune.h"

#include <fmt/format.h>

#include "command.h"
#include "console.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/resident_memory.h"
#include "model_spec/model_catalogue.h"
#include "run_options.h"
#include "train/trainable.h"

namespace lano::cli {

void add_tune(CLI::App& app, const Program& program) {
  struct TuneOptions {
    std::string data, out;
    std::vector<std::string> config, overrides, vary;
    TunePlan plan;
    int threads = 0;
  };
  auto o = std::make_shared<TuneOptions>();
  CLI::App* command = app.add_subcommand("tune", "search for good values of some keys, compared on validation");
  command
      ->add_option("--config", o->config,
                   "the base recipe, e.g. configs/darcy/laptop.toml; repeatable, later files override earlier ones")
      ->take_all();
  command->add_option("--data", o->data, "the dataset file (or data.file in the config)");
  command->add_option("--out", o->out, "the folder of the trials and the table")->required();
  command->add_option("--set", o->overrides, "change one key of the recipe (repeatable)")->take_all();
  command->add_option("--vary", o->vary, "a key to search: KEY=LOW..HIGH, KEY=LOW..HIGH:log or KEY=a,b,c (repeatable)")
      ->required()
      ->take_all();
  command->add_option("--trials", o->plan.trials, "number of random trials")->capture_default_str();
  command->add_option("--rungs", o->plan.rungs, "rounds; the last one has all epochs")->capture_default_str();
  command->add_option("--keep", o->plan.keep, "share of the trials that advance to the next round")
      ->capture_default_str();
  command->add_option("--seed", o->plan.seed, "seed of the random trials (train.seed is that of the trainings)")
      ->capture_default_str();
  command->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
  command->footer(
      "The same command resumes a search that was stopped. The test split is not read.\n"
      "Example: lano tune --config configs/darcy/smoke.toml --data darcy.h5 --out runs/tune --vary "
      "schedule.learning_rate=1e-4..1e-2:log --vary model.width=16,32");
  command->callback([o, program] {
    o->plan.base = read_recipe(o->config, o->data, o->overrides);
    program.need_torch(needs_torch(o->plan.base));
    tell_unread(o->plan.base, o->overrides);
    program.use_threads(o->threads);
    keep_freed_memory();
    const ModelInfo* const model = find_model(o->plan.base.model);
    for (const std::string& text : o->vary) {
      o->plan.vary.push_back(parse_vary(text));
      const std::string& key = o->plan.vary.back().name;
      if (model != nullptr && !reads_key(*model, key)) {
        fail_usage(fmt::format("reading --vary {}", text), fmt::format("a key that {} reads", model->name),
                   fmt::format("'{}'", key), fmt::format("it reads model: {}", model->keys));
      }
    }
    const InterruptGuard guard;
    const TuneResult result = run_tune(o->plan, o->out, console());
    fmt::print("\n{}\ntable: {}/tune.md\n", tune_markdown(o->plan, result.trials), o->out);
    if (result.finished) {
      fmt::print(
          "best: {0}/best.toml; the error of the best of many is biased low on validation: evaluate it with new seeds\n"
          "  lano train --config {0}/best.toml --seeds 3 --out {0}-best\n",
          o->out);
    } else {
      fmt::print("stopped; the same command resumes\n");
      leave_if_interrupted();
    }
  });
}

}  // namespace lano::cli
