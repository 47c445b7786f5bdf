// The words of `lano` that need LibTorch. No LibTorch type crosses this header.
#pragma once

#include <CLI/CLI.hpp>

namespace lano::cli {

void add_bench(CLI::App& app);
void add_bench_cost(CLI::App& bench);  // a word of `lano bench`
void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
void add_tune(CLI::App& app);
void add_experiment(CLI::App& app);
void add_table(CLI::App& experiment);  // a word of `lano experiment`
void add_pair(CLI::App& app);          // hidden: a child process of the table
void add_system(CLI::App& app);

}  // namespace lano::cli
