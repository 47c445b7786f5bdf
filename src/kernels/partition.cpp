#include "kernels/partition.h"

#include <algorithm>

namespace lano::kernels {
namespace {

constexpr std::int64_t kUnits = 64;    // of a sample: enough for many cores
constexpr std::int64_t kLarge = 4096;  // points of a unit beyond which more units of a sample gain nothing on few cores
constexpr std::int64_t kLargest = 1 << 15;  // points of a unit: beyond 64 such, samples have more units, for many ranks

std::int64_t parts_of(std::int64_t points, std::int64_t smallest) {
  const std::int64_t wanted =
      std::max({smallest, std::min((points + kUnits - 1) / kUnits, kLargest), std::min(points / 16, kLarge)});
  const std::int64_t parts = std::max<std::int64_t>(1, (points + wanted / 2) / wanted);
  return parts < 3 ? parts : (parts + 3) / 4 * 4;  // two and four threads get the same share
}

}  // namespace

Partition divide(const std::vector<std::int64_t>& points, std::int64_t smallest, std::int64_t most_groups) {
  Partition p;
  for (std::size_t s = 0; s < points.size(); ++s) {
    const auto first_unit = static_cast<std::int64_t>(p.units.size());
    p.first_unit.push_back(first_unit);
    p.first_group.push_back(static_cast<std::int64_t>(p.groups.size()));
    const std::int64_t parts = parts_of(points[s], smallest);
    for (std::int64_t i = 0; i < parts; ++i) {
      Unit unit{static_cast<std::int64_t>(s), points[s] * i / parts, 0, 0};
      unit.count = points[s] * (i + 1) / parts - unit.first;
      const std::int64_t tiles = std::max<std::int64_t>(1, (unit.count + kTile - 1) / kTile);
      unit.tile = std::min(kTile, ((unit.count + tiles - 1) / tiles + 11) / 12 * 12);
      p.units.push_back(unit);
    }
    // In large samples the sums of a group take little memory compared with what its points keep.
    const std::int64_t groups = std::min(parts, std::max(most_groups, points[s] / kLargest));
    for (std::int64_t g = 0; g < groups; ++g)
      p.groups.push_back({first_unit + parts * g / groups, first_unit + parts * (g + 1) / groups});
  }
  p.first_unit.push_back(static_cast<std::int64_t>(p.units.size()));
  p.first_group.push_back(static_cast<std::int64_t>(p.groups.size()));
  return p;
}

}  // namespace lano::kernels
