// What training does to a batch after reading it: symmetries of a grid drawn for each sample, and random subsets of the
// points of clouds. One draw applies to coordinates, input and every frame of the truth.
#pragma once

#include <cstdint>
#include <vector>

#include "core/set_description.h"
#include "data/sample_set.h"
#include "train/loss_config.h"

namespace lano {

// Fails where the grid is not mapped onto itself, or where there are several channels (a vector field would have to
// turn too).
void check_augment(Augment augment, const SetDescription& set, const std::vector<double>& spacing,
                   const std::vector<double>& origin);

class SampleChanges {
 public:
  SampleChanges() = default;  // none
  // Draws for the samples of a batch by (seed, step, place): `place` is that of the batch's first sample within the
  // step. points: how many of a cloud's points are kept, 0 for all; sizes: points of each sample.
  SampleChanges(Augment augment, std::int64_t points, const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                std::uint64_t step, std::uint64_t place);

  void apply(FieldBatch& batch) const;
  std::vector<float> apply(std::vector<float> field, const Shape& mesh) const;  // [P, channels], any number of channels
  const std::vector<std::int64_t>& sizes() const { return sizes_; }             // points of each sample afterwards

 private:
  std::vector<float> subset(const std::vector<float>& values, bool shared) const;
  std::vector<int> symmetries_;                  // 0 .. 7 of each sample; empty: none
  std::vector<std::vector<std::int64_t>> kept_;  // points kept of each sample, rising; empty: all
  std::vector<std::int64_t> sizes_, before_;     // points of each sample: kept, and before
};

}  // namespace lano
