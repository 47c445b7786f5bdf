// Which recipe is better on this dataset, and is the difference luck? Two or more recipes with the same seeds under one
// budget, compared on the validation split sample by sample; the test split is not read. Runs are trained by child
// processes (experiment/recipe_runs.h) into folder/<recipe>/seed-<seed>, ordinary run folders, one seed of every recipe
// before the next: finished runs are kept, stopped ones resumed, and pairs are complete wherever it stops.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/listener.h"
#include "experiment/paired_difference.h"
#include "experiment/recipe_runs.h"
#include "run/seed_group.h"
#include "train/config.h"

namespace lano {

struct RaceRecipe {
  std::string name;
  std::string text;                  // what it changes, as given; empty: nothing
  std::vector<std::string> changes;  // "model.width=64", ...
  TrainConfig config;
};

// Of the base and one of
//   "NAME: KEY=VALUE FILE.toml ..."  files one over the other, then the keys; values with spaces in brackets or quotes
//   "FILE.toml"                      the recipe has the file's name
//   "base"                           the base itself
// Data and seed are the base's, whatever a file says of them; to change them by a key is an error.
RaceRecipe parse_race_recipe(std::string_view text, const TrainConfig& base);

struct RacePlan {
  std::vector<RaceRecipe> recipes;  // the first is the reference
  std::int64_t seeds = 3;           // from the recipes' train.seed on
  double minutes = 0;               // of training per run; 0: the recipes' epochs
  std::filesystem::path program;    // lano, for the child processes
  int threads = 0;                  // 0: all cores
};

inline constexpr std::int64_t kLeastSeeds = 3;  // for a verdict: with two, a t interval is 13 standard errors wide

enum class Verdict { reference, better, worse, undecided, few_seeds, incomplete };

struct RaceRow {
  RaceRecipe recipe;
  RecipeRuns runs;                                 // what is known of the recipe's runs
  std::int64_t finished = 0;                       // seeds of the plan
  MeanAndDeviation validation;                     // relative L2 over those
  double parameters = 0, passes = 0, seconds = 0;  // of a run, mean over those
  // Against the reference, over the seeds both have finished; count 0: none. Samples have their mean error over them.
  PairedDifference over_seeds, over_samples;
  Verdict verdict = Verdict::incomplete;
};

// Fails if the plan is no race, the dataset has no validation split, or the folder holds runs of other recipes, another
// dataset, budget or number of threads. Returns set_hash() of the dataset.
std::string check_race(const RacePlan& plan, const std::filesystem::path& folder);

// Checks, measures the pace of every recipe if there is a budget, and trains what is missing; `see` is called after
// each run. Ends early where core/interrupt.h says so.
void run_race(const RacePlan& plan, const std::filesystem::path& folder, const std::function<void()>& see,
              Listener& listener = quiet());

// What the folder holds of the plan.
std::vector<RaceRow> read_race(const RacePlan& plan, const std::filesystem::path& folder);

}  // namespace lano
