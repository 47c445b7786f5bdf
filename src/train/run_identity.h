// What a run must have in common with a stopped one to resume it and end with the same bytes: the keys of the recipe
// that determine the result, and the data.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "train/config.h"

namespace lano {

// As TOML: all keys but the path of the dataset, how it is read and when states are saved.
std::string deciding_recipe(TrainConfig config);

// Fails where the config in `toml`, which an older version may have written with fewer keys, decides otherwise.
void check_same_recipe(const std::string& toml, const TrainConfig& config);

// The dataset in words, and a fingerprint of its description, its splits and its first and last training sample.
std::string data_identity(const DatasetReader& reader, const std::vector<std::int64_t>& ids);

}  // namespace lano
