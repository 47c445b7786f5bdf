// Dropout as a function of position: which features of a point are zeroed follows from (seed, step, sample, pass,
// block, branch, point) alone. So nothing is stored for the backward pass, a resumed run draws the same, and every
// engine gets the same mask.
#pragma once

#include <array>
#include <cstdint>

namespace lano::kernels {

struct Dropout {
  double rate = 0;          // share of the features zeroed; the others grow by 1 / (1 - rate)
  std::uint64_t seed = 0;   // of the run
  std::uint64_t step = 0;   // of the optimiser
  std::uint64_t place = 0;  // of the batch's first sample within the step
  std::uint32_t pass = 0;   // of a roll-out: its step
};

enum class Branch { attention, feed_forward };

// The mask of one sample after one branch of one block.
class DropoutMask {
 public:
  DropoutMask(const Dropout& dropout, std::int64_t sample, std::int64_t block, Branch branch);
  // factors[c] = 0 or 1 / (1 - rate) for the channels of a point.
  void row(std::int64_t point, std::int64_t width, float* factors) const;

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t pass_, threshold_;
  float kept_;
};

}  // namespace lano::kernels
