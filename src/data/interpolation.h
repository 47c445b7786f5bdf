// Fields from the points they are given on to other points: multilinear from tensor-product grids, otherwise by inverse
// squared distances of the nearest points. A plan serves every field on the same points. Private to src/data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/shape.h"

namespace lano {

struct InterpolationPlan {
  std::size_t per_point = 0;          // source points that each target point reads
  std::vector<std::int64_t> sources;  // [targets, per_point]
  std::vector<float> weights;         // the same; they sum to 1
  bool multilinear = false;
};

// shape: axes of the source, [M] for a cloud. sources [M, dims], targets [N, dims]. Targets outside a grid take the
// value at its nearest place on the edge.
InterpolationPlan plan_interpolation(const Shape& shape, std::span<const float> sources, std::span<const float> targets,
                                     std::size_t dims);

// values [M, channels] -> [N, channels].
std::vector<float> interpolate(const InterpolationPlan& plan, std::span<const float> values, std::size_t channels);

}  // namespace lano
