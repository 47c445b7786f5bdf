// Training of one model on one dataset: shuffled batches, validation and a checkpoint each epoch (and by steps and
// minutes), and at the end the model file and one evaluation of the test split. Everything random comes from (seed,
// epoch, step), so a run resumed from any checkpoint does the same steps as one never stopped and ends with the same
// bytes.
#pragma once

#include <filesystem>
#include <functional>

#include "core/listener.h"
#include "evaluate/simple_baselines.h"
#include "train/config.h"

namespace lano {

struct TrainResult {
  std::int64_t parameters = 0, epochs = 0, best_epoch = 0;
  double validation_l2 = 0;  // of the chosen weights; NaN without a validation split
  double test_l2 = 0;        // NaN without a test split
  double seconds = 0;        // of training
  std::vector<BaselineError> validation_baselines = {}, test_baselines = {};  // on request
  bool finished = true;  // false where it was stopped earlier: no test error then
};

struct TrainOptions {
  bool resume =
      false;  // resume from the folder's newest complete checkpoint, if there is one; its config must be the same
  std::int64_t stop_after = 0;  // epochs in all after which to stop, to be resumed; 0: train to the end
  bool test = true;             // evaluate the chosen weights on the test split at the end
  bool shown = true;            // best, median and worst test samples are kept for the report (evaluation.h5)
  bool baselines = false;       // errors of simple baselines on the same splits are reported and kept
  std::function<void(std::int64_t step)> after_step = {};  // called after each step, before its checkpoint
  std::vector<std::string> preface = {};                   // reported before the first step, once everything is checked
  Listener* listener = &quiet();
};

// Stops with a checkpoint after the step in which core/interrupt.h says so.
TrainResult train(const TrainConfig& config, const std::filesystem::path& run_folder, const TrainOptions& options = {});

}  // namespace lano
