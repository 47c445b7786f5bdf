// The geometry of a sample: how its N points are arranged. Grids are uniform and axis-aligned, meshes are structured
// with curved coordinates, point clouds have no neighbours. Row-major: the last axis varies fastest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lano {

enum class Geometry { grid, mesh, points };

std::string_view geometry_name(Geometry geometry);
Geometry parse_geometry(std::string_view name, std::string_view doing);

using Shape = std::vector<std::int64_t>;

std::int64_t element_count(const Shape& shape);
std::string shape_text(const Shape& shape);  // "[4, 85, 85]"

}  // namespace lano
