// One recipe with several seeds under one budget: what a pair of a table (experiment/table.h) and a recipe of a race
// (experiment/race.h) have in common. Runs are trained by child processes (`lano pair`, experiment/pair_run.h) into
// folder/seed-<seed>, so that peak memory is measured for each and a crash costs one of them; folder/recipe.toml holds
// the recipe with its epochs fixed. Finished runs are kept, stopped ones resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/pair_run.h"
#include "train/config.h"

namespace lano {

struct SeedOutcome {
  std::int64_t seed = 0;
  std::string state{};     // "finished", "stopped", "diverged", "refused", "failed", "crashed"
  std::string sentence{};  // why, where it is not finished
  std::int64_t parameters = 0, epochs = 0, peak_bytes = 0;
  double test_l2 = 0, validation_l2 = 0, training_seconds = 0;
  // A finished run is kept, and a divergence would come again; all else is tried again.
  bool settled() const { return state == "finished" || state == "diverged"; }
};

struct RecipeRuns {
  std::vector<SeedOutcome> seeds{};  // those that were tried
  double minutes = 0;                // the budget of each, 0: none
  double step_seconds = 0;           // measured before training; 0 without a budget
  double validation_seconds = 0;     // of one look at the validation split, measured too
  std::int64_t epochs = 0, epoch_samples = 0,
               items = 0;  // fixed from it: epochs, samples of one, samples of a whole one
  int threads = 0;         // those the epochs were fixed with
  std::string set{};       // DatasetReader::hash() of the dataset they were fixed on
  bool finished(std::int64_t count) const;
  std::string reason() const;    // that of the first seed that is not finished; empty if there is none
  double epoch_seconds() const;  // of a whole epoch and one look at the validation split, mean over finished seeds; NaN
                                 // where there is none
  double passes(const SeedOutcome& seed) const;  // over the training samples; its epochs, where these are whole
};

nlohmann::ordered_json to_json(const RecipeRuns& runs);
// Throws nlohmann::json::exception if it is invalid.
RecipeRuns recipe_runs_from(const nlohmann::json& from);

// folder/runs.json, where nothing but the runs is kept of a recipe: nothing known yet where the file is missing.
RecipeRuns read_runs(const std::filesystem::path& folder);
void write_runs(const std::filesystem::path& folder, const RecipeRuns& runs);

// The dataset in words: "mesh [221, 51]; 900 training, 100 validation and 200 test samples".
std::string dataset_words(const std::filesystem::path& data, TrainOn train_on);

// How the child processes are to work.
struct ChildOrders {
  std::filesystem::path program;  // lano
  int threads = 0;
  bool test = true;  // false: the test split is not read, and errors of every validation sample are kept
};

// 0 is the number of all cores.
int threads_of(int asked);

// A number for the contents of a dataset file, as RecipeRuns keeps it.
std::string set_hash(const std::filesystem::path& data);

// Lets a child train for about `seconds` to see how fast it goes. No value: interrupted, or it cannot be trained, which
// `runs` then says.
std::optional<Pace> ask_pace(const ChildOrders& orders, const TrainConfig& recipe, const std::filesystem::path& folder,
                             double seconds, RecipeRuns& runs);
// Long enough to be reliable, and short compared with the budget.
double pace_seconds(double minutes);

// Writes folder/recipe.toml with the epochs that end within `minutes` at this pace; without a pace with the recipe's.
void fix_epochs(const TrainConfig& recipe, const std::optional<Pace>& pace, double minutes,
                const std::filesystem::path& folder, RecipeRuns& runs);
// Writes it with the epochs that were fixed for another recipe: the two are compared after the same passes.
void take_epochs(const TrainConfig& recipe, const RecipeRuns& other, const std::filesystem::path& folder,
                 RecipeRuns& runs);
// "0.02 s per step: 12 epochs of 900 samples in 2 minutes".
std::string epochs_sentence(const RecipeRuns& runs);

// The recipe with the epochs that were fixed. Fails with `doing` where the folder's recipe is another: its runs would
// be inconsistent. The path of the dataset may change.
TrainConfig fixed_recipe(TrainConfig recipe, const std::filesystem::path& folder, const RecipeRuns& runs,
                         std::string_view doing);

std::filesystem::path seed_folder(const std::filesystem::path& folder, std::int64_t seed);

SeedOutcome& outcome_of(RecipeRuns& runs, std::int64_t seed);  // a new one where it was not tried
const SeedOutcome* find_outcome(const RecipeRuns& runs, std::int64_t seed);

// Lets a child train folder/recipe.toml with this seed, or resume it, and records the result.
void train_seed(const ChildOrders& orders, const std::filesystem::path& folder, std::int64_t seed, RecipeRuns& runs);

}  // namespace lano
