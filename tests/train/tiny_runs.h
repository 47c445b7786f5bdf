// A LANO of two narrow blocks for the tiny Darcy dataset: trainings of a fraction of a second.
#pragma once

#include <filesystem>

#include "tiny_darcy.h"
#include "train/config.h"

namespace lano::test {

inline TrainConfig tiny(const std::filesystem::path& data) {
  TrainConfig c;
  c.data = data.string();
  c.lano.layers = 2;
  c.lano.heads = 2;
  c.lano.width = 16;
  c.lano.agents = 9;
  c.epochs = 4;
  c.batch = 2;
  c.clip = 1;
  c.loss.gradient_weight = 0.1;
  c.schedule.learning_rate = 3e-3;
  return c;
}

}  // namespace lano::test
