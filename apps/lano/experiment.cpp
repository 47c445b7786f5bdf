#include "command.h"

namespace lano::cli {

void add_experiment(CLI::App& app, const Program& program) {
  CLI::App* command = app.add_subcommand(
      "experiment", "many trainings and a table: the paper's experiments, and races of your own recipes");
  command->require_subcommand(1);
  add_table(*command, program);
  add_studies(*command, program);
  add_race(*command, program);
}

}  // namespace lano::cli
