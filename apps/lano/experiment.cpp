#include <fmt/format.h>

#include "command.h"
#include "console.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/resident_memory.h"
#include "experiment/ablation.h"
#include "model_spec/architecture.h"
#include "run_options.h"
#include "train/trainable.h"

namespace lano::cli {
namespace {

void add_ablation(CLI::App& experiment, const Program& program) {
  struct ExperimentOptions {
    std::string data, out;
    std::vector<std::string> config, overrides;
    std::int64_t seeds = 1;
    int threads = 0;
  };
  auto o = std::make_shared<ExperimentOptions>();
  CLI::App* command = experiment.add_subcommand("ablation", "a LANO with one switch changed at a time");
  command->add_option("--config", o->config, "the recipe of the reference, e.g. configs/darcy/smoke.toml")->take_all();
  command->add_option("--data", o->data, "the dataset file");
  command->add_option("--out", o->out, "the folder of the runs and the table")->required();
  command->add_option("--set", o->overrides, "change one key of the recipe (repeatable)")->take_all();
  command->add_option("--seeds", o->seeds, "trainings of each row")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
  command->footer(
      "Runs that are finished are kept, unfinished ones resumed; the table is written after each.\n"
      "Example: lano experiment ablation --config configs/darcy/smoke.toml --data darcy.h5 --seeds 3 --out "
      "runs/ablation");
  command->callback([o, program] {
    const TrainConfig config = read_recipe(o->config, o->data, o->overrides);
    if (!is_lano(config.model))
      fail_usage("running an ablation", "model.name = \"lano\", whose switches it changes",
                 fmt::format("'{}'", config.model));
    check_train_config(config);
    program.need_torch(needs_torch(config));
    tell_unread(config, o->overrides);
    program.use_threads(o->threads);
    keep_freed_memory();
    const InterruptGuard guard;
    const auto rows = run_ablation(config, o->seeds, o->out, console());
    fmt::print("\n{}\ntable: {}/ablation.md\n", ablation_markdown(rows), o->out);
    leave_if_interrupted();
  });
}

}  // namespace

void add_experiment(CLI::App& app, const Program& program) {
  CLI::App* command = app.add_subcommand("experiment", "tables over many trainings: ablation, race, table");
  command->require_subcommand(1);
  add_ablation(*command, program);
  add_race(*command, program);
  add_table(*command, program);
}

}  // namespace lano::cli
