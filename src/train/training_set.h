// The dataset that a recipe is trained on.
#pragma once

#include "data/dataset.h"
#include "train/config.h"

namespace lano {

// The arrays of the config where it has some, else its file; initial frames as the task wants them, times as data.times
// says.
DatasetReader open_training_set(const TrainConfig& config, Task task);
DatasetReader open_with_frames(const TrainConfig& config, Task task);  // whatever data.times says
inline DatasetReader open_training_set(const TrainConfig& config) {
  return open_training_set(config, config.lano.task);
}

}  // namespace lano
