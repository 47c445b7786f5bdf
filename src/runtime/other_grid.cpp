#include "runtime/other_grid.h"

#include <algorithm>

namespace lano {

GridPlace other_grid(const LanoShape& shape, const std::vector<double>& box, const Shape& mesh) {
  GridPlace place{mesh, shape.spacing, shape.origin};
  std::vector<double> before(mesh.size()), behind(mesh.size());  // margins, in steps
  bool known = box.size() == 2 * mesh.size();
  for (std::size_t a = 0; known && a < mesh.size(); ++a) {
    before[a] = (shape.origin[a] - box[2 * a]) / shape.spacing[a];
    behind[a] = (box[2 * a + 1] - shape.origin[a]) / shape.spacing[a] - static_cast<double>(shape.mesh[a] - 1);
    known = std::min(before[a], behind[a]) > -1e-3 && std::max(before[a], behind[a]) < 1 + 1e-3;
  }
  for (std::size_t a = 0; a < mesh.size(); ++a) {
    const bool round = !shape.periodic.empty() && shape.periodic[a];
    const double low = known ? before[a] : 0, margins = round ? 1 : low + (known ? behind[a] : 0);
    const double steps = static_cast<double>(shape.mesh[a] - 1) + margins,
                 wanted = static_cast<double>(mesh[a] - 1) + margins;
    if (steps > 0 && wanted > 0) place.spacing[a] = shape.spacing[a] * steps / wanted;
    place.origin[a] = shape.origin[a] + low * (place.spacing[a] - shape.spacing[a]);
  }
  return place;
}

std::vector<float> coordinates_of(const GridPlace& place) {
  const std::size_t axes = place.mesh.size();
  std::vector<float> coordinates;
  coordinates.reserve(static_cast<std::size_t>(element_count(place.mesh)) * axes);
  Shape at(axes, 0);
  for (std::int64_t n = element_count(place.mesh); n > 0; --n) {
    for (std::size_t a = 0; a < axes; ++a)
      coordinates.push_back(static_cast<float>(place.origin[a] + place.spacing[a] * static_cast<double>(at[a])));
    for (std::size_t a = axes; a-- > 0;) {
      if (++at[a] < place.mesh[a]) break;
      at[a] = 0;
    }
  }
  return coordinates;
}

}  // namespace lano
