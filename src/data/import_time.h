// The arguments of --time: which axis of the output is time, and when its frames are. Private to src/data.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/array_import.h"
#include "data/import_words.h"

namespace lano {

struct ImportTime {
  std::size_t axis = 0;       // of the output's array
  std::vector<double> times;  // one per frame, rising
};

// Nothing where --time was not given. `output` is the array the arguments refer to. The shapes of the inputs may tell
// which axis is time: the one the output has and they have not. `archive`: where a bare name is looked up.
std::optional<ImportTime> import_time(const ArrayImport& options, const NamedArray& output,
                                      const std::vector<Shape>& input_shapes, const std::filesystem::path& archive);

}  // namespace lano
