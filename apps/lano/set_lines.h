// What a dataset or the data of a model is, in a few lines: for `lano info` and the end of `lano import`.
#pragma once

#include <string>

#include "core/set_description.h"
#include "data/dataset.h"

namespace lano::cli {

// "u [m/s], p"; "none" where there are none.
std::string field_names(const std::vector<FieldInfo>& fields);

// Geometry, coordinates, fields, frames and where they come from.
void print_set_lines(const SetDescription& set);
// The same with what the file alone knows: sizes of clouds, shared points, cells.
void print_set_lines(const DatasetReader& reader);

// JSON as readable lines "  label  key value, key value", wrapped; nested objects on lines of their own.
void print_json_lines(const std::string& label, const std::string& json_text);

}  // namespace lano::cli
