// Transolver (Wu et al., ICML 2024): attention among G learned slices of the domain instead of among N points. Per
// head, with D = C/H:
//   w = softmax_G(P x / tau)            [N,G]  each point's share in each slice; P: D -> G, tau learned
//   s_g = sum_n w_ng y_n / sum_n w_ng   [G,D]  slice tokens of y
//   t = softmax(q k^T / sqrt(D)) v      [G,D]  attention among them, q, k, v linear in s
//   o_n = sum_g w_ng t_g                [N,D]
// x and y are linear in LN(f) on clouds; on grids and meshes they are 3x3 (3x3x3) convolutions of it. Blocks are
// pre-norm with a feed-forward network of ratio r, the last one ends in LN and a linear map. Cost O(NGC + G^2 C) in
// addition to the maps of single points.
#include <cmath>
#include <vector>

#include "libtorch/baseline.h"
#include "libtorch/baselines.h"
#include "libtorch/images.h"

namespace lano {
namespace {

namespace nn = torch::nn;

class PhysicsAttention : public nn::Module {
 public:
  PhysicsAttention(const BaselineConfig& config, std::int64_t axes) : heads_(config.heads), dropout_(config.dropout) {
    const std::int64_t c = config.width, d = c / heads_;
    if (axes == 0) {
      x_ = nn::AnyModule(register_module("x", nn::Linear(c, c)));
      y_ = nn::AnyModule(register_module("y", nn::Linear(c, c)));
    } else {
      x_ = register_convolution(*this, "x", axes, c, c, 3);
      y_ = register_convolution(*this, "y", axes, c, c, 3);
    }
    slice_ = register_module("slice", nn::Linear(d, config.slices));
    temperature_ = register_parameter("temperature", torch::full({1, heads_, 1, 1}, 0.5));
    q_ = register_module("q", nn::Linear(nn::LinearOptions(d, d).bias(false)));
    k_ = register_module("k", nn::Linear(nn::LinearOptions(d, d).bias(false)));
    v_ = register_module("v", nn::Linear(nn::LinearOptions(d, d).bias(false)));
    out_ = register_module("out", nn::Linear(c, c));
  }

  torch::Tensor forward(const torch::Tensor& f, const Shape& mesh) {
    const auto heads_of = [&](nn::AnyModule& map) {
      const torch::Tensor mapped = mesh.empty() ? map.forward(f) : from_image(map.forward(to_image(f, mesh)));
      return mapped.unflatten(2, {heads_, -1}).transpose(1, 2);  // [B,H,N,D]
    };
    const torch::Tensor x = heads_of(x_), y = heads_of(y_);
    // Structured meshes limit the temperature, clouds do not: as published.
    const torch::Tensor tau = mesh.empty() ? temperature_ : temperature_.clamp(0.1, 5);
    const torch::Tensor w = torch::softmax(slice_(x) / tau, -1);                                         // [B,H,N,G]
    const torch::Tensor tokens = torch::matmul(w.transpose(2, 3), y) / (w.sum(2).unsqueeze(-1) + 1e-5);  // [B,H,G,D]
    const double scale = 1 / std::sqrt(static_cast<double>(tokens.size(3)));
    const torch::Tensor share = torch::softmax(torch::matmul(q_(tokens), k_(tokens).transpose(2, 3)) * scale, -1);
    const torch::Tensor mixed = torch::matmul(torch::dropout(share, dropout_, is_training()), v_(tokens));
    return torch::dropout(out_(torch::matmul(w, mixed).transpose(1, 2).flatten(2)), dropout_, is_training());
  }

 private:
  std::int64_t heads_;
  double dropout_;
  nn::AnyModule x_, y_;
  nn::Linear slice_{nullptr}, q_{nullptr}, k_{nullptr}, v_{nullptr}, out_{nullptr};
  torch::Tensor temperature_;
};

class TransolverBlock : public nn::Module {
 public:
  TransolverBlock(const BaselineConfig& config, std::int64_t axes) {
    const std::int64_t c = config.width;
    norm1_ = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({c})));
    attention_ = register_module("attention", std::make_shared<PhysicsAttention>(config, axes));
    norm2_ = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({c})));
    ffn1_ = register_module("ffn1", nn::Linear(c, config.ffn_ratio * c));
    ffn2_ = register_module("ffn2", nn::Linear(config.ffn_ratio * c, c));
  }

  torch::Tensor forward(torch::Tensor f, const Shape& mesh) {
    f = f + attention_->forward(norm1_(f), mesh);
    return f + ffn2_(torch::gelu(ffn1_(norm2_(f))));
  }

 private:
  nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  std::shared_ptr<PhysicsAttention> attention_;
  nn::Linear ffn1_{nullptr}, ffn2_{nullptr};
};

class Transolver : public Baseline {
 public:
  Transolver(const BaselineConfig& config, const LanoShape& shape) : Baseline(config, shape) {
    register_encoder(/*placeholder=*/true);
    nn::ModuleList blocks;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      blocks_.push_back(std::make_shared<TransolverBlock>(config, shape.axes));
      blocks->push_back(blocks_.back());
    }
    register_module("blocks", blocks);
    norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({config.width})));
    decoder_ = register_module("decoder", nn::Linear(config.width, shape.output_channels));
    initialise_as_transformer();
  }

 private:
  torch::Tensor apply(const Points& points) override {
    torch::Tensor f = encode(points);
    for (const auto& block : blocks_) f = block->forward(f, points.mesh);
    return decoder_(norm_(f));
  }

  std::vector<std::shared_ptr<TransolverBlock>> blocks_;
  nn::LayerNorm norm_{nullptr};
  nn::Linear decoder_{nullptr};
};

}  // namespace

std::shared_ptr<OperatorModel> make_transolver(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<Transolver>(config, shape);
}

}  // namespace lano
