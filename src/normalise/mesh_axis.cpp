#include "normalise/mesh_axis.h"

#include <algorithm>

namespace lano {
namespace {

// `place` among `count` points.
AxisTap tap_at(double place, std::size_t count, bool wraps) {
  AxisTap tap;
  tap.low = static_cast<std::size_t>(std::max(place, 0.0));
  if (!wraps) tap.low = std::min(tap.low, count - std::min<std::size_t>(count, 2));
  tap.share = place - static_cast<double>(tap.low);
  const std::size_t next = tap.low + 1;
  tap.high = next < count ? next : wraps ? 0 : count - 1;
  return tap;
}

}  // namespace

double MeshAxis::step() const {
  const std::size_t steps = periodic ? points : points - 1, known_steps = periodic ? known : known - 1;
  if (steps == 0) return 0;
  return static_cast<double>(known_steps) / static_cast<double>(steps) * (periodic ? 1 : stretch);
}

std::vector<AxisTap> MeshAxis::to_points(bool wraps) const {
  const std::size_t steps = periodic ? points : points - 1, known_steps = periodic ? known : known - 1;
  std::vector<AxisTap> taps(points);
  for (std::size_t i = 0; i < points; ++i) {
    double place =
        steps > 0 ? static_cast<double>(i) * static_cast<double>(known_steps) / static_cast<double>(steps) : 0;
    if (!periodic) place *= stretch;
    taps[i] = tap_at(place, known, periodic && wraps);
  }
  return taps;
}

std::vector<AxisTap> MeshAxis::to_known() const {
  const std::size_t steps = periodic ? points : points - 1, known_steps = periodic ? known : known - 1;
  std::vector<AxisTap> taps(known);
  for (std::size_t k = 0; k < known; ++k) {
    double place =
        known_steps > 0 ? static_cast<double>(k) * static_cast<double>(steps) / static_cast<double>(known_steps) : 0;
    if (!periodic) place /= stretch;
    taps[k] = tap_at(place, points, false);
  }
  return taps;
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
