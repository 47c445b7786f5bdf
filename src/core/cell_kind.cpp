#include "core/cell_kind.h"

namespace lano {
namespace {

constexpr CellKind kAll[] = {CellKind::line, CellKind::triangle, CellKind::quadrilateral, CellKind::tetrahedron,
                             CellKind::hexahedron};

}  // namespace

std::string_view cell_kind_name(CellKind kind) {
  constexpr std::string_view kNames[] = {"line", "triangle", "quadrilateral", "tetrahedron", "hexahedron"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t cell_corners(CellKind kind) {
  constexpr std::int64_t kCorners[] = {2, 3, 4, 4, 8};
  return kCorners[static_cast<std::size_t>(kind)];
}

std::optional<CellKind> parse_cell_kind(std::string_view name) {
  for (const CellKind kind : kAll) {
    if (cell_kind_name(kind) == name) return kind;
  }
  return std::nullopt;
}

std::optional<CellKind> cell_kind_of(std::int64_t corners, std::int64_t dims) {
  if (corners == 4) return dims >= 3 ? CellKind::tetrahedron : CellKind::quadrilateral;
  for (const CellKind kind : kAll) {
    if (cell_corners(kind) == corners) return kind;
  }
  return std::nullopt;
}

}  // namespace lano
