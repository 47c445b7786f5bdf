// What the blocks need to know of the points of one sample: which points each agent pools, how the bias vectors reach
// the points, and which neighbours the stencil reads with which weight. All are products over axes, and for a line of
// points (the order of a cloud) they are computed when read, so prediction keeps no table as long as the points.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/agent_places.h"
#include "kernels/tap_table.h"
#include "model_spec/lano_layout.h"

namespace lano::kernels {

// Along one axis, target i reads `other` with `weight`, at tap `tap` (stencil) or bin (pooling): entries first[i] ..
// first[i+1]-1.
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

// Along one axis: value i is (1 - share) vector[low] + share vector[high]; index i lies at first + i step of the
// vector.
struct AxisInterpolation {
  struct Between {
    std::int64_t low = 0, high = 0;
    float share = 0;
  };
  std::int64_t count = 1;   // indices of the axis
  std::int64_t extent = 1;  // of the vector
  double first = 0, step = 1;
  bool periodic = false;
  Between at(double i) const;  // any i: indices between two, and beyond the ends, where the vector is constant or wraps
};

// The three taps of the stencil along one axis: at -reach, 0, +reach of a point, shared linearly by the two
// points around it.
struct StencilAxis {
  struct Entries {
    std::array<AxisTable::Entry, 6> entries;
    std::size_t count = 0;
    std::span<const AxisTable::Entry> all() const& { return {entries.data(), count}; }
    std::span<const AxisTable::Entry> all() const&& = delete;  // would outlive its entries
  };
  AxisLayout layout;
  std::int64_t points = 1;
  bool whole = true;           // all axes reach whole points, nothing is shared
  Entries at(double i) const;  // of a point at index i, which may lie between two
};

// Points begin .. end - 1; on a periodic axis the end may lie beyond the last point, where the first ones follow.
struct PatchRange {
  std::int64_t begin = 0, end = 0;
};

struct Geometry {
  std::int64_t points = 0, agents = 0, trained_agents = 0;
  Shape pool_shape;                              // points of each axis of the pooling: the mesh, or {points}
  std::vector<std::vector<PatchRange>> patches;  // of each axis: the points each patch averages
  std::vector<AxisTable> patches_of;  // of each axis: for a point its patches, with 1 / their sizes; training only
  std::vector<AxisInterpolation> at_points;  // from the trained patches to the points, each axis of pool_shape
  std::vector<AxisInterpolation> at_agents;  // from the trained patches to those used; empty where they are the same
  AgentPlaces places;                        // with model.exchange
  std::vector<std::vector<float>> cells;     // of each axis: log2 of what its points stand for; empty: all are one
  Shape stencil_shape;                       // points of each axis of the stencil; empty without stencil
  std::vector<StencilAxis> stencil;          // of each axis: for an output point the points read
  std::vector<AxisTable> taps;               // the same as tables, where there are several axes
  std::int64_t most_taps = 1;                // entries of a point at most
  TapTable table, table_back;                // the same written out, if that is worth its memory; back: training only
};

// used: the patches requested at run time; axes: of the mesh, or of the order of this cloud; training: with the tables
// of the backward pass; tables: of the stencil, where they are worth it.
Geometry make_geometry(const LanoConfig& config, const std::vector<std::int64_t>& trained,
                       const std::vector<std::int64_t>& used, std::int64_t points, const Shape& mesh,
                       const std::vector<AxisLayout>& axes, bool training = true, bool tables = true);

constexpr std::int64_t kWorthATable = 1 << 17;  // points: beyond them prediction computes what a stencil reads

// see(row, tap, weight) for what the stencil of a mesh or an order reads at a point; taps in row-major order.
template <class See>
void for_stencil(const Geometry& g, std::int64_t point, See&& see) {
  const Shape& shape = g.stencil_shape;
  if (shape.size() == 1) {
    const auto taps = g.stencil[0].at(static_cast<double>(point));
    for (const auto& x : taps.all()) see(x.other, x.tap, x.weight);
  } else if (shape.size() == 2) {
    const std::int64_t i = point / shape[1], j = point - i * shape[1];
    const auto inner = g.taps[1].of(j);
    for (const auto& x : g.taps[0].of(i)) {
      for (const auto& y : inner) see(x.other * shape[1] + y.other, x.tap * 3 + y.tap, x.weight * y.weight);
    }
  } else if (shape.size() == 3) {
    const std::int64_t i = point / (shape[1] * shape[2]), j = point / shape[2] % shape[1], k = point % shape[2];
    for (const auto& x : g.taps[0].of(i)) {
      for (const auto& y : g.taps[1].of(j)) {
        for (const auto& z : g.taps[2].of(k)) {
          see((x.other * shape[1] + y.other) * shape[2] + z.other, (x.tap * 3 + y.tap) * 3 + z.tap,
              x.weight * y.weight * z.weight);
        }
      }
    }
  }
}

// log2 of what a point stands for when agents gather from all points; only where cells are not empty.
float log_cell(const Geometry& g, std::int64_t point);

// vector [product of extents] read multilinearly at the indices first .. first + count - 1 of the axes' product; `row`
// is room for the extent of the last axis.
void interpolate(std::span<const AxisInterpolation> axes, const float* vector, std::int64_t first, std::int64_t count,
                 float* row, float* out);
// One value, at an index of each axis that may lie between two.
float interpolate_at(std::span<const AxisInterpolation> axes, const float* vector, std::span<const double> index);
// The transpose: gradient grows by slopes[i] times the weights of index first + i.
void interpolate_back(std::span<const AxisInterpolation> axes, const float* slopes, std::int64_t first,
                      std::int64_t count, float* row, float* gradient);

}  // namespace lano::kernels
