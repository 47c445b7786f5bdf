// Geometries of meshes and clouds met before, so that a training step or a prediction on the same mesh finds its tables
// made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "kernels/geometry.h"
#include "model_spec/lano_config.h"

namespace lano::kernels {

class GeometryCache {
 public:
  // training: with the tables of the backward pass.
  GeometryCache(LanoConfig config, LanoShape shape, bool training)
      : config_(std::move(config)), shape_(std::move(shape)), training_(training) {}

  // For one sample; spacing, origin: of uniform grids, else empty; patches: the agents used. Safe from many threads.
  std::shared_ptr<const Geometry> of(std::int64_t points, const Shape& mesh, const std::vector<double>& spacing,
                                     const std::vector<double>& origin, const std::vector<std::int64_t>& patches);

 private:
  using Key = std::tuple<std::int64_t, Shape, std::vector<double>, std::vector<double>, std::vector<std::int64_t>>;
  LanoConfig config_;
  LanoShape shape_;
  bool training_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Geometry>> kept_;
  std::int64_t points_kept_ = 0;
};

}  // namespace lano::kernels
