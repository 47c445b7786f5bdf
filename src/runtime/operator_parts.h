// What an operator is made of, for the files that implement it: prediction (operator.cpp) and its transposed derivative
// (operator_vjp.cpp).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/buffer.h"
#include "kernels/geometry_cache.h"
#include "kernels/network.h"
#include "normalise/displacement.h"
#include "runtime/lano_weights.h"
#include "runtime/operator.h"
#include "runtime/position_features.h"

namespace lano {

// A patch grid that may be changed while others predict. (An atomic shared_ptr, which libc++ does not have.)
class UsedPatches {
 public:
  using Patches = std::shared_ptr<const std::vector<std::int64_t>>;
  Patches load() const {
    const std::lock_guard lock(mutex_);
    return patches_;
  }
  UsedPatches& operator=(Patches patches) {
    const std::lock_guard lock(mutex_);
    patches_ = std::move(patches);
    return *this;
  }

 private:
  mutable std::mutex mutex_;
  Patches patches_;
};

struct Operator::Parts : LanoParts {
  Parts() { ++living; }
  ~Parts() {
    if (--living == 0)
      kernels::release_kept_buffers();  // with the last operator, what its predictions used goes back to the system
  }
  inline static std::atomic<int> living = 0;
  ModelFile file;
  std::unique_ptr<kernels::Network> network;
  std::unique_ptr<kernels::GeometryCache> geometries;
  UsedPatches used_patches;
  PositionFeatures positions;

  // The network and the geometries with what a backward pass needs, made when first needed.
  struct Trainable {
    std::unique_ptr<kernels::Network> network;
    std::unique_ptr<kernels::GeometryCache> geometries;
  };
  mutable std::once_flag trainable_made;
  mutable Trainable trainable;

  // What a call says, checked, and what follows from it for every point.
  struct Points {
    std::span<const float> coordinates, input, state;
    std::int64_t count = 0;
    bool alone = false;               // a rank's own points: not all of the sample
    std::int64_t before = 0;          // those of the sample before them
    std::vector<std::int64_t> order;  // of clouds along the curve; empty: their own
    std::vector<float> time;          // the embedding
    std::vector<float> displacement;  // from the mean mesh, [N, dx]; empty: not needed
    std::vector<float> base;          // the mean output on this mesh, [N, du]; empty: none
  };
  Points points_of(std::span<const float> coordinates, std::span<const float> input, std::span<const float> state,
                   double time) const;
  Shape mesh_of(std::int64_t points, const Shape& said) const;
  bool is_uniform(const Shape& mesh, std::span<const float> coordinates, const Call& call,
                  std::vector<double>* spacing) const;
  struct Arranged;
  Arranged arrange(std::span<const float> coordinates, std::span<const float> input, const Call& call,
                   kernels::GeometryCache& cache) const;
  bool stencil_in_space() const { return reads_neighbours(config, shape); }
  std::vector<float> ordered_coordinates(const Points& points) const;
  std::int64_t state_frames() const { return config.task == Task::autoregressive ? config.state_frames : 0; }
  std::int64_t state_channels() const { return shape.input_channels - file.set.input_channels() - displaced(); }
  std::int64_t displaced() const { return file.normaliser.mean_mesh.channels(); }

  // Normalises features and decodes outputs tile by tile; `points` and `output` must outlive it. No output: nothing is
  // written.
  kernels::PointStream stream(const Points& points, std::span<float> output) const;
  Slopes physical_slopes(const Arranged& arranged, std::span<const float> feature_slopes,
                         std::span<const float> output_slopes) const;
};

// One sample on its way through the network: its points in the model's order, and the geometry the blocks see.
struct Operator::Parts::Arranged {
  Points points;
  std::vector<double> spacing, origin;  // of uniform grids
  std::shared_ptr<const kernels::Geometry> geometry;
  std::shared_ptr<const kernels::Neighbours> neighbours;  // of clouds whose stencil reads the nearest points
  std::shared_ptr<const Displacement> displacement;       // from the mean mesh; none: not needed

  kernels::Sample sample(std::int64_t first) const { return {first, geometry.get(), neighbours.get()}; }
};

}  // namespace lano
