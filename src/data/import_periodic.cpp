#include "data/import_periodic.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"

namespace lano {

void mark_periodic(const ArrayImport& options, std::span<const float> coordinates, SetDescription& d) {
  if (options.periodic.empty()) return;
  constexpr const char* kDoing = "importing periodic axes";
  if (d.geometry == Geometry::points)
    fail_usage(kDoing, "a grid or a mesh, which has axes", "a cloud", "leave --periodic out");
  d.periodic.assign(d.shape.size(), false);
  for (const std::string& word : options.periodic) {
    std::size_t axis = 0;
    while (axis < d.shape.size() && word != std::to_string(axis) &&
           !(d.geometry == Geometry::grid && word == d.coordinates[axis].name))
      ++axis;
    if (axis == d.shape.size())
      fail_usage(kDoing, fmt::format("axes from 0 to {}, or on a grid the names of coordinates", d.shape.size() - 1),
                 fmt::format("'{}'", word));
    d.periodic[axis] = true;
  }
  if (d.geometry != Geometry::grid) return;
  std::vector<double> spacing;
  const bool nodes = coordinates.empty() && options.grid_points == GridPoints::nodes;
  const bool placed = !options.box.empty() && uniform_grid_spacing(d.shape, coordinates, &spacing);
  for (std::size_t a = 0; a < d.shape.size(); ++a) {
    if (!d.periodic[a]) continue;
    const double extent = d.box[2 * a + 1] - d.box[2 * a];
    if (nodes || (placed && std::abs(extent / spacing[a] - static_cast<double>(d.shape[a])) > 0.1)) {
      fail_usage(kDoing,
                 fmt::format("{} points on one period of axis {}, without the first of the next", d.shape[a], a),
                 "points at both ends of the box",
                 nodes ? "use --grid-points left or centres" : "give the whole period as --box");
    }
  }
}

}  // namespace lano
