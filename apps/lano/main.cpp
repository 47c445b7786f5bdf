#include <fmt/format.h>

#include "command.h"
#include "core/nearest.h"
#include "core/version.h"
#include "edge.h"

int main(int argc, char** argv) {
  using namespace lano::cli;
  prepare_process();
  if (argc > 1 && is_for_lano_train(argv[1])) hand_to_lano_train(argc, argv);

  CLI::App app{"LANO: learn the solution operator of a PDE from data, and use it anywhere.", "lano"};
  app.set_version_flag("--version", std::string("lano ") + lano::kVersion);
  app.require_subcommand(1);
  app.footer(
      "A first road:\n"
      "  lano generate darcy --train 1000 --test 200 --out darcy.h5\n"
      "  lano train --config configs/darcy/laptop.toml --data darcy.h5 --out runs/darcy\n"
      "  lano eval runs/darcy/model.safetensors --data darcy.h5\n"
      "'lano WORD --help' explains each word.");
  add_generate(app);
  add_import(app);
  add_info(app);
  add_predict(app, argc, argv);
  add_export(app);
  // Listed here, done by lano-train.
  app.add_subcommand("train", "train an operator on a dataset");
  app.add_subcommand("eval", "judge a model on a dataset");
  app.add_subcommand("bench", "measure the engines and the operators on this machine");
  app.add_subcommand("tune", "search for good values of some keys, judged by validation");
  app.add_subcommand("experiment", "tables over many trainings: ablation, table");
  add_report(app);
  add_runs(app);
  std::vector<std::string> words;
  for (const CLI::App* word : app.get_subcommands({})) words.push_back(word->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::find(words.begin(), words.end(), argv[1]) == words.end()) {
    fmt::print(stderr, "lano: expected one of the words {}, found '{}'; did you mean '{}'?\n", fmt::join(words, ", "),
               argv[1], lano::nearest(argv[1], words));
    return 2;
  }
  return run_at_edge(app, argc, argv);
}
