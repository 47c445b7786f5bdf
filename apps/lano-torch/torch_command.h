// The commands of `lano-torch` in addition to those of apps/lano. No LibTorch type crosses this header.
#pragma once

#include <CLI/CLI.hpp>

namespace lano::cli {

void use_torch_threads(int count);  // LibTorch chooses a thread count of its own: both pools follow this; 0: all cores
void add_bench(CLI::App& app);
void add_bench_cost(CLI::App& bench);  // a subcommand of `lano bench`
void add_system(CLI::App& app);

}  // namespace lano::cli
