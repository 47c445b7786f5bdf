// The relative L2 loss as one autograd function: norms in double, no temporary tensors.
#pragma once

#include <torch/torch.h>

namespace lano {

// mean_b ||u_b - t_b|| / ||t_b||, the plain norm of the error where the truth is zero; [B, ...] float32 on the CPU, truth
// without gradient.
torch::Tensor fused_relative_l2(const torch::Tensor& prediction, const torch::Tensor& truth);

}  // namespace lano
