#include <fmt/format.h>

#include <cstdlib>

#include "command.h"
#include "core/child_process.h"
#include "core/resident_memory.h"
#include "core/threads.h"
#include "core/version.h"
#include "edge.h"
#include "libtorch/torch_batch.h"
#include "libtorch/torch_trainable.h"
#include "run_options.h"
#include "torch_command.h"

namespace {

// Starts the program again with kernels that fit the processor; returns if nothing is to be corrected.
void mend_openblas_core(char** argv) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;  // the user's choice, or ours from the first start
  for (const lano::BlasLibrary& library : lano::loaded_openblas()) {
    const std::string core = lano::better_openblas_core(library);
    if (core.empty()) continue;
    ::setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
    lano::become("/proc/self/exe", argv);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lano::cli;
  prepare_process();
  mend_openblas_core(argv);
  lano::keep_freed_memory();
  for (const lano::BlasLibrary& library : lano::foreign_pools()) {
    fmt::print(
        stderr,
        "lano: warning: {} has its own {} thread pool in addition to OpenMP, which can be many times slower; install "
        "libopenblas0-openmp, or set OPENBLAS_NUM_THREADS=1\n",
        library.path, library.kind);
  }
  lano::register_torch_models();
  CLI::App app{"LANO: the commands that need LibTorch.", "lano"};
  app.set_version_flag("--version", std::string("lano ") + lano::kVersion);
  app.require_subcommand(1);
  add_model_commands(app, {use_torch_threads, {}, lano::use_torch_device});
  add_bench(app);
  add_system(app);
  return run_at_edge(app, argc, argv);
}
