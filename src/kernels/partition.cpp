#include "kernels/partition.h"

#include <algorithm>

namespace lano::kernels {
namespace {

constexpr std::int64_t kUnits = 64;  // enough for many cores

}  // namespace

Partition divide(const std::vector<std::int64_t>& points, std::int64_t smallest, std::int64_t most_groups) {
  std::int64_t total = 0;
  for (const std::int64_t n : points) total += n;
  const std::int64_t wanted = std::max(smallest, (total + kUnits - 1) / kUnits);
  Partition p;
  for (std::size_t s = 0; s < points.size(); ++s) {
    p.first_unit.push_back(static_cast<std::int64_t>(p.units.size()));
    std::int64_t parts = std::max<std::int64_t>(1, (points[s] + wanted / 2) / wanted);
    if (parts >= 3) parts = (parts + 3) / 4 * 4;  // two and four threads get the same share
    for (std::int64_t i = 0; i < parts; ++i) {
      Unit unit{static_cast<std::int64_t>(s), points[s] * i / parts, 0, 0};
      unit.count = points[s] * (i + 1) / parts - unit.first;
      const std::int64_t tiles = std::max<std::int64_t>(1, (unit.count + kTile - 1) / kTile);
      unit.tile = std::min(kTile, ((unit.count + tiles - 1) / tiles + 11) / 12 * 12);
      p.units.push_back(unit);
    }
  }
  p.first_unit.push_back(static_cast<std::int64_t>(p.units.size()));
  const auto units = static_cast<std::int64_t>(p.units.size());
  const std::int64_t groups = units <= most_groups + most_groups / 2 ? units : most_groups;
  for (std::int64_t g = 0; g < groups; ++g) p.groups.push_back({units * g / groups, units * (g + 1) / groups});
  return p;
}

}  // namespace lano::kernels
