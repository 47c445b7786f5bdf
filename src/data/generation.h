// Generation of a data set on every core: samples are independent jobs, written as they finish, in any order.
// Sample i may depend on nothing but its index, so the file's arrays do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "core/set_description.h"
#include "data/dataset.h"

namespace lano {

// Fills input [N, da] and output [N, du] (with time [T, N, du]) of sample i. Called from several threads at once.
using SampleMaker = std::function<void(std::int64_t sample, std::span<float> input, std::span<float> output)>;

void generate_dataset(const std::filesystem::path& path, const SetDescription& description,
                      const std::vector<Split>& splits, std::span<const float> shared_coordinates,
                      const SampleMaker& make);

}  // namespace lano
