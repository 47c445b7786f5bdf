// AdamW (Loshchilov, Hutter) with PyTorch's semantics, over one flat buffer of parameters and one of gradients
// (train/optimiser.h keeps its state), and the clipping of gradients.
#pragma once

#include <cstdint>
#include <span>

namespace lano {

enum class Decay {
  all,
  matrices
};  // which parameters the weight decay shrinks: all of them, or no biases, norms and tables of one axis

struct AdamwConfig {
  double beta2 = 0.999, epsilon = 1e-8, weight_decay = 1e-5;
  Decay decay = Decay::all;
};

// A run of parameters of one kind in the flat buffer.
struct ParameterGroup {
  std::size_t first = 0, size = 0;
  bool decays = true;
};

// One step of these groups, the t-th (from 1), with the rate and beta1 of the schedule. Elementwise, so the same bits
// for any thread count. All spans are the whole flat buffers.
void adamw_step(const AdamwConfig& config, std::span<const ParameterGroup> groups, std::int64_t t, double learning_rate,
                double beta1, std::span<float> parameters, std::span<const float> gradients,
                std::span<float> first_moment, std::span<float> second_moment);

// Scales the gradients so that their L2 norm is at most `limit` (0: never) and returns the norm before.
// The norm is summed in double over fixed blocks.
double clip_gradients(std::span<float> gradients, double limit);

}  // namespace lano
