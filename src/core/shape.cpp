#include "core/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"

namespace lano {

std::string_view geometry_name(Geometry geometry) {
  switch (geometry) {
    case Geometry::grid:
      return "grid";
    case Geometry::mesh:
      return "mesh";
    case Geometry::points:
      return "points";
  }
  return "?";
}

Geometry parse_geometry(std::string_view name, std::string_view doing) {
  for (const Geometry geometry : {Geometry::grid, Geometry::mesh, Geometry::points}) {
    if (geometry_name(geometry) == name) return geometry;
  }
  fail(doing, "geometry grid, mesh or points", fmt::format("'{}'", name));
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace lano
