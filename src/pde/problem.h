// A benchmark problem as a source of samples: the description of the dataset, the positions of its points, and sample i
// as a pure function of (seed, i). Problems are shared by threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "core/set_description.h"

namespace lano {

// The purpose of the random numbers of a problem that is not one of LANO's: no other draw shares them.
inline constexpr Purpose kOwnProblem{1000};

class Problem {
 public:
  virtual ~Problem() = default;
  virtual SetDescription describe() const = 0;  // generator holds every parameter and the seed
  virtual std::vector<float> coordinates() const {
    return {};
  }  // [N, dx] shared by all samples; empty: each has its own
  // Fills the arrays of a sample. attempt counts the draws of this sample: 0, and one more each time the draw before
  // gave false, that is, did not converge. Random numbers come from RandomStream(seed, purpose, attempt, sample) alone.
  virtual bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const = 0;
};

}  // namespace lano
