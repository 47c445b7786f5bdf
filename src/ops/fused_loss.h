// The L2 losses as one autograd function: norms in double, no temporary tensors.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace lano {

// mean_b w_b ||u_b - t_b|| / n_b with n_b = ||t_b|| (1 where the truth is zero), or the root of the number of values where not
// relative; weights: one a sample, or none for 1. [B, ...] float32 on the CPU, truth without gradient.
torch::Tensor fused_l2(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights, bool relative);

}  // namespace lano
