// A small search over keys of the config: random sampling (Bergstra, Bengio: "Random search for hyper-parameter
// optimization", JMLR 2012) with successive halving (Jamieson, Talwalkar: "Non-stochastic best arm identification and
// hyperparameter optimization", AISTATS 2016). Many trials are trained briefly, the better ones longer. Compared on
// validation alone: the test split is never read. Everything is in the folder, so a killed search resumes with the same
// call and ends with the same table:
//   tune.json            the plan; another plan is refused
//   trial-007/rung-1/    ordinary run folders
//   trial-007/failed.json  where a training failed: the rung and the sentence
//   tune.csv, tune.md    the table, best first, after every run
//   best.toml            at the end: the recipe of the winner with all its epochs
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/listener.h"
#include "core/set_description.h"
#include "experiment/vary.h"

namespace lano {

struct TunePlan {
  TrainConfig base;  // epochs: those of the last rung
  std::vector<VariedKey> vary;
  std::int64_t trials = 12, rungs = 3, seed = 0;
  double keep = 0.34;  // share of a rung's trials that goes to the next
};

enum class TrialState { waiting, dropped, failed, finished, best };

struct TuneTrial {
  std::int64_t number = 0;            // from 0
  std::int64_t redraws = 0;           // draws before this one that gave no valid config
  std::vector<ConfigValue> values;    // one per varied key
  std::vector<double> validation_l2;  // one per finished rung
  TrialState state = TrialState::waiting;
  std::string error;  // the sentence of a training that failed
};

struct TuneResult {
  std::vector<TuneTrial> trials;  // best first
  bool finished = true;           // false: a training was stopped; the same call resumes
};

// Epochs of each rung: max(1, round(epochs * keep^(rungs - 1 - r))).
std::vector<std::int64_t> rung_epochs(const TunePlan& plan);
// How many of `trials` trials go to the next rung: ceil(keep * trials).
std::int64_t kept_trials(std::int64_t trials, double keep);

// Values of trial i are drawn from (seed, i) alone; a draw whose config is not valid on this dataset is drawn again,
// at most a hundred times.
std::vector<TuneTrial> draw_trials(const TunePlan& plan, const SetDescription& set);

TuneResult run_tune(const TunePlan& plan, const std::filesystem::path& folder, Listener& listener = quiet());

std::string tune_csv(const TunePlan& plan, const std::vector<TuneTrial>& best_first);
std::string tune_markdown(const TunePlan& plan, const std::vector<TuneTrial>& best_first);

}  // namespace lano
