// Linear interpolation along one axis between the points of two meshes of the same extent: the known one, on which a
// field was fitted, and another. On several axes it is the product of those of the axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/shape.h"

namespace lano {

// A value at one place: (1 - share) v[low] + share v[high]. Beyond an end `share` leaves 0..1: the last step goes on.
struct AxisTap {
  std::size_t low = 0, high = 0;
  double share = 0;
};

// Where a mesh of `points` points lies on an axis of `known` ones: with the same ends, or where it reaches `stretch`
// times as far (core/set_description.h) with those. An axis that is periodic has no end: its points share the period of
// the known ones, and between the last and the first lies a step.
struct MeshAxis {
  std::size_t known = 1, points = 1;
  bool periodic = false;
  double stretch = 1;

  double step() const;  // from point to point, in steps of the known ones
  // From the known points to each of the others. wraps: of a periodic field; otherwise it continues by its last step,
  // as coordinates do.
  std::vector<AxisTap> to_points(bool wraps) const;
  // Back, from the points of the mesh to each of the known ones; a field that continues.
  std::vector<AxisTap> to_known() const;
};

// periodic: no flags, none is. stretch: empty, the same ends.
std::vector<MeshAxis> mesh_axes(const Shape& known, const Shape& mesh, const std::vector<bool>& periodic,
                                const std::vector<double>& stretch);

// The taps of one place, axis by axis, give 2^axes points and weights: each of them with a weight other than 0.
template <class Visit>  // visit(point, weight)
void visit_corners(const std::vector<const AxisTap*>& taps, const std::vector<std::size_t>& extents, Visit&& visit) {
  for (std::size_t corner = 0; corner < (std::size_t{1} << taps.size()); ++corner) {
    double weight = 1;
    std::size_t at = 0;
    for (std::size_t a = 0; a < taps.size(); ++a) {
      const bool upper = (corner >> a & 1) != 0;
      weight *= upper ? taps[a]->share : 1 - taps[a]->share;
      at = at * extents[a] + (upper ? taps[a]->high : taps[a]->low);
    }
    if (weight != 0) visit(at, weight);
  }
}

}  // namespace lano
