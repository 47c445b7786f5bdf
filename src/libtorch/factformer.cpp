// FactFormer (Li et al., NeurIPS 2023): attention along one axis of a grid after the other instead of among all points.
// Per axis a of n_a points
//   h_a = MLP(LN( W mean over the other axes of f ))        [n_a,C]  the axis as a line; MLP with one residual layer
//   inside A_a = softmax(q_a k_a^T / sqrt(D))                      [n_a,n_a] per head, q_a and k_a linear in h_a
// and o = A_1 A_2 (A_3) v, each along its own axis, v linear in f; these small maps (D x D) are shared by the heads. On
// one axis there is nothing to average, and it is softmax attention of f itself, as in the public comparisons. Cost O(N
// C sum_a n_a + sum_a n_a^2 C): for n x n points N^1.5.
#include <cmath>
#include <vector>

#include "core/error.h"
#include "libtorch/baselines.h"
#include "libtorch/linear_attention.h"
#include "libtorch/pre_norm.h"

namespace lano {
namespace {

namespace nn = torch::nn;

// The weights A_a along one axis.
class AxisWeights : public nn::Module {
 public:
  AxisWeights(const BaselineConfig& config, bool averaged) : heads_(config.heads) {
    const std::int64_t c = config.width, d = c / heads_;
    if (averaged) {
      in_ = register_module("in", nn::Linear(nn::LinearOptions(c, c).bias(false)));
      norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({c})));
      mlp1_ = register_module("mlp1", nn::Linear(c, c));
      mlp2_ = register_module("mlp2", nn::Linear(c, c));
      mlp3_ = register_module("mlp3", nn::Linear(c, c));
    }
    q_ = register_module("q", nn::Linear(nn::LinearOptions(d, d).bias(false)));
    k_ = register_module("k", nn::Linear(nn::LinearOptions(d, d).bias(false)));
  }

  torch::Tensor forward(torch::Tensor line) {  // [B,n,C] -> [B,H,n,n]
    if (in_) {
      line = torch::gelu(mlp1_(norm_(in_(line))));
      line = mlp3_(line + torch::gelu(mlp2_(line)));
    }
    const torch::Tensor heads = split_heads(line, heads_);
    return torch::softmax(
        torch::matmul(q_(heads), k_(heads).transpose(2, 3)) / std::sqrt(static_cast<double>(heads.size(3))), -1);
  }

 private:
  std::int64_t heads_;
  nn::Linear in_{nullptr}, mlp1_{nullptr}, mlp2_{nullptr}, mlp3_{nullptr}, q_{nullptr}, k_{nullptr};
  nn::LayerNorm norm_{nullptr};
};

class FactAttention : public nn::Module {
 public:
  FactAttention(const BaselineConfig& config, const LanoShape& shape) : heads_(config.heads) {
    const std::int64_t c = config.width, d = c / heads_;
    for (std::int64_t a = 0; a < shape.axes; ++a) {
      axes_.push_back(
          register_module("axis" + std::to_string(a), std::make_shared<AxisWeights>(config, shape.axes > 1)));
    }
    v_ = register_module("v", nn::Linear(nn::LinearOptions(d, d).bias(false)));
    out_ = register_module("out", nn::Linear(c, c));
  }

  torch::Tensor forward(const torch::Tensor& f, const Shape& mesh) {
    const torch::Tensor image = f.unflatten(1, at::IntArrayRef(mesh));                 // [B,n1,n2,...,C]
    torch::Tensor o = v_(split_heads(f, heads_)).unflatten(2, at::IntArrayRef(mesh));  // [B,H,n1,n2,...,D]
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      // The mean before the map W, which it commutes with: N C^2 operations less.
      std::vector<std::int64_t> others;
      for (std::size_t b = 0; b < axes_.size(); ++b) {
        if (b != a) others.push_back(static_cast<std::int64_t>(b) + 1);
      }
      const torch::Tensor weights = axes_[a]->forward(others.empty() ? image : image.mean(others));
      const torch::Tensor front = o.transpose(2, static_cast<std::int64_t>(a) + 2);  // the axis first
      o = torch::matmul(weights, front.flatten(3))
              .reshape(front.sizes())
              .transpose(2, static_cast<std::int64_t>(a) + 2);
    }
    return out_(join_heads(o.flatten(2, -2)));
  }

 private:
  std::int64_t heads_;
  std::vector<std::shared_ptr<AxisWeights>> axes_;
  nn::Linear v_{nullptr}, out_{nullptr};
};

}  // namespace

std::shared_ptr<OperatorModel> make_factformer(const BaselineConfig& config, const LanoShape& shape) {
  if (shape.axes == 0) {
    fail_usage("making a FactFormer", "a grid or mesh of one to three axes", axes_text(shape.axes),
               "choose a model for point clouds");
  }
  return std::make_shared<PreNormOperator<FactAttention>>(config, shape);
}

}  // namespace lano
