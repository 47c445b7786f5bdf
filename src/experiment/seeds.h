// The same training with several seeds, for a mean and a deviation instead of one lucky number. Runs go into
// folder/seed-<seed>, one after the other; folder/recipe.toml holds the recipe and folder/seeds.json the plan and the
// results so far, so that a killed group resumes where it was. No seed is selected: all count.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/listener.h"
#include "run/seed_group.h"
#include "train/config.h"

namespace lano {

// The deviation is that of a sample, with n - 1.
MeanAndDeviation mean_and_deviation(std::span<const double> values);

// Trains seeds config.seed .. config.seed + count - 1. Without `resume` the folder must hold no run and no group; with
// it a group there must be of the same recipe and count.
SeedResults run_seeds(const TrainConfig& config, std::int64_t count, const std::filesystem::path& folder, bool resume,
                      Listener& listener = quiet());

// For the reader: a line per seed, mean and deviation, how they were picked.
std::string seeds_text(const SeedResults& group);

}  // namespace lano
