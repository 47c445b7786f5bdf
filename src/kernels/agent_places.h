// Agents that have a place, the middle of their patch (model.exchange): heads see the agents near a point first, by a
// fixed bias of the logits, and agents exchange what they gathered, by a learned map per head.
//   bias of head h at point n and agent m   - g_h |t_n - k_m|^2    places t, k counted in trained patches
//   Y <- Y + T_h Y                           T_h [M, M] as trained, interpolated where other agents are used
// The bias is a product of a few features of the point and of the agent, so no N x M matrix is stored. On a periodic
// axis the distance is the chord: (m/pi)^2 sin^2(pi (t - k)/m). Tables of one geometry, read by all threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tile_kernels.h"

namespace lano::kernels {

struct AxisInterpolation;

struct AgentPlaces {
  std::int64_t features = 0;            // of a point: two per axis and one; 0: agents have no place
  std::int64_t agents = 0, padded = 0;  // as used
  std::int64_t trained = 0, trained_padded = 0;
  std::vector<char> sees_all;  // of each head: whether g_h = 0
  std::vector<float> columns;  // [H, features, padded], with log2(e): logits are to the base two
  // Between the agents used and those trained, where they differ: up interpolates, down averages by the same weights.
  std::vector<float> up, down_transposed;  // [agents, trained_padded]
  std::vector<float> up_transposed, down;  // [trained, padded]
  bool other_agents() const { return !up.empty(); }
};

// axes: from the trained patches to the points; agents: to the agents used, empty where they are those trained.
AgentPlaces make_agent_places(std::int64_t heads, std::span<const AxisInterpolation> axes,
                              std::span<const AxisInterpolation> agents);

// The features of points first .. first + count - 1 of the axes' product, or of one at an index of each axis that may
// lie between two points. rows [count, features].
void place_features(std::span<const AxisInterpolation> axes, std::int64_t first, std::int64_t count, float* rows);
void place_features_at(std::span<const AxisInterpolation> axes, std::span<const double> index, float* row);

// The bias of a head into logits [rows, padded], and returned; null where the head sees all agents equally.
inline const float* place_logits(const Kernels& k, const AgentPlaces& p, std::int64_t head, const float* features,
                                 std::int64_t rows, float* logits) {
  if (features == nullptr || p.sees_all[static_cast<std::size_t>(head)] != 0) return nullptr;
  k.gemm({.rows = rows,
          .depth = p.features,
          .columns = p.padded,
          .a = features,
          .a_stride = p.features,
          .b = p.columns.data() + head * p.features * p.padded,
          .b_stride = p.padded,
          .c = logits,
          .c_stride = p.padded});
  return logits;
}

// One head. y, out [D, padded]; map: T transposed, [trained, trained_padded]; room for 2 D trained_padded floats, where
// other agents are used.
void exchange(const Kernels& k, const AgentPlaces& p, std::int64_t d, const float* y, const float* map, float* room,
              float* out);
// dout, dy [D, padded]; map: T [trained, trained_padded]; dmap [trained, trained_padded] is written.
void exchange_backward(const Kernels& k, const AgentPlaces& p, std::int64_t d, const float* y, const float* dout,
                       const float* map, float* room, float* dy, float* dmap);
// Floats of room for one head of either.
inline std::int64_t exchange_room(const AgentPlaces& p, std::int64_t d) {
  return p.other_agents() ? 2 * d * p.trained_padded : 0;
}

}  // namespace lano::kernels
