// Training of one model on one dataset: shuffled batches, loss, AdamW, validation and a checkpoint each epoch, and at the
// end the model file and one look at the test split. Everything random comes from (seed, epoch), so a run resumed from
// its checkpoint does the same steps as one never stopped.
#pragma once

#include <filesystem>

#include "train/config.h"

namespace lano {

struct TrainResult {
  std::int64_t parameters = 0, epochs = 0, best_epoch = 0;
  double validation_l2 = 0;   // of the chosen weights; NaN without a validation split
  double test_l2 = 0;         // NaN without a test split
  double seconds = 0;         // of training
  bool finished = true;       // false where it was asked to stop earlier: no test error then
};

struct TrainOptions {
  bool resume = false;              // go on from the folder's checkpoint, if there is one; its config must be the same
  std::int64_t stop_after = 0;      // stop after so many epochs in all, to be resumed; 0: train to the end
  bool test = true;                 // read the test split at the end
};

TrainResult train(const TrainConfig& config, const std::filesystem::path& run_folder, const TrainOptions& options = {});

}  // namespace lano
