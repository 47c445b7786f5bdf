// Training losses on physical values: relative L2 a sample, averaged over the batch, and for uniform grids the same on
// the central-difference gradient. Differentiable; float32 or float64.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "core/shape.h"

namespace lano {

// mean_b ||u_b - t_b|| / ||t_b||; [B, ...] each.
torch::Tensor relative_l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth);

// Central differences at interior points of a grid: [B, N, c] -> [B, interior N, c * axes].
torch::Tensor central_gradient(const torch::Tensor& field, const Shape& mesh, const std::vector<double>& spacing);

}  // namespace lano
