// A dataset on a grid or structured mesh kept at every s-th point of each axis: the same samples on a coarser mesh, for
// studies of resolution. The first point of each axis stays, the last where the stride divides the steps; a mesh that
// loses its end records it in its span (core/set_description.h).
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/shape.h"

namespace lano {

Shape thinned_shape(const Shape& shape, std::int64_t stride);

// Writes `to` whole or not at all; splits, fields, times and further fields are kept. Fails on clouds, and where fewer
// than two points of an axis would be left.
void thin_dataset(const std::filesystem::path& from, std::int64_t stride, const std::filesystem::path& to);

}  // namespace lano
