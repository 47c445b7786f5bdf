// A problem on a mesh of two axes, solved in full and kept at every stride-th point of each axis, the first included.
// Where the stride does not divide the cells, the last points are dropped, and the description's span records it.
#pragma once

#include <memory>

#include "pde/problem.h"

namespace lano {

class StridedProblem final : public Problem {
 public:
  // Fails where the stride leaves fewer than two points on an axis.
  StridedProblem(std::unique_ptr<Problem> whole, std::int64_t stride);
  SetDescription describe() const override { return description_; }
  std::vector<float> coordinates() const override;
  bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const override;

 private:
  // Rows of `channels` values at the points of one frame.
  void keep(std::span<const float> from, std::span<float> to, std::int64_t channels) const;

  std::unique_ptr<Problem> whole_;
  SetDescription full_, description_;
  std::int64_t stride_;
};

}  // namespace lano
