// AdamW (Loshchilov, Hutter) with PyTorch's semantics, over one flat buffer of parameters and one of gradients.
// State is two buffers and a step count, all plain memory, so a checkpoint is a copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

class Adamw {
 public:
  Adamw(std::size_t size, AdamwConfig config);
  Adamw(std::size_t size, AdamwConfig config, std::vector<ParameterGroup> groups);  // groups: end to end, in order

  // One step with the rate and beta1 of the schedule. Elementwise, so the same bits for any thread count.
  void step(std::span<float> parameters, std::span<const float> gradients, double learning_rate, double beta1);

  std::int64_t steps() const { return steps_; }
  const std::vector<float>& first_moment() const { return m_; }
  const std::vector<float>& second_moment() const { return v_; }
  void restore(std::int64_t steps, std::span<const float> first_moment, std::span<const float> second_moment);

 private:
  AdamwConfig config_;
  std::vector<ParameterGroup> groups_;
  std::int64_t steps_ = 0;
  std::vector<float> m_, v_;
};

// Scales the gradients so that their L2 norm is at most `limit` (0: never) and returns the norm before.
// The norm is summed in double over fixed blocks.
double clip_gradients(std::span<float> gradients, double limit);

}  // namespace lano
