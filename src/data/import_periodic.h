// Which axes of an imported grid or mesh are periodic: `lano import --periodic`. Private to src/data.
#pragma once

#include <span>

#include "core/set_description.h"
#include "data/array_import.h"

namespace lano {

// One flag per axis of the points, by options.periodic. coordinates [N, dims] shared by all samples; empty where a grid
// fills its box, or each sample has its own. Fails where a point would be at both ends of a period, one place twice.
void mark_periodic(const ArrayImport& options, std::span<const float> coordinates, SetDescription& d);

}  // namespace lano
