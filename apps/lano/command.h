// The subcommands of `lano`: each registers its options and what to run. All but bench are torch-free; for models that
// need LibTorch, the program lano-torch in the same folder is started with the same arguments.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace lano::cli {

// What differs between the two programs.
struct Program {
  std::function<void(int)> use_threads;                         // 0: OMP_NUM_THREADS or all cores
  std::function<void()> hand_over;                              // to lano-torch; empty in that program
  std::function<void(const std::string& device)> use_device{};  // of LibTorch; where it is empty there is the CPU alone

  // Work that only LibTorch does leaves this process here.
  void need_torch(bool needed) const {
    if (needed && hand_over) hand_over();
  }
};

void add_cluster_bench(CLI::App& app);  // the `lano bench` that needs no LibTorch; the others are lano-torch's
void add_eval(CLI::App& app, const Program& program);
void add_experiment(CLI::App& app, const Program& program);
void add_export(CLI::App& app);
void add_generate(CLI::App& app);
void add_import(CLI::App& app);
void add_info(CLI::App& app);
void add_pair(CLI::App& app, const Program& program);  // hidden: a child process of a table or a race
void add_predict(CLI::App& app, const Program& program);
void add_race(CLI::App& experiment, const Program& program);  // a subcommand of `lano experiment`
void add_report(CLI::App& app);
void add_runs(CLI::App& app);
void add_serve(CLI::App& app, const Program& program);
void add_studies(CLI::App& experiment, const Program& program);  // further subcommands of `lano experiment`
void add_table(CLI::App& experiment, const Program& program);    // a subcommand of `lano experiment`
void add_train(CLI::App& app, const Program& program);
void add_tune(CLI::App& app, const Program& program);

// Every command that trains or uses a model.
void add_model_commands(CLI::App& app, const Program& program);

// Adds --device; "cpu" by default.
void add_device_option(CLI::App* command, std::string& device);
// Hands over, or tells LibTorch, where it is not the CPU.
void choose_device(const Program& program, const std::string& device);

// Replaces this process by lano-torch with the same arguments; ends with an error message if it cannot be started.
[[noreturn]] void hand_to_lano_torch(char** argv);

}  // namespace lano::cli
