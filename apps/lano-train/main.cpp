#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "command.h"
#include "core/threads.h"
#include "core/version.h"
#include "edge.h"

namespace {

// Starts the program again with kernels that fit the processor; returns where nothing is to be mended.
void mend_openblas_core(char** argv) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;  // the user's choice, or ours from the first start
  for (const lano::BlasLibrary& library : lano::loaded_openblas()) {
    const std::string core = lano::better_openblas_core(library);
    if (core.empty()) continue;
    ::setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
    ::execv("/proc/self/exe", argv);
  }
}

// Tensors of a few megabytes come and go at every operation. By default the C library returns such memory to the system
// and takes it anew, page by page: a third of a training step. Keep it instead.
void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 1 << 28);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lano::cli;
  prepare_process();
  mend_openblas_core(argv);
  keep_freed_memory();
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
  add_tune(app);
  add_experiment(app);
  add_pair(app);
  add_bench(app);
  add_system(app);
  return run_at_edge(app, argc, argv);
}
