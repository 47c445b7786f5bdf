#include "train/loss.h"

#include "ops/fused_loss.h"

namespace lano {

torch::Tensor relative_l2_loss(const torch::Tensor& prediction, const torch::Tensor& truth) {
  if (prediction.scalar_type() == torch::kFloat32 && prediction.device().is_cpu()) return fused_relative_l2(prediction, truth);
  const torch::Tensor error = (prediction - truth).flatten(1), reference = truth.flatten(1);
  // As the metric: where the truth is zero, the plain norm of the error.
  const torch::Tensor norm = reference.norm(2, 1);
  return (error.norm(2, 1) / torch::where(norm > 0, norm, torch::ones_like(norm))).mean();
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
