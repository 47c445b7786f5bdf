// A benchmark problem as a source of samples: what the set is about, where its points are, and sample i as a pure
// function of (seed, i). Problems are shared by threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/set_description.h"

namespace lano {

class Problem {
 public:
  virtual ~Problem() = default;
  virtual SetDescription describe() const = 0;                // generator holds every parameter and the seed
  virtual std::vector<float> coordinates() const = 0;         // [N, dx], shared by all samples
  // input [N, da], output [N, du] or, where describe() names times, [T, N, du].
  virtual void make(std::int64_t sample, std::span<float> input, std::span<float> output) const = 0;
};

}  // namespace lano
