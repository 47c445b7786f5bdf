#include "libtorch/torch_loss.h"

#include <cmath>

namespace lano {
namespace {

torch::Tensor channel_row(const std::vector<double>& values, const torch::Tensor& like) {
  return torch::tensor(values, like.options().dtype(torch::kFloat64).requires_grad(false));
}

torch::Tensor sample_loss(const torch::Tensor& error, const torch::Tensor& truth, const std::vector<double>& weights,
                          bool relative) {
  const torch::Tensor reference = truth.flatten(1);
  // As the metric: where the truth is zero, the plain norm of the error.
  torch::Tensor norm = reference.norm(2, 1);
  norm = relative ? torch::where(norm > 0, norm, torch::ones_like(norm))
                  : torch::full_like(norm, std::sqrt(static_cast<double>(reference.size(1))));
  const torch::Tensor each = error.flatten(1).norm(2, 1) / norm;
  return (weights.empty() ? each : each * channel_row(weights, each)).mean();
}

}  // namespace

torch::Tensor relative_l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth,
                               const std::vector<double>& weights) {
  return sample_loss(prediction - truth, truth, weights, true);
}

torch::Tensor l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights) {
  return sample_loss(prediction - truth, truth, weights, false);
}

TorchLoss::TorchLoss(LossConfig config, ChannelMap output, Shape mesh, std::vector<double> spacing,
                     std::vector<float> base)
    : config_(std::move(config)),
      output_(std::move(output)),
      mesh_(std::move(mesh)),
      spacing_(std::move(spacing)),
      base_(std::move(base)) {}

torch::Tensor TorchLoss::of_samples(const torch::Tensor& error, const torch::Tensor& truth,
                                    const std::vector<double>& weights) const {
  return sample_loss(error, truth, weights, config_.kind == LossKind::relative_l2);
}

torch::Tensor TorchLoss::operator()(const torch::Tensor& network, const torch::Tensor& known,
                                    const std::vector<std::int64_t>& counts, const std::vector<double>& weights) const {
  torch::Tensor truth = known.to(torch::kFloat64);
  torch::Tensor error = network.to(torch::kFloat64) * channel_row(output_.scale(), network) +
                        channel_row(output_.shift(), network) - truth;
  if (!base_.empty()) {
    error = error + torch::tensor(std::vector<double>(base_.begin(), base_.end()),
                                  network.options().dtype(torch::kFloat64).requires_grad(false))
                        .view({network.size(1), network.size(2)});
  }
  if (!config_.channel_weights.empty()) {
    const torch::Tensor roots = channel_row(config_.channel_weights, network).sqrt();
    error = error * roots;
    truth = truth * roots;
  }
  if (!counts.empty()) {  // packed clouds: each is a separate sample
    torch::Tensor sum;
    std::int64_t first = 0;
    for (std::size_t b = 0; b < counts.size(); ++b) {
      const std::vector<double> weight = weights.empty() ? weights : std::vector<double>{weights[b]};
      const torch::Tensor one =
          of_samples(error.narrow(1, first, counts[b]), truth.narrow(1, first, counts[b]), weight);
      sum = sum.defined() ? sum + one : one;
      first += counts[b];
    }
    return sum / static_cast<double>(counts.size());
  }
  torch::Tensor value = of_samples(error, truth, weights);
  if (config_.gradient_weight > 0) {
    value = value + config_.gradient_weight * gradient_term(error, truth, weights);
  }
  return value;
}

torch::Tensor TorchLoss::gradient_term(const torch::Tensor& error, const torch::Tensor& truth,
                                       const std::vector<double>& weights) const {
  if (config_.gradient_kind == GradientKind::joint)
    return of_samples(central_gradient(error, mesh_, spacing_), central_gradient(truth, mesh_, spacing_), weights);
  // 1 inside, 0 on the outermost points, where the prediction counts as zero and the error as minus the truth.
  torch::Tensor inside = torch::zeros(at::IntArrayRef(mesh_), error.options().requires_grad(false)), inner = inside;
  for (std::size_t a = 0; a < mesh_.size(); ++a) inner = inner.narrow(static_cast<std::int64_t>(a), 1, mesh_[a] - 2);
  inner.fill_(1);
  inside = inside.flatten().unsqueeze(-1);
  const torch::Tensor seen = error * inside - truth * (1 - inside);
  torch::Tensor sum;
  for (std::size_t a = 0; a < mesh_.size(); ++a) {
    const torch::Tensor one = of_samples(padded_difference(seen, mesh_, a, spacing_[a]),
                                         padded_difference(truth, mesh_, a, spacing_[a]), weights);
    sum = sum.defined() ? sum + one : one;
  }
  return sum;
}

torch::Tensor padded_difference(const torch::Tensor& field, const Shape& mesh, std::size_t axis, double spacing) {
  const torch::Tensor image = field.unflatten(1, at::IntArrayRef(mesh));  // [B, n1, ..., c]
  const auto dim = static_cast<std::int64_t>(axis) + 1;
  const torch::Tensor none = torch::zeros_like(image.narrow(dim, 0, 1));
  const torch::Tensor wide = torch::cat({none, image, none}, dim);
  return ((wide.narrow(dim, 2, mesh[axis]) - wide.narrow(dim, 0, mesh[axis])) / (2 * spacing)).flatten(1, -2);
}

torch::Tensor central_gradient(const torch::Tensor& field, const Shape& mesh, const std::vector<double>& spacing) {
  const torch::Tensor image = field.unflatten(1, at::IntArrayRef(mesh));  // [B, n1, ..., c]
  std::vector<torch::Tensor> slopes;
  for (std::size_t a = 0; a < mesh.size(); ++a) {
    torch::Tensor up = image, down = image;
    for (std::size_t b = 0; b < mesh.size(); ++b) {
      const auto dim = static_cast<std::int64_t>(b) + 1;
      up = up.narrow(dim, b == a ? 2 : 1, mesh[b] - 2);
      down = down.narrow(dim, b == a ? 0 : 1, mesh[b] - 2);
    }
    slopes.push_back((up - down) / (2 * spacing[a]));
  }
  return torch::cat(slopes, -1).flatten(1, -2);
}

}  // namespace lano
