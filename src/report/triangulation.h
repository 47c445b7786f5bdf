// Triangles for pictures: the Delaunay triangulation of points in the plane without those that bridge a hole or a bay
// of the cloud, and the cells of a mesh cut into triangles. Indices of points, three per triangle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cell_kind.h"

namespace lano {

using Triangles = std::vector<std::int64_t>;  // [triangles, 3]

// points [N, 2]. Points that fall on one another are one; nothing where all lie on a line.
Triangles delaunay(std::span<const double> points);

// Without triangles whose longest edge is far above the spacing of the points around their corners.
Triangles without_bridges(const Triangles& triangles, std::span<const double> points);

// Cells [cells, corners] as triangles: the faces of those that have a volume, none of lines.
Triangles triangles_of_cells(CellKind kind, std::span<const std::int64_t> cells);

}  // namespace lano
