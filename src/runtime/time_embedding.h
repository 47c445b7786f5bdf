// The embedding of time in a time-conditional LANO: e = W2 silu(W1 w(t) + b1) + b2, w the sines and cosines of the
// steps since the first output (docs/model.md); forward for all, backward for training. One vector of width C per
// sample, in double: cheap compared with one point's pass through a block.
#pragma once

#include <span>
#include <vector>

#include "runtime/lano_tensors.h"

namespace lano {

// sin and cos of steps * w_k, w_k = 10000^(-k / (C/2)), k < C/2; a last odd one is 0.
std::vector<double> time_waves(double steps, std::int64_t width);

// What the backward pass needs of one sample.
struct TimeTrace {
  std::vector<double> wave, hidden;  // hidden: before the SiLU
  std::vector<float> features;       // the embedding, [C]
};

TimeTrace embed_time(const TimeTensors<const float*>& weights, std::int64_t width, double steps);

// The gradients of all four tensors, summed over the samples in order; slopes: of each sample's embedding, [samples,
// C].
void embed_time_backward(const TimeTensors<const float*>& weights, std::span<const TimeTrace> traces,
                         const float* slopes, const TimeTensors<float*>& gradients);

}  // namespace lano
