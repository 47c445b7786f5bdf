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
};

// resume: go on from the folder's checkpoint, if there is one; its config must be the same.
TrainResult train(const TrainConfig& config, const std::filesystem::path& run_folder, bool resume);

}  // namespace lano
