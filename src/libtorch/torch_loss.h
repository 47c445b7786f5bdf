// The training loss of train/field_loss.h by LibTorch's operations, differentiable, in double from the network's
// values: the counterpart of the hand-written one, and the loss of every operator that LibTorch trains.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "core/shape.h"
#include "normalise/normaliser.h"
#include "train/loss_config.h"

namespace lano {

class TorchLoss {
 public:
  TorchLoss(LossConfig config, ChannelMap output, Shape mesh, std::vector<double> spacing,
            std::vector<float> base = {});

  // network [B, N, du], truth physical; packed clouds: [1, P, du] with the points of each. weights: of each sample, or
  // empty for 1.
  torch::Tensor operator()(const torch::Tensor& network, const torch::Tensor& truth,
                           const std::vector<std::int64_t>& counts, const std::vector<double>& weights) const;

 private:
  torch::Tensor of_samples(const torch::Tensor& error, const torch::Tensor& truth,
                           const std::vector<double>& weights) const;
  torch::Tensor gradient_term(const torch::Tensor& error, const torch::Tensor& truth,
                              const std::vector<double>& weights) const;

  LossConfig config_;
  ChannelMap output_;
  Shape mesh_;
  std::vector<double> spacing_;
  std::vector<float> base_;
};

// mean_b w_b ||u_b - t_b|| / ||t_b|| (1 where the truth is zero); [B, ...] each; no weights: 1.
torch::Tensor relative_l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth,
                               const std::vector<double>& weights = {});
// mean_b w_b ||u_b - t_b|| / sqrt(number of values)
torch::Tensor l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth,
                      const std::vector<double>& weights = {});

// Central differences along one axis at every point of a grid, zeros outside it: [B, N, c] -> [B, N, c].
torch::Tensor padded_difference(const torch::Tensor& field, const Shape& mesh, std::size_t axis, double spacing);

// Central differences at interior points of a grid: [B, N, c] -> [B, interior N, c * axes].
torch::Tensor central_gradient(const torch::Tensor& field, const Shape& mesh, const std::vector<double>& spacing);

}  // namespace lano
