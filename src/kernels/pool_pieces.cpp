// Which points of which unit each agent averages: patches are boxes of the mesh, units runs of points; each box is gone
// through line by line, and its lines are cut at the ends of units.
#include <algorithm>
#include <array>

#include "kernels/network_parts.h"

namespace lano::kernels {

PoolPieces pool_pieces(std::span<const Sample> samples, const Partition& partition, std::int64_t agents) {
  using Index = std::int64_t;
  struct Found {
    Index unit, patch;
    PoolPieces::Run run;
  };
  PoolPieces pool;
  pool.first_run.push_back(0);
  pool.first_piece.push_back(0);
  pool.first_of_patch.push_back(0);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Geometry& g = *samples[s].geometry;
    const std::size_t axes = g.pool_shape.size();
    const Index begin = partition.first_unit[s], end = partition.first_unit[s + 1];
    std::vector<Found> found;  // patch by patch, by rising point
    for (Index patch = 0; patch < agents; ++patch) {
      // Along each axis one range of points, or two where it wraps.
      std::array<std::array<PatchRange, 2>, 3> box{};
      std::array<Index, 3> extent{1, 1, 1};
      box.fill({PatchRange{0, 0}, PatchRange{0, 1}});
      Index rest = patch, count = 1;
      for (std::size_t a = axes; a-- > 0;) {  // the last axis becomes box[2]
        const auto patches = static_cast<Index>(g.patches[a].size());
        const PatchRange range = g.patches[a][static_cast<std::size_t>(rest % patches)];
        const Index n = g.pool_shape[a];
        extent[3 - axes + a] = n;
        box[3 - axes + a] = {PatchRange{0, std::max<Index>(0, range.end - n)},
                             PatchRange{range.begin, std::min(range.end, n)}};
        count *= range.end - range.begin;
        rest /= patches;
      }
      pool.share.push_back(1.0f / static_cast<float>(count));
      Index unit = begin;
      const auto add = [&](Index first, Index last) {
        for (; first < last; ++unit) {
          const Unit& at = partition.units[static_cast<std::size_t>(unit)];
          const Index stop = std::min(last, at.first + at.count);
          if (first < stop) found.push_back({unit, patch, {first, stop - first}});
          first = std::max(first, stop);
          if (first >= last) break;
        }
      };
      for (const PatchRange& rows : box[0]) {
        for (Index i = rows.begin; i < rows.end; ++i) {
          for (const PatchRange& columns : box[1]) {
            for (Index j = columns.begin; j < columns.end; ++j) {
              const Index line = (i * extent[1] + j) * extent[2];
              for (const PatchRange& run : box[2]) add(line + run.begin, line + run.end);
            }
          }
        }
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.unit < b.unit; });
    std::vector<std::vector<Index>> of_patch(static_cast<std::size_t>(agents));
    std::size_t next = 0;
    for (Index unit = begin; unit < end; ++unit) {
      while (next < found.size() && found[next].unit == unit) {
        const Index patch = found[next].patch;
        of_patch[static_cast<std::size_t>(patch)].push_back(static_cast<Index>(pool.first_run.size()) - 1);
        for (; next < found.size() && found[next].unit == unit && found[next].patch == patch; ++next)
          pool.runs.push_back(found[next].run);
        pool.first_run.push_back(static_cast<Index>(pool.runs.size()));
        pool.unit_of.push_back(unit);
      }
      pool.first_piece.push_back(static_cast<Index>(pool.first_run.size()) - 1);
    }
    for (const std::vector<Index>& pieces : of_patch) {
      pool.of_patch.insert(pool.of_patch.end(), pieces.begin(), pieces.end());
      pool.first_of_patch.push_back(static_cast<Index>(pool.of_patch.size()));
    }
  }
  return pool;
}

}  // namespace lano::kernels
