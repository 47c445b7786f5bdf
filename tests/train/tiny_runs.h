// A Darcy set of 11x11 points and a LANO of two narrow blocks: trainings of a fraction of a second.
#pragma once

#include <filesystem>

#include "data/dataset.h"
#include "data/generation.h"
#include "pde/darcy_problem.h"
#include "scratch.h"
#include "train/config.h"

namespace lano::test {

inline std::filesystem::path darcy(const Scratch& scratch, std::int64_t train, std::int64_t test,
                                   double validation = 0.25) {
  const auto path = scratch / "darcy.h5";
  DarcyConfig config;
  config.resolution = 11;
  config.stride = 1;
  const DarcyProblem problem(config);
  generate_dataset(path, problem.describe(), make_splits(train, test, validation), problem.coordinates(),
                   [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) { return problem.make(i, attempt, to); });
  return path;
}

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
