#include "command.h"

namespace lano::cli {

void add_experiment(CLI::App& app, const Program& program) {
  CLI::App* command = app.add_subcommand(
      "experiment", "many trainings and a table: the paper's experiments, and races of your own recipes");
  command->require_subcommand(1);
  command->footer(
      "Example: lano experiment ablation --benchmarks darcy --minutes 1 --out runs/ablation\n"
      "'lano experiment NAME --help' explains each experiment.");
  add_table(*command, program);
  add_studies(*command, program);
  add_race(*command, program);
}

}  // namespace lano::cli
