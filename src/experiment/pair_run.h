// One training of a comparison, in its own process: its pace, the epochs that fit into a budget of minutes, the run
// itself. The result is left in a small JSON file for the process that compares (experiment/recipe_runs.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/listener.h"
#include "train/config.h"

namespace lano {

struct Pace {
  double step_seconds =
      0;  // mean of a short warm-up; with one step per epoch the look at the validation split is in it
  double validation_seconds = 0;  // of one look at the validation split and a checkpoint
  std::int64_t items = 0;         // samples of a whole epoch (time-dependent datasets: starts)
};

// Seconds of the steps of a warm-up: of its start, of the middle of an epoch, and of those after a look at the
// validation split.
struct StepTimes {
  std::vector<double> first, inside, between;
};

// `validation_steps`: what that look costs in steps, where none was timed.
Pace pace_of(const StepTimes& times, double validation_steps);

// Trains for about `seconds`, at least a few steps, into the folder `scratch`, which is removed afterwards. All ranks
// do it together, and get the same.
Pace measure_pace(const TrainConfig& config, const std::filesystem::path& scratch, double seconds);

// Of a whole epoch and one look at the validation split.
double epoch_seconds(const TrainConfig& config, const Pace& pace);

// The same recipe with train.epochs, and where they are few train.epoch_samples, such that its schedule ends within
// `seconds` at this pace, validation included, with a twentieth to spare. At least one step.
TrainConfig fit_to_budget(TrainConfig config, const Pace& pace, double seconds);

struct PairWork {
  double measure = 0;  // seconds of a warm-up that measures the pace; 0: train
  bool test = true;    // false: the test split is not read, and the model file is evaluated on every validation sample
};

// Work of the child process: measures the pace or trains, resuming what is there, and writes `result`:
// {"state": "measured", ...} or "finished", "stopped", "diverged", "refused", "failed", with a "sentence" and
// "peak_bytes". Returns the exit code.
int run_pair_child(const TrainConfig& config, const std::filesystem::path& run, const std::filesystem::path& result,
                   const PairWork& work, Listener& listener = quiet());

}  // namespace lano
