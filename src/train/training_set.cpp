#include "train/training_set.h"

#include "evaluate/set_fit.h"

namespace lano {

DatasetReader open_with_frames(const TrainConfig& config, Task task) {
  return config.arrays ? open_dataset(config.arrays, task) : open_dataset(config.data, task);
}

DatasetReader open_training_set(const TrainConfig& config, Task task) {
  DatasetReader reader = open_with_frames(config, task);
  if (config.times == Times::channels) reader.show_times_as_channels();
  return reader;
}

}  // namespace lano
