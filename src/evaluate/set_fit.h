// A dataset as a model takes it, and whether a model trained on another dataset can take it.
#pragma once

#include <filesystem>
#include <string_view>

#include "data/dataset.h"
#include "model_spec/lano_config.h"

namespace lano {

// Models that step in time see a dataset's initial frames as states, all others as input fields.
DatasetReader open_dataset(const std::filesystem::path& path, Task task);
DatasetReader open_dataset(const std::shared_ptr<const MemoryDataset>& arrays, Task task);

// Fails with the differing shapes where it cannot: geometry, channels, and whether it has several times.
void check_fits(const SetDescription& trained_on, const SetDescription& given, std::string_view doing);

}  // namespace lano
