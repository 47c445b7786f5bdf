#include <fmt/format.h>

#include <string_view>

#include "cluster/start.h"
#include "command.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/ranks.h"
#include "core/threads.h"
#include "core/version.h"
#include "edge.h"

namespace {

// One of several processes of a job, where mpirun started it.
void join_for(std::string_view command, bool cluster_bench) {
  lano::join_ranks();
  if (lano::ranks().alone() || command == "train" || command == "predict" || cluster_bench) return;
  lano::fail_usage(fmt::format("running 'lano {}'", command), "one process",
                   fmt::format("{} ranks", lano::ranks().size()),
                   "start it without mpirun; 'lano train', 'lano predict' and 'lano bench cluster' run on ranks");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lano::cli;
  prepare_process();
  // The bench of a cluster needs no LibTorch; all others are those of lano-torch.
  const bool bench = argc > 1 && std::string_view(argv[1]) == "bench",
             cluster_bench = bench && argc > 2 && std::string_view(argv[2]) == "cluster";
  const lano::Launched launched = lano::launched();
  const auto join = [&] { join_for(argc > 1 ? argv[1] : "", cluster_bench); };
  if (const int code = start_ranks(join, launched.rank, launched.local); code != 0) return code;
  if (bench && !cluster_bench) hand_to_lano_torch(argv);

  CLI::App app{"LANO: learn the solution operator of a PDE from data, and use it anywhere.", "lano"};
  app.set_version_flag("--version", std::string("lano ") + lano::kVersion);
  app.require_subcommand(1);
  app.footer(
      "A first workflow:\n"
      "  lano generate darcy --train 1000 --test 200 --out darcy.h5\n"
      "  lano train --config configs/darcy/laptop.toml --data darcy.h5 --out runs/darcy\n"
      "  lano eval runs/darcy/model.safetensors --data darcy.h5\n"
      "'lano COMMAND --help' explains each command.");
  const auto use_threads = [](int count) {
    lano::check_thread_count(count);
    lano::set_thread_count(count);
  };
  const Program program{use_threads, [argv] { hand_to_lano_torch(argv); }, {}};
  add_generate(app);
  add_import(app);
  add_info(app);
  add_model_commands(app, program);
  add_export(app);
  add_serve(app, program);
  add_cluster_bench(app);
  add_report(app);
  add_runs(app);
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    commands.push_back(command->get_name());
  }
  if (argc > 1 && argv[1][0] != '-' && std::string_view(argv[1]) != "pair" &&
      std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
    const std::string advice = lano::did_you_mean(argv[1], commands);
    fmt::print(stderr, "lano: expected one of the commands {}, found '{}'{}{}\n", fmt::join(commands, ", "), argv[1],
               advice.empty() ? "" : "; ", advice);
    return 2;
  }
  return run_at_edge(app, argc, argv);
}
