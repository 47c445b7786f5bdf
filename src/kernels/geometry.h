// What the blocks need to know of the points of one sample: which points each agent pools, how the bias vectors reach the
// points, and which neighbours the stencil reads with which weight. All are products over axes, so the tables stay small.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/lano_layout.h"

namespace lano::kernels {

// Along one axis, target i reads `other` with `weight`, at tap `tap` (stencil) or bin (pooling): entries first[i] .. first[i+1]-1.
struct AxisTable {
  struct Entry {
    std::int32_t other = 0, tap = 0;
    float weight = 0;
  };
  std::vector<std::int32_t> first{0};
  std::vector<Entry> entries;
  std::span<const Entry> of(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return {entries.data() + first[at], static_cast<std::size_t>(first[at + 1] - first[at])};
  }
};

// Along one axis: value i is (1 - share) vector[low] + share vector[high].
struct AxisInterpolation {
  struct Between {
    std::int32_t low = 0, high = 0;
    float share = 0;
  };
  std::vector<Between> at;
  std::int64_t extent = 1;  // of the vector
};

struct PatchRange {
  std::int64_t begin = 0, end = 0;
};

struct Geometry {
  std::int64_t points = 0, agents = 0, trained_agents = 0;
  Shape pool_shape;                                // points of each axis of the pooling: the mesh, or {points}
  std::vector<std::vector<PatchRange>> patches;    // of each axis: the points each patch averages
  std::vector<AxisTable> patches_of;               // of each axis: for a point its patches, with 1 / their sizes
  std::vector<AxisInterpolation> at_points;        // from the trained patches to the points, each axis of pool_shape
  std::vector<AxisInterpolation> at_agents;        // from the trained patches to those used; empty where they are the same
  Shape stencil_shape;                             // points of each axis of the stencil; empty without stencil
  std::vector<AxisTable> taps;                     // for an output point: the points read
  std::vector<AxisTable> taps_back;                // for a point read: the output points, same tap and weight
  std::int64_t most_taps = 1;                      // entries of a point at most, in either direction
};

// used: the patches asked for at run time; axes: of the mesh, or of the order of this cloud.
Geometry make_geometry(const LanoConfig& config, const std::vector<std::int64_t>& trained, const std::vector<std::int64_t>& used,
                       std::int64_t points, const Shape& mesh, const std::vector<AxisLayout>& axes);

// vector [product of extents] read multilinearly at the indices first .. first + count - 1 of the axes' product; `row` is
// room for the extent of the last axis.
void interpolate(std::span<const AxisInterpolation> axes, const float* vector, std::int64_t first, std::int64_t count, float* row, float* out);
// The transpose: gradient grows by slopes[i] times the weights of index first + i.
void interpolate_back(std::span<const AxisInterpolation> axes, const float* slopes, std::int64_t first, std::int64_t count, float* row,
                      float* gradient);

}  // namespace lano::kernels
