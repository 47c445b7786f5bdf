// ONO, orthogonal neural operator (Xiao et al., ICML 2024), with linear attention. Two streams: x learns K functions on
// the points, y is the solution, which is projected onto them after they were made orthonormal. A block is
//   x' = x + Attn(LN x),  x'' = x' + FFN(LN x')            attention of libtorch/linear_attention.h
//   p = P x''   [N,K],    S = mean of p p^T = R R^T        Cholesky of the K x K covariance
//   e = p R^-T,           y' = MLP(LN( e diag(softplus mu) e^T y + y ))
// so that the mean of e e^T is the identity. In training S is of the batch, and a running mean of it (momentum 0.9) is
// kept for evaluation, as batch norm does. The product e^T y is a sum over the points, as published, and so grows with
// their number; the norm after it removes most of that. Cost O(N C (D + K)) in addition to the maps of single points,
// and K^3 for the factor.
#include <cmath>
#include <vector>

#include "core/error.h"
#include "libtorch/baseline.h"
#include "libtorch/baselines.h"
#include "libtorch/feed_forward.h"
#include "libtorch/linear_attention.h"

namespace lano {
namespace {

namespace nn = torch::nn;

[[noreturn]] void fail_to_factor(const char* expected, const char* found) {
  throw DivergedError(
      error_message("making the features of an ONO orthogonal", expected, found, "lower schedule.learning_rate"));
}

// The lower factor R of a covariance [K,K]. One that is only semidefinite gets a ridge, which grows until there is a
// factor.
torch::Tensor lower_factor(const torch::Tensor& covariance) {
  const auto factor = [](const torch::Tensor& matrix) {
    auto [lower, info] = torch::linalg_cholesky_ex(matrix);
    return info.item<int>() == 0 && torch::isfinite(lower).all().item<bool>() ? lower : torch::Tensor();
  };
  torch::Tensor lower = factor(covariance);
  if (lower.defined()) return lower;
  if (!torch::isfinite(covariance).all().item<bool>()) fail_to_factor("finite features", "values that are not");
  const torch::Tensor one = torch::eye(covariance.size(0), covariance.options());
  double ridge = covariance.scalar_type() == torch::kFloat32 ? 1e-6 : 1e-8;
  for (int i = 0; i < 10; ++i, ridge *= 10) {
    lower = factor(covariance + ridge * one);
    if (lower.defined()) return lower;
  }
  fail_to_factor("a covariance that a small ridge makes definite", "one with large negative eigenvalues");
}

class OnoBlock : public nn::Module {
 public:
  OnoBlock(const BaselineConfig& config, std::int64_t output_channels, bool last) {
    const std::int64_t c = config.width, hidden = config.ffn_ratio * c, k = config.features;
    const nn::LayerNormOptions over({c});
    norm1_ = register_module("norm1", nn::LayerNorm(over));
    attention_ = register_module("attention", std::make_shared<LinearAttention>(config, LinearNorm::count));
    norm2_ = register_module("norm2", nn::LayerNorm(over));
    ffn_ = register_module("ffn", std::make_shared<FeedForward>(c, hidden, c));
    project_ = register_module("project", nn::Linear(c, k));
    mu_ = register_parameter("mu", torch::zeros({k}));
    covariance_ = register_buffer("covariance", torch::zeros({k, k}));  // zero: no training pass yet
    norm3_ = register_module("norm3", nn::LayerNorm(over));
    if (last) {
      decoder_ = register_module("out", nn::Linear(c, output_channels));
    } else {
      out_ = register_module("out", std::make_shared<FeedForward>(c, hidden, c));
    }
  }

  void forward(torch::Tensor& x, torch::Tensor& y) {
    const torch::Tensor own = norm1_(x);
    x = x + attention_->forward(own, own);
    x = x + ffn_->forward(norm2_(x));
    const torch::Tensor p = project_(x);  // [B,N,K]
    const torch::Tensor rows = p.flatten(0, 1);
    const torch::Tensor factor = lower_factor(covariance_of(rows)).t();
    const torch::Tensor e =
        torch::linalg_solve_triangular(factor, rows, /*upper=*/true, /*left=*/false).reshape(p.sizes());  // e R^T = p
    y = y + torch::matmul(e * torch::softplus(mu_), torch::matmul(e.transpose(1, 2), y));
    y = out_ ? out_->forward(norm3_(y)) : decoder_(norm3_(y));
  }

 private:
  torch::Tensor covariance_of(const torch::Tensor& rows) {
    const bool fresh = !covariance_.any().item<bool>();
    if (!is_training() && !fresh) return covariance_;
    const torch::Tensor batch = torch::matmul(rows.t(), rows) / static_cast<double>(rows.size(0));
    if (is_training()) {
      constexpr double kMomentum = 0.9;
      const torch::NoGradGuard no_grad;
      covariance_.copy_(fresh ? batch : kMomentum * covariance_ + (1 - kMomentum) * batch);
    }
    return batch;
  }

  nn::LayerNorm norm1_{nullptr}, norm2_{nullptr}, norm3_{nullptr};
  std::shared_ptr<LinearAttention> attention_;
  std::shared_ptr<FeedForward> ffn_, out_;
  nn::Linear project_{nullptr}, decoder_{nullptr};
  torch::Tensor mu_, covariance_;
};

class Ono : public Baseline {
 public:
  Ono(const BaselineConfig& config, const LanoShape& shape) : Baseline(config, shape) {
    const std::int64_t c = config.width;
    register_encoder(/*placeholder=*/true);
    functions_ = register_module("functions",
                                 std::make_shared<FeedForward>(position_channels() + shape.input_channels, 2 * c, c));
    nn::ModuleList blocks;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      blocks_.push_back(std::make_shared<OnoBlock>(config, shape.output_channels, l + 1 == config.layers));
      blocks->push_back(blocks_.back());
    }
    register_module("blocks", blocks);
    initialise_as_transformer();
  }

 private:
  torch::Tensor apply(const Points& points) override {
    torch::Tensor x = functions_->forward(torch::cat({points.position, points.input}, -1));
    torch::Tensor y = encode(points);
    for (const auto& block : blocks_) block->forward(x, y);
    return y;
  }

  std::shared_ptr<FeedForward> functions_;
  std::vector<std::shared_ptr<OnoBlock>> blocks_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_ono(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<Ono>(config, shape);
}

}  // namespace lano
