#include "normalise/mesh_axis.h"

#include <algorithm>

namespace lano {
namespace {

// v[low], v[high] and beyond: at `place` on the line through both.
AxisRow line_row(double place, std::size_t low, std::size_t high) {
  const double share = place - static_cast<double>(low);
  return {2, {low, high}, {1 - share, share}};
}

// Lagrange's weights at `place`: product over the other points k of (place - k)/(own - k).
AxisRow polynomial_row(double place, std::size_t count, std::size_t through) {
  AxisRow row;
  row.count = std::min({through, count, AxisRow::kMost});
  const auto below = static_cast<std::size_t>(place), before = row.count / 2 - 1;
  const std::size_t first = std::min(below - std::min(below, before), count - row.count);
  for (std::size_t k = 0; k < row.count; ++k) {
    row.at[k] = first + k;
    row.weight[k] = 1;
    for (std::size_t other = 0; other < row.count; ++other) {
      if (other == k) continue;
      row.weight[k] *=
          (place - static_cast<double>(first + other)) / (static_cast<double>(k) - static_cast<double>(other));
    }
  }
  return row;
}

// At `place` among `count` points.
AxisRow row_at(double place, std::size_t count, std::size_t through, bool wraps) {
  if (count == 1) return {};
  const auto low = static_cast<std::size_t>(std::max(place, 0.0));
  if (wraps) return line_row(place, low, low + 1 < count ? low + 1 : 0);
  if (through > 2 && place >= 0 && place <= static_cast<double>(count - 1))
    return polynomial_row(place, count, through);
  const std::size_t last = std::min(low, count - 2);
  return line_row(place, last, last + 1);
}

}  // namespace

double MeshAxis::step() const {
  const std::size_t steps = periodic ? points : points - 1, known_steps = periodic ? known : known - 1;
  if (steps == 0) return 0;
  return static_cast<double>(known_steps) / static_cast<double>(steps) * (periodic ? 1 : stretch);
}

std::vector<AxisRow> MeshAxis::to_points(std::size_t through, bool wraps) const {
  const std::size_t steps = periodic ? points : points - 1, known_steps = periodic ? known : known - 1;
  std::vector<AxisRow> rows(points);
  for (std::size_t i = 0; i < points; ++i) {
    double place =
        steps > 0 ? static_cast<double>(i) * static_cast<double>(known_steps) / static_cast<double>(steps) : 0;
    if (!periodic) place *= stretch;
    rows[i] = row_at(place, known, through, periodic && wraps);
  }
  return rows;
}

std::vector<AxisRow> MeshAxis::to_known(std::size_t through) const {
  return MeshAxis{points, known, periodic, 1 / stretch}.to_points(through, false);
}

std::vector<MeshAxis> mesh_axes(const Shape& known, const Shape& mesh, const std::vector<bool>& periodic,
                                const std::vector<double>& stretch) {
  std::vector<MeshAxis> axes;
  for (std::size_t a = 0; a < mesh.size(); ++a) {
    axes.push_back({static_cast<std::size_t>(known[a]), static_cast<std::size_t>(mesh[a]),
                    !periodic.empty() && periodic[a], stretch.empty() ? 1 : stretch[a]});
  }
  return axes;
}

}  // namespace lano
