#include "train/loss.h"

#include <cmath>

#include "ops/fused_loss.h"

namespace lano {
namespace {

torch::Tensor sample_loss(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights, bool relative) {
  if (prediction.scalar_type() == torch::kFloat32 && prediction.device().is_cpu()) return fused_l2(prediction, truth, weights, relative);
  const torch::Tensor error = (prediction - truth).flatten(1), reference = truth.flatten(1);
  // As the metric: where the truth is zero, the plain norm of the error.
  torch::Tensor norm = reference.norm(2, 1);
  norm = relative ? torch::where(norm > 0, norm, torch::ones_like(norm))
                  : torch::full_like(norm, std::sqrt(static_cast<double>(reference.size(1))));
  const torch::Tensor each = error.norm(2, 1) / norm;
  return (weights.empty() ? each : each * torch::tensor(weights, each.options())).mean();
}

}  // namespace

torch::Tensor relative_l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights) {
  return sample_loss(prediction, truth, weights, true);
}

torch::Tensor l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights) {
  return sample_loss(prediction, truth, weights, false);
}

FieldLoss::FieldLoss(LossConfig config, Shape mesh, std::vector<double> spacing)
    : config_(std::move(config)), mesh_(std::move(mesh)), spacing_(std::move(spacing)) {}

torch::Tensor FieldLoss::of_samples(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights) const {
  return sample_loss(prediction, truth, weights, config_.kind == LossKind::relative_l2);
}

torch::Tensor FieldLoss::operator()(const torch::Tensor& given, const torch::Tensor& known, const std::vector<std::int64_t>& counts,
                                    const std::vector<std::int64_t>& frames) const {
  torch::Tensor prediction = given, truth = known;
  if (!config_.channel_weights.empty()) {
    const torch::Tensor roots = torch::tensor(config_.channel_weights, torch::kFloat64).sqrt().to(prediction.dtype());
    prediction = prediction * roots;
    truth = truth * roots;
  }
  std::vector<double> weights;
  if (!config_.frame_weights.empty()) {
    for (const std::int64_t frame : frames) weights.push_back(config_.frame_weights.at(static_cast<std::size_t>(frame)));
  }
  if (!counts.empty()) {  // packed clouds: each is a sample of its own
    torch::Tensor sum;
    std::int64_t first = 0;
    for (const std::int64_t points : counts) {
      const torch::Tensor one = of_samples(prediction.narrow(1, first, points), truth.narrow(1, first, points), {});
      sum = sum.defined() ? sum + one : one;
      first += points;
    }
    return sum / static_cast<double>(counts.size());
  }
  torch::Tensor value = of_samples(prediction, truth, weights);
  if (config_.gradient_weight > 0) {
    value = value + config_.gradient_weight * of_samples(central_gradient(prediction, mesh_, spacing_), central_gradient(truth, mesh_, spacing_), weights);
  }
  return value;
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
