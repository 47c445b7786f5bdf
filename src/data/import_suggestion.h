// The `lano import` command that a file's arrays suggest, by their names and shapes: a starting point for the user, who
// knows what they mean.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/array_source.h"

namespace lano {

// Empty where nothing looks like a field. `beside`: other files of the same folder, one of which may hold the test
// samples.
std::string suggest_import(const std::filesystem::path& file, const std::vector<ArrayInfo>& arrays,
                           const std::vector<std::filesystem::path>& beside = {});

}  // namespace lano
