// VTK XML files that ParaView opens: structured grids (.vts) for grids and meshes, unstructured ones (.vtu) for any
// geometry, with one named array per field, and collections of them in time (.pvd). Binary data, appended as raw blocks
// without base64, little endian.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cell_kind.h"
#include "core/set_description.h"

namespace lano {

struct VtkField {
  std::string name;
  std::span<const float> values;  // [N]
};

struct VtkCells {
  CellKind kind = CellKind::triangle;
  std::span<const std::int64_t> corners;  // [cells, corners], indices of points from 0
};

// The suffix of `path` chooses the kind: .vts or .vtu. coordinates: [N, dx]. A .vtu has the given cells; without them
// those of a structured mesh, or a vertex per point of a cloud.
void write_vtk(const std::filesystem::path& path, const SetDescription& set, std::span<const float> coordinates,
               const std::vector<VtkField>& fields, const std::optional<VtkCells>& cells = std::nullopt);

struct VtkFrame {
  double time = 0;
  std::string file;  // next to the collection
};

// A series in time (.pvd).
void write_vtk_series(const std::filesystem::path& path, const std::vector<VtkFrame>& frames);

}  // namespace lano
