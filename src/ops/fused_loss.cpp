#include "ops/fused_loss.h"

#include <cmath>

#include "core/error.h"
#include "ops/flat.h"

namespace lano {
namespace {

std::span<const float> sample(const torch::Tensor& values, std::int64_t b) {
  const auto size = static_cast<std::size_t>(values.numel() / values.size(0));
  return {values.data_ptr<float>() + static_cast<std::size_t>(b) * size, size};
}

// d/du w ||u - t|| / n = w (u - t) / (||u - t|| n); zero where the error is.
class SampleL2 : public torch::autograd::Function<SampleL2> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& prediction, const torch::Tensor& truth,
                               const std::vector<double>& weights, bool relative) {
    const torch::Tensor u = prediction.contiguous(), t = truth.contiguous();
    const std::int64_t batch = u.size(0);
    std::vector<double> factors;
    double sum = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      const double error = std::sqrt(square_distance(sample(u, b), sample(t, b))), size = std::sqrt(relative ? square_sum(sample(t, b)) : static_cast<double>(sample(t, b).size()));
      const double norm = (size > 0 ? size : 1) / (weights.empty() ? 1.0 : weights[static_cast<std::size_t>(b)]);
      sum += error / norm;
      factors.push_back(error == 0 ? 0.0 : 1 / (error * norm * static_cast<double>(batch)));  // NaN stays NaN
    }
    context->save_for_backward({u, t});
    context->saved_data["factors"] = factors;
    return torch::full({}, sum / static_cast<double>(batch), u.options());
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context, torch::autograd::tensor_list gradients) {
    if (torch::GradMode::is_enabled()) fail("the backward pass of the L2 loss", "first derivatives", "a graph of them to be kept", "use the composite engine");
    const auto saved = context->get_saved_variables();
    const std::vector<double> factors = context->saved_data["factors"].toDoubleVector();
    const double outer = gradients[0].item<double>();
    torch::Tensor slope = torch::empty_like(saved[0]);
    for (std::int64_t b = 0; b < slope.size(0); ++b) {
      const auto u = sample(saved[0], b), t = sample(saved[1], b);
      float* const to = slope.data_ptr<float>() + static_cast<std::size_t>(b) * u.size();
      const auto factor = static_cast<float>(outer * factors[static_cast<std::size_t>(b)]);
      for (std::size_t i = 0; i < u.size(); ++i) to[i] = factor * (u[i] - t[i]);
    }
    return {slope, torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor fused_l2(const torch::Tensor& prediction, const torch::Tensor& truth, const std::vector<double>& weights, bool relative) {
  if (prediction.sizes() != truth.sizes() || truth.scalar_type() != torch::kFloat32) {
    fail("the L2 loss", "a truth of the prediction's shape in float32", c10::str(truth.sizes(), " for ", prediction.sizes()));
  }
  return SampleL2::apply(prediction, truth, weights, relative);
}

}  // namespace lano
