// The fused engine as one autograd function of LibTorch: a whole LANO forward, recorded where a gradient is wanted, and its
// backward pass, float32 on the CPU.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "core/lano_config.h"
#include "core/shape.h"
#include "kernels/network.h"

namespace lano {

using FusedTensors = kernels::NetworkTensors<torch::Tensor>;  // undefined where a switch leaves a tensor out

// Where the points of a batch lie, as Batch and the model say it.
struct Arrangement {
  Shape mesh;
  std::vector<double> spacing, origin;
  std::vector<std::int64_t> counts;   // packed clouds
  std::vector<std::int64_t> patches;  // agents used
};

class FusedLano {
 public:
  FusedLano(const LanoConfig& config, const LanoShape& shape);
  ~FusedLano();

  // input [B, N, dx + da] (packed clouds: B = 1), time [samples, C] or undefined -> [B, N, du]. Geometry is kept between calls.
  torch::Tensor forward(const torch::Tensor& input, const torch::Tensor& time, const Arrangement& arrangement, const FusedTensors& tensors);

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace lano
