// The paper's Table 2 for your own data: every operator on every benchmark under one budget. A pair of model and
// benchmark is trained by child processes (experiment/recipe_runs.h) into folder/<benchmark>/<model>/seed-<seed>,
// ordinary run folders, so that peak memory is measured separately and a crash costs one cell. Finished runs are kept,
// stopped ones resumed; where a model cannot take a dataset there is a dash with the reason.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/listener.h"
#include "experiment/recipe_runs.h"

namespace lano {

struct TablePlan {
  std::string preset;
  std::vector<std::string> models, benchmarks;
  std::int64_t seeds = 1;
  double minutes = 0;                   // of training per pair and seed; 0: the recipes' epochs
  std::vector<std::string> overrides;   // --set, for every pair
  std::filesystem::path configs, data;  // recipes; <benchmark>.h5
  std::filesystem::path program;        // lano, for the child processes
  int threads = 0;                      // 0: all cores
};

struct Pair : RecipeRuns {
  std::string model{}, benchmark{};
};

std::filesystem::path pair_folder(const std::filesystem::path& folder, const std::string& benchmark,
                                  const std::string& model);

// What the files of a pair say, before a budget fixes its epochs.
TrainConfig pair_recipe(const TablePlan& plan, const std::string& benchmark, const std::string& model);

// Fails where a recipe is missing or wrong, or the folder holds runs of other recipes, another plan or another number
// of threads. The datasets need not exist yet.
void check_table(const TablePlan& plan, const std::filesystem::path& folder);

// Checks, also that the datasets are those of the folder's runs, then trains what is missing, pair by pair, benchmarks
// first; `see` is called after each. Ends early where core/interrupt.h says so.
void run_table(const TablePlan& plan, const std::filesystem::path& folder, const std::function<void(const Pair&)>& see,
               Listener& listener = quiet());

// Every pair in the folder, those of former calls too, in the order of the catalogue.
std::vector<Pair> read_table(const std::filesystem::path& folder);

}  // namespace lano
