// The subcommands of `lano`: each registers its options and what to run. Torch-free; words that need LibTorch are handed
// to the program lano-train beside this one.
#pragma once

#include <CLI/CLI.hpp>

namespace lano::cli {

void add_export(CLI::App& app);
void add_generate(CLI::App& app);
void add_import(CLI::App& app);
void add_info(CLI::App& app);
void add_predict(CLI::App& app, int argc, char** argv);  // arguments of the program, for lano-train
void add_report(CLI::App& app);
void add_runs(CLI::App& app);

// Runs lano-train with the same arguments; returns only where it cannot be started.
[[noreturn]] void hand_to_lano_train(int argc, char** argv);
bool is_for_lano_train(std::string_view word);

}  // namespace lano::cli
