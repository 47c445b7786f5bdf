// The paper's Table 2 for data of one's own: every operator on every benchmark under one budget. A pair of model and
// benchmark is trained by child processes (experiment/pair_run.h) into folder/<benchmark>/<model>/seed-<seed>, ordinary
// run folders, so that the peak of memory is its own and a crash costs one cell. What is finished is kept, what was
// stopped goes on, what a model cannot take is a dash with the reason.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/listener.h"
#include "core/set_description.h"
#include "train/config.h"

namespace lano {

struct TablePlan {
  std::string preset;
  std::vector<std::string> models, benchmarks;
  std::int64_t seeds = 1;
  double minutes = 0;                   // of training a pair and seed; 0: the recipes' epochs
  std::vector<std::string> overrides;   // --set, for every pair
  std::filesystem::path configs, data;  // recipes; <benchmark>.h5
  std::filesystem::path program;        // lano, for the child processes
  int threads = 0;                      // 0: all cores
};

struct PairSeed {
  std::int64_t seed = 0;
  std::string state;     // "finished", "stopped", "diverged", "refused", "failed", "crashed"
  std::string sentence;  // why, where it is not finished
  std::int64_t parameters = 0, epochs = 0, peak_bytes = 0;
  double test_l2 = 0, validation_l2 = 0, training_seconds = 0;
};

struct Pair {
  std::string model, benchmark;
  std::vector<PairSeed> seeds;    // those that were tried
  double minutes = 0;             // its budget, 0: none
  double step_seconds = 0;        // measured before training; 0 without a budget
  double validation_seconds = 0;  // of one look at the validation split, measured too
  std::int64_t epochs = 0, epoch_samples = 0,
               items = 0;  // fixed from it: epochs, samples of one, samples of a whole one
  int threads = 0;         // those the epochs were fixed with
  std::string set;         // DatasetReader::hash() of the set they were fixed on
  bool finished(std::int64_t count) const;
  std::string reason() const;    // the first seed's that is not finished; empty where there is none
  double epoch_seconds() const;  // of a whole epoch and one look at the validation split, mean over finished seeds; NaN
                                 // where there is none
};

std::filesystem::path pair_folder(const std::filesystem::path& folder, const std::string& benchmark,
                                  const std::string& model);

// Fails where a recipe is missing or wrong, or the folder holds runs of other recipes, another plan or another number
// of threads. The sets need not be there yet.
void check_table(const TablePlan& plan, const std::filesystem::path& folder);

// Checks, also that the sets are those of the folder's runs, then trains what is missing, pair by pair, benchmarks
// first; `see` is told after each. Ends early where core/interrupt.h says so.
void run_table(const TablePlan& plan, const std::filesystem::path& folder, const std::function<void(const Pair&)>& see,
               Listener& listener = quiet());

// Every pair in the folder, those of former calls too, in the order of the catalogue.
std::vector<Pair> read_table(const std::filesystem::path& folder);

}  // namespace lano
