// A cache of the geometries of meshes and clouds, so that a training step or a prediction on the same mesh reuses its
// tables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/geometry.h"
#include "kernels/neighbours.h"
#include "model_spec/lano_config.h"

namespace lano::kernels {

class GeometryCache {
 public:
  // training: with the tables of the backward pass.
  GeometryCache(LanoConfig config, LanoShape shape, bool training)
      : config_(std::move(config)), shape_(std::move(shape)), training_(training) {}

  // For one sample; spacing, origin: of uniform grids, else empty; patches: the agents used; stretch: of meshes, as
  // lano_layout has it. Safe from many threads.
  std::shared_ptr<const Geometry> of(std::int64_t points, const Shape& mesh, const std::vector<double>& spacing,
                                     const std::vector<double>& origin, const std::vector<std::int64_t>& patches,
                                     const std::vector<double>& stretch = {});
  // Of one cloud, coordinates [N, dims] as the network sees them; null where the stencil reads none.
  std::shared_ptr<const Neighbours> neighbours(std::span<const float> coordinates);

 private:
  using Key = std::tuple<std::int64_t, Shape, std::vector<double>, std::vector<double>, std::vector<std::int64_t>,
                         std::vector<double>>;
  LanoConfig config_;
  LanoShape shape_;
  bool training_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Geometry>> kept_;
  std::int64_t points_kept_ = 0;
  std::map<std::uint64_t, std::shared_ptr<const Neighbours>> clouds_;  // by a hash of their coordinates
  std::size_t bytes_kept_ = 0;
};

}  // namespace lano::kernels
