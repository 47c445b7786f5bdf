#include <fmt/format.h>
#include <torch/torch.h>

#include "core/error.h"
#include "core/threads.h"
#include "torch_command.h"

namespace lano::cli {

void use_torch_threads(int count) {
  check_thread_count(count);
  // Asked before LibTorch's first look at the pool, which would overwrite OpenMP's own choice.
  const int threads = count > 0 ? count : thread_count();
  at::set_num_threads(threads);
  set_thread_count(threads);
}

void add_system(CLI::App& app) {
  CLI::App* command = app.add_subcommand("system", "what 'lano info --system' shows of training");
  command->callback([] {
    use_torch_threads(0);
    fmt::print("LibTorch     {}, {} threads\n", TORCH_VERSION, at::get_num_threads());
    for (const BlasLibrary& library : loaded_openblas())
      fmt::print("OpenBLAS     {}, kernels for {} ({})\n", library.kind, library.core, library.path);
    if (const auto foreign = foreign_pools(); !foreign.empty()) {
      fail("checking the thread pools", "OpenBLAS on the OpenMP pool alone",
           fmt::format("{} ({})", foreign.front().path, foreign.front().kind),
           "install libopenblas0-openmp and build again");
    }
  });
}

}  // namespace lano::cli
