#include "train/training_set.h"

#include "evaluate/set_fit.h"

namespace lano {

DatasetReader open_training_set(const TrainConfig& config, Task task) {
  return config.arrays ? open_dataset(config.arrays, task) : open_dataset(config.data, task);
}

}  // namespace lano
