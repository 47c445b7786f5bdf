// The recipe of `lano train --data X [--minutes T]` without a config: looks at the dataset, takes the kind of model
// that did best on data of its kind (docs/accuracy.md), times a few steps, and chooses size and epochs so that the
// training ends in time. Nothing here knows a benchmark by name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/set_description.h"
#include "train/config.h"

namespace lano {

inline constexpr double kOwnMinutes = 10;  // by default, so that no one starts hours of work by accident

// What the choice depends on, read from the dataset.
struct DataFacts {
  SetDescription set;
  std::int64_t training = 0, validation = 0;  // samples
  bool deformed = false;                      // a mesh, or a grid, of each sample's own
  // Where data.times = "channels" the set has its times as channels, and output_scale is that of a field over all
  // times.
  bool initial = false;              // first frames are given as states
  bool uniform = false;              // a grid of equal steps, the same for all samples
  std::vector<double> output_scale;  // deviation of each output channel over the training split
  double change = 0;  // datasets in time: root mean square change from frame to frame, relative to output_scale
  // Meshes: the least of the output channels' deviations from their mean field, relative to output_scale; else 1.
  double difference = 1;
};
// task: what the user says of it, if anything.
// Of the config's dataset, file or arrays.
DataFacts data_facts(const TrainConfig& data, std::optional<Task> task = std::nullopt);
DataFacts data_facts(const std::string& file, std::optional<Task> task = std::nullopt);

// Sizes from small to large; a larger one pays off if every sample can be seen often enough.
struct Size {
  std::int64_t layers, width, heads, agents;
};
const std::vector<Size>& own_sizes();

// All switches but the epochs, for one size. Fails if the dataset cannot be learned from.
TrainConfig recipe_of_size(const DataFacts& facts, const Size& size, std::optional<Task> task = {});

// Operations of one step per sample, forward and backward: what a step costs, up to the machine's speed.
double step_operations(const DataFacts& facts, const TrainConfig& config);

struct OwnRecipe {
  TrainConfig config;
  std::vector<std::string> because;  // three lines for the user
};

// overrides: --set, applied to the choice before it is timed. `scratch`: a folder for the timed steps, removed again.
// said: its dataset, file or arrays, and train.from: a model file to begin with, whose model is taken as it is.
OwnRecipe own_recipe(const TrainConfig& said, const std::vector<std::string>& overrides, double minutes,
                     const std::filesystem::path& scratch);
OwnRecipe own_recipe(const std::string& file, const std::vector<std::string>& overrides, double minutes,
                     const std::filesystem::path& scratch, const std::string& from = "");

}  // namespace lano
