// New points against what the agents of other points hold: a point goes through all blocks by itself, as a tile of the
// last round does.
//   f' = f + (softmax(Q A^T + B2) Y + stencil) Wo,  f'' = f' + FFN,  with A, Y and the stencil's values V of the
//   remembered points
// V is read linearly between them, as a stencil of physical spacing does at other resolutions. Cost O(M C + C^2) a
// point and block.
#include <algorithm>
#include <cstring>

#include "kernels/network_parts.h"

namespace lano::kernels {
namespace {

// Entries of the stencil at an index between the remembered points.
std::int64_t entries_at(const Geometry& g, const double* index, const StencilRows& rows, Scratch& s) {
  std::array<StencilAxis::Entries, 3> axes;
  const Shape& shape = g.stencil_shape;
  for (std::size_t a = 0; a < 3; ++a) {  // missing leading axes have one point, read as it is
    if (a + shape.size() < 3) {
      axes[a].entries[0] = {0, 0, 1.0f};
      axes[a].count = 1;
    } else {
      axes[a] = g.stencil[a + shape.size() - 3].at(index[a + shape.size() - 3]);
    }
  }
  const std::int64_t n1 = shape.size() > 1 ? shape[shape.size() - 2] : 1, n2 = shape.back();
  std::size_t count = 0;
  for (const auto& x : axes[0].all()) {
    for (const auto& y : axes[1].all()) {
      for (const auto& z : axes[2].all()) {
        s.sources[count] = rows.values + ((x.other * n1 + y.other) * n2 + z.other) * rows.stride;
        s.filters[count] = rows.filter + ((x.tap * 3 + y.tap) * 3 + z.tap) * rows.columns;
        s.weights[count] = x.weight * y.weight * z.weight;
        ++count;
      }
    }
  }
  return static_cast<std::int64_t>(count);
}

std::int64_t entries_of(std::span<const Neighbours::Entry> near, std::int64_t dims, const StencilRows& rows,
                        Scratch& s) {
  std::size_t count = 0;
  for (const Neighbours::Entry& entry : near) {
    for_taps(entry, dims, [&](std::int64_t tap, double weight) {
      s.sources[count] = rows.values + entry.other * rows.stride;
      s.filters[count] = rows.filter + tap * rows.columns;
      s.weights[count] = static_cast<float>(weight);
      ++count;
    });
  }
  return static_cast<std::int64_t>(count);
}

}  // namespace

void Network::recall(const Tape& memory, std::int64_t count, const double* index, std::span<const float> coordinates,
                     const PointStream& points, const float* time) const {
  const PackedWeights& p = *packed_;
  const Widths& w = p.w;
  const Geometry& g = *memory.samples[0].geometry;
  const std::size_t axes = std::max(g.pool_shape.size(), g.stencil_shape.size());
  ScratchPool pool(w, memory, false);
  const Neighbours* const cloud = memory.samples[0].neighbours;
  std::vector<std::vector<Neighbours::Entry>> near(cloud == nullptr ? 0 : static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < near.size(); ++i) {
    const auto dims = static_cast<std::size_t>(cloud->dims());
    near[i] = cloud->at(coordinates.subspan(i * dims, dims));
  }
  parallel_for((count + kTile - 1) / kTile, pool.threads(), [&](std::int64_t task, int thread) {
    Scratch& s = pool.of(thread);
    const std::int64_t first = task * kTile, rows = std::min(kTile, count - first);
    const double* const at = index + first * static_cast<std::int64_t>(axes);
    const float* column = p.encoder_bias;
    if (time != nullptr) {
      std::memcpy(s.t, p.encoder_bias, static_cast<std::size_t>(w.padded_width) * sizeof(float));
      p.k.add(w.c, 1.0f, time, s.t);
      column = s.t;
    }
    float* const stats = s.stats + 2 * kTile;
    encode_tile(p, rows, points.read(first, rows, s.input), column, s.f, stats, s);
    for (std::size_t l = 0; l < p.blocks.size(); ++l) {
      const PackedBlock& b = p.blocks[l];
      const BlockState& state = memory.blocks[l];
      ScatterTile tile{.rows = rows, .f = s.f, .mid = s.f, .next = s.f, .stats1 = stats, .next_stats = stats};
      if (p.shape.bias == Bias::outer) {
        for (std::int64_t r = 0; r < rows; ++r) {
          s.row2[r] =
              interpolate_at(g.at_points, b.bias3, {at + r * static_cast<std::int64_t>(axes), g.at_points.size()});
        }
        tile.row2 = s.row2;
      }
      if (g.places.features > 0) {
        for (std::int64_t r = 0; r < rows; ++r) {
          place_features_at(g.at_points, {at + r * static_cast<std::int64_t>(axes), g.at_points.size()},
                            s.places + r * g.places.features);
        }
        tile.agents = &g.places;
        tile.places = s.places;
      }
      const auto reads = [&](const StencilRows& from) {
        return [&, from](float* out, std::int64_t stride) {
          for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t entries =
                cloud != nullptr ? entries_of(near[static_cast<std::size_t>(first + r)], cloud->dims(), from, s)
                                 : entries_at(g, at + r * static_cast<std::int64_t>(axes), from, s);
            p.k.stencil(entries, s.sources.data(), s.filters.data(), s.weights.data(), from.columns, out + r * stride);
          }
        };
      };
      scatter_tile(p, b, state, state.agents[0], memory.m, tile, reads({state.v, w.row, b.filter, w.padded_width}), s);
      if (b.ffn_filter == nullptr) continue;
      // u of the new points is in scratch: it is moved to where the stencil's sum will be.
      tile.u = s.wide1;
      feed_tile(p, b, tile, reads({state.u, w.wide, b.ffn_filter, w.padded_ffn}), s);
    }
    points.write(first, rows, decode_tile(p, rows, s.f, stats, s), w.wide);
  });
}

}  // namespace lano::kernels
