// Training losses on physical values: L2 a sample, relative to the truth or not, averaged over the batch, and for uniform grids
// the same on the central-difference gradient; channels and frames may weigh differently. Differentiable; float32 or float64.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "core/shape.h"
#include "train/loss_config.h"

namespace lano {

class FieldLoss {
 public:
  // spacing: of the uniform grid `mesh`, for the gradient term.
  FieldLoss(LossConfig config, Shape mesh, std::vector<double> spacing);

  // [B, N, du] each; packed clouds: [1, P, du] with the points of each. frames: that of each sample, for its weight; may be empty.
  torch::Tensor operator()(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<std::int64_t>& counts,
                           const std::vector<std::int64_t>& frames) const;

 private:
  torch::Tensor of_samples(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights) const;

  LossConfig config_;
  Shape mesh_;
  std::vector<double> spacing_;
};

// mean_b w_b ||u_b - t_b|| / ||t_b||; [B, ...] each; no weights: 1.
torch::Tensor relative_l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights = {});
// mean_b w_b ||u_b - t_b|| / sqrt(number of values)
torch::Tensor l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights = {});

// Central differences at interior points of a grid: [B, N, c] -> [B, interior N, c * axes].
torch::Tensor central_gradient(const torch::Tensor& field, const Shape& mesh, const std::vector<double>& spacing);

}  // namespace lano
