// Galerkin transformer (Cao, NeurIPS 2021): attention without a softmax over the points. Blocks are pre-norm with two
// norms in front of the attention, one for queries, one for keys and values, and a feed-forward network of ratio r. Per
// head, D = C/H, by `model.attention`:
//   galerkin   o = q (k^T v) / N + q,   q and k softmaxed over their channels (libtorch/linear_attention.h). This is
//   the form public comparisons
//              measure; the paper itself puts layer norms on k and v instead of the two softmaxes.
//   fourier    o = (LN(q) LN(k)^T) v / N,   a norm of each head's own. Nothing stands between the two products, so they
//   are taken from the
//              right, LN(q) (LN(k)^T v), and no N x N matrix is made.
// Cost O(NCD) for both, in addition to the maps of single points.
#include <vector>

#include "libtorch/baseline.h"
#include "libtorch/baselines.h"
#include "libtorch/feed_forward.h"
#include "libtorch/linear_attention.h"

namespace lano {
namespace {

namespace nn = torch::nn;

class FourierAttention : public nn::Module {
 public:
  explicit FourierAttention(const BaselineConfig& config) : heads_(config.heads), dropout_(config.dropout) {
    const std::int64_t c = config.width, d = c / heads_;
    q_ = register_module("q", nn::Linear(c, c));
    k_ = register_module("k", nn::Linear(c, c));
    v_ = register_module("v", nn::Linear(c, c));
    out_ = register_module("out", nn::Linear(c, c));
    for (const char* const side : {"norm_q", "norm_k"}) {
      scales_.push_back(register_parameter(std::string(side) + "_weight", torch::ones({heads_, 1, d})));
      scales_.push_back(register_parameter(std::string(side) + "_bias", torch::zeros({heads_, 1, d})));
    }
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& y) {
    const torch::Tensor q = normed(q_(x), 0), k = normed(k_(y), 2), v = split_heads(v_(y), heads_);
    const torch::Tensor o = torch::matmul(q, torch::matmul(k.transpose(2, 3), v) / static_cast<double>(y.size(1)));
    return out_(join_heads(torch::dropout(o, dropout_, is_training())));
  }

 private:
  torch::Tensor normed(const torch::Tensor& x, std::size_t first) const {  // [B,N,C] -> [B,H,N,D]
    const torch::Tensor heads = split_heads(x, heads_);
    return torch::layer_norm(heads, {heads.size(3)}) * scales_[first] + scales_[first + 1];
  }

  std::int64_t heads_;
  double dropout_;
  nn::Linear q_{nullptr}, k_{nullptr}, v_{nullptr}, out_{nullptr};
  std::vector<torch::Tensor> scales_;  // weight and bias of the queries' norm, then of the keys'
};

class GalerkinBlock : public nn::Module {
 public:
  explicit GalerkinBlock(const BaselineConfig& config) {
    const nn::LayerNormOptions over({config.width});
    norm1_ = register_module("norm1", nn::LayerNorm(over));
    norm1a_ = register_module("norm1a", nn::LayerNorm(over));
    if (config.attention == LinearAttentionKind::galerkin) {
      galerkin_ = register_module("attention", std::make_shared<LinearAttention>(config, LinearNorm::count));
    } else {
      fourier_ = register_module("attention", std::make_shared<FourierAttention>(config));
    }
    norm2_ = register_module("norm2", nn::LayerNorm(over));
    ffn_ = register_module("ffn",
                           std::make_shared<FeedForward>(config.width, config.ffn_ratio * config.width, config.width));
  }

  torch::Tensor forward(torch::Tensor f) {
    const torch::Tensor x = norm1_(f), y = norm1a_(f);
    f = f + (galerkin_ ? galerkin_->forward(x, y) : fourier_->forward(x, y));
    return f + ffn_->forward(norm2_(f));
  }

 private:
  nn::LayerNorm norm1_{nullptr}, norm1a_{nullptr}, norm2_{nullptr};
  std::shared_ptr<LinearAttention> galerkin_;
  std::shared_ptr<FourierAttention> fourier_;
  std::shared_ptr<FeedForward> ffn_;
};

class GalerkinTransformer : public Baseline {
 public:
  GalerkinTransformer(const BaselineConfig& config, const LanoShape& shape) : Baseline(config, shape) {
    register_encoder(/*placeholder=*/true);
    nn::ModuleList blocks;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      blocks_.push_back(std::make_shared<GalerkinBlock>(config));
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
    for (const auto& block : blocks_) f = block->forward(f);
    return decoder_(norm_(f));
  }

  std::vector<std::shared_ptr<GalerkinBlock>> blocks_;
  nn::LayerNorm norm_{nullptr};
  nn::Linear decoder_{nullptr};
};

}  // namespace

std::shared_ptr<OperatorModel> make_galerkin(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<GalerkinTransformer>(config, shape);
}

}  // namespace lano
