// VTK XML files that ParaView opens: structured grids (.vts) for grids and meshes, unstructured ones (.vtu) for any
// geometry, with one named array a field. Binary data, appended as base64-free raw blocks, little endian.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/set_description.h"

namespace lano {

struct VtkField {
  std::string name;
  std::span<const float> values;  // [N]
};

// The suffix of `path` chooses the kind: .vts or .vtu. coordinates: [N, dx].
void write_vtk(const std::filesystem::path& path, const SetDescription& set, std::span<const float> coordinates,
               const std::vector<VtkField>& fields);

}  // namespace lano
