// Interpolation along one axis between the points of two meshes of the same extent: the known one, on which a field was
// fitted, and another. On several axes it is the product of those of the axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/shape.h"

namespace lano {

// A value at one place is the sum of weight[k] v[at[k]] over `count` points.
struct AxisRow {
  static constexpr std::size_t kMost = 6;
  std::size_t count = 1;
  std::array<std::size_t, kMost> at{};
  std::array<double, kMost> weight{1};
};

// Where a mesh of `points` points lies on an axis of `known` ones: with the same ends, or where it reaches `stretch`
// times as far (core/set_description.h) with those. An axis that is periodic has no end: its points share the period of
// the known ones, and between the last and the first lies a step.
struct MeshAxis {
  std::size_t known = 1, points = 1;
  bool periodic = false;
  double stretch = 1;

  double step() const;  // from point to point, in steps of the known ones
  // From the known points to each of the others: the polynomial through the `through` nearest (2: linear). Beyond an
  // end the last step goes on; wraps: of a periodic field, which begins again, always linear.
  std::vector<AxisRow> to_points(std::size_t through, bool wraps) const;
  // Back, from the points of the mesh to each of the known ones; a field that goes on beyond an end.
  std::vector<AxisRow> to_known(std::size_t through) const;
};

// periodic: no flags, none is. stretch: empty, the same ends.
std::vector<MeshAxis> mesh_axes(const Shape& known, const Shape& mesh, const std::vector<bool>& periodic,
                                const std::vector<double>& stretch);

// One row per axis: the points of a field with these extents that it reads, with weights other than 0.
template <class Visit>  // visit(point, weight)
void visit_points(const std::vector<const AxisRow*>& rows, const std::vector<std::size_t>& extents, Visit&& visit) {
  std::size_t all = 1;
  for (const AxisRow* row : rows) all *= row->count;
  for (std::size_t corner = 0; corner < all; ++corner) {
    double weight = 1;
    std::size_t point = 0, rest = corner;
    for (std::size_t a = 0; a < rows.size(); ++a) {
      const std::size_t k = rest % rows[a]->count;
      rest /= rows[a]->count;
      weight *= rows[a]->weight[k];
      point = point * extents[a] + rows[a]->at[k];
    }
    if (weight != 0) visit(point, weight);
  }
}

}  // namespace lano
