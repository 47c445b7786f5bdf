// A Darcy dataset, of 11x11 points by default.
#pragma once

#include <filesystem>

#include "data/dataset.h"
#include "data/generation.h"
#include "pde/darcy_problem.h"
#include "scratch.h"

namespace lano::test {

inline std::filesystem::path darcy(const Scratch& scratch, std::int64_t train, std::int64_t test,
                                   double validation = 0.25, std::int64_t resolution = 11,
                                   const char* name = "darcy.h5") {
  const auto path = scratch / name;
  DarcyConfig config;
  config.resolution = resolution;
  config.stride = 1;
  const DarcyProblem problem(config);
  generate_dataset(
      path, problem.describe(), make_splits(train, test, validation), problem.coordinates(),
      [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) { return problem.make(i, attempt, to); });
  return path;
}

}  // namespace lano::test
