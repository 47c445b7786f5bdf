#include <fmt/format.h>

#include "command.h"
#include "core/threads.h"
#include "core/version.h"
#include "edge.h"

int main(int argc, char** argv) {
  using namespace lano::cli;
  prepare_process();
  for (const lano::BlasLibrary& library : lano::foreign_pools()) {
    fmt::print(stderr,
               "lano: warning: {} has its own {} thread pool beside OpenMP, which can be many times slower; install "
               "libopenblas0-openmp, or set OPENBLAS_NUM_THREADS=1\n",
               library.path, library.kind);
  }
  CLI::App app{"LANO: the words that need LibTorch.", "lano"};
  app.set_version_flag("--version", std::string("lano ") + lano::kVersion);
  app.require_subcommand(1);
  add_train(app);
  add_eval(app);
  add_predict(app);
  add_system(app);
  return run_at_edge(app, argc, argv);
}
