// How the points of a sample are arranged, as nodes of a graph: what agents pool, how bias vectors reach the points,
// what the stencil reads. The same numbers as kernels/geometry.h. Meshes are fixed when the graph is made; for clouds
// N, and all that follows from it, is determined when it runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/geometry.h"
#include "model_spec/lano_layout.h"
#include "runtime/onnx/graph.h"

namespace lano::onnx {

class Points {
 public:
  // mesh: empty for clouds; spacing, origin: of uniform grids, else empty; patches: the agents used; coordinates: the
  // graph's [B, N, dx].
  Points(Graph& graph, const LanoConfig& config, const LanoShape& shape, const Shape& mesh,
         const std::vector<double>& spacing, const std::vector<double>& origin,
         const std::vector<std::int64_t>& patches, const Value& coordinates);

  // The points as the network sees them, normalised and in order, [B, N, dx]: for a stencil that reads neighbours.
  void see(const Value& places) { places_ = places; }
  std::int64_t agents() const { return geometry_.agents; }
  Value count();                                                        // N, a scalar
  Value shaped(const Value& x, const std::vector<std::int64_t>& tail);  // anything of B N rows -> [B, N, tail...]
  Value pooled(const Value& rows, std::int64_t width);  // [B N, C] -> means over the agents' points, [B, M, C]
  Value at_points(const std::string& name, const float* vector);  // [M as trained] -> [N]
  Value at_agents(const std::string& name, const float* vector);  // [M as trained] -> [M]
  Value nearness(std::int64_t heads);  // [H, N, M], at most 0: how much each head prefers near agents
  Value log_cells();  // [N]: what points stand for where agents gather, as logarithms; empty: each for itself
  // What the agents tell one another, [H, M, M]: maps as trained, brought to the agents used.
  Value exchange_maps(const std::string& name, const float* maps, std::int64_t heads);
  // [B N, W] -> [B N, W]; filter [W, taps]
  Value stencil(const Value& rows, const std::string& name, const float* filter, std::int64_t width);

 private:
  bool pools_on_mesh() const { return pools_on_grid(config_, trained_, layout_.mesh); }
  Value indices();        // 0 .. N-1
  Value pool_of_order();  // [M, N]
  Value conv(const Value& image, const std::string& name, const float* filter, std::int64_t width);
  Value cloud_stencil(const Value& rows, const std::string& name, const float* filter, std::int64_t width);
  void find_cloud_taps();
  Value neighbour_stencil(const Value& rows, const std::string& name, const float* filter, std::int64_t width);
  void find_neighbours();

  Graph& g_;
  const LanoConfig& config_;
  const LanoShape& shape_;
  std::vector<std::int64_t> trained_;
  Layout layout_;
  kernels::Geometry geometry_;
  Value batch_and_count_;  // clouds: [B, N]
  Value count_, indices_, pool_of_order_, nearness_, log_cells_;
  std::map<std::vector<std::int64_t>, Value> shapes_;
  std::vector<Value> low_high_share_;  // along the order: where each point stands between two entries of a bias vector
  // Scaled clouds: for each tap the points read and their weights [N, 1].
  struct Read {
    Value points, weight;
  };
  std::vector<std::vector<Read>> cloud_taps_;
  Value places_, near_, shares_;  // near: [B, N, K, 1] the points read; shares: [B, N, taps, K]
};

}  // namespace lano::onnx
