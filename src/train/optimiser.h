// One optimiser over one flat buffer of parameters and one of gradients: AdamW for everything, or Muon for the linear
// maps (matrices) and AdamW for the rest. Its state is two flat buffers and a step count, so a checkpoint is a copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/shape.h"
#include "train/adamw.h"
#include "train/muon.h"

namespace lano {

enum class OptimiserKind { adamw, muon };

struct OptimiserConfig : AdamwConfig {
  OptimiserKind kind = OptimiserKind::adamw;
  double momentum = 0.95;  // of Muon
};

// A tensor's place in the flat buffers.
struct NamedShape {
  std::string name;
  Shape shape;
};

// The linear maps between channels among the tensors of a layout, as matrices of the flat buffer: weights [out, in];
// kernels of convolutions and modes [a, b, ...] unfolded to a x (b ...), complex ones as pairs; queries, keys and
// values that share a tensor apart. Vectors, filters of one channel and maps of fewer than kLeastSide channels are
// none.
constexpr std::int64_t kLeastSide = 8;
std::vector<Matrix> linear_maps(const std::vector<NamedShape>& layout);

class Optimiser {
 public:
  Optimiser(const OptimiserConfig& config, const std::vector<NamedShape>& layout);

  // One step with the rate and beta1 of the schedule. The same bits for any thread count.
  void step(std::span<float> parameters, std::span<const float> gradients, double learning_rate, double beta1);

  std::int64_t steps() const { return steps_; }
  const std::vector<float>& first_moment() const { return first_; }    // Muon: its momentum
  const std::vector<float>& second_moment() const { return second_; }  // Muon: zeros
  void restore(std::int64_t steps, std::span<const float> first_moment, std::span<const float> second_moment);

 private:
  OptimiserConfig config_;
  std::vector<Matrix> matrices_;
  std::vector<ParameterGroup> groups_;  // of AdamW
  std::int64_t steps_ = 0;
  std::vector<float> first_, second_;
};

}  // namespace lano
