// The cells a mesh may be made of, for pictures and VTK files: their names in dataset files and their corners, which
// are numbered as VTK has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lano {

enum class CellKind { line, triangle, quadrilateral, tetrahedron, hexahedron };

std::string_view cell_kind_name(CellKind kind);
std::int64_t cell_corners(CellKind kind);
std::optional<CellKind> parse_cell_kind(std::string_view name);

// The kind of cells with that many corners and dimensions: four are a quadrilateral in the plane and a tetrahedron in
// space.
std::optional<CellKind> cell_kind_of(std::int64_t corners, std::int64_t dims);

}  // namespace lano
