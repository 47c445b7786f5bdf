// OFormer (Li, Meidani, Farimani, TMLR 2023): the input function is encoded on its points, and any point may ask for
// the solution.
//   encoder    z = MLP([position, input]);   L times  z <- LN(z), z <- z + Attn(z, z), z <- LN(z), z <- z + GFFN(z)
//   queries    q = W gelu(W' [sin 2 pi B x, cos 2 pi B x]),  B fixed, drawn from N(0, 1/4)
//   decoder    q <- q + Attn(q, z), q <- q + GFFN(q);   q <- q + MLP([LN(q), x]), one step of the propagator;   u =
//   MLP(LN(q))
// GFFN is gated, W (gelu(a) * b). Attn is linear attention with rotary embedding T of the coordinates
// (libtorch/rotary.h), per head
//   galerkin   o = T(q) (T(LN k)^T LN v) / N            fourier   o = T(LN q) (T(LN k)^T v) / N
// with norms over the head's channels and without parameters (the public code's instance norm acts along the channels).
// Coordinates x are those of the unit box of the training points: the quickest pair turns 64 radians per unit, as if an
// axis had 64 points. Heads are C/H wide. The propagator is applied once: steady, one step ahead or, through the time
// in z, at any time. Cost O(NCD) in addition to the maps of single points.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/error.h"
#include "libtorch/baseline.h"
#include "libtorch/baselines.h"
#include "libtorch/features.h"
#include "libtorch/linear_attention.h"
#include "libtorch/rotary.h"

namespace lano {
namespace {

namespace nn = torch::nn;

nn::Linear unbiased(std::int64_t in, std::int64_t out) { return nn::Linear(nn::LinearOptions(in, out).bias(false)); }

class RotaryAttention : public nn::Module {
 public:
  explicit RotaryAttention(const BaselineConfig& config)
      : heads_(config.heads), dropout_(config.dropout), kind_(config.attention) {
    const std::int64_t c = config.width;
    q_ = register_module("q", unbiased(c, c));
    k_ = register_module("k", unbiased(c, c));
    v_ = register_module("v", unbiased(c, c));
    out_ = register_module("out", nn::Linear(c, c));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& z, const torch::Tensor& angles) {
    torch::Tensor q = split_heads(q_(x), heads_), k = split_heads(k_(z), heads_), v = split_heads(v_(z), heads_);
    torch::Tensor& other = kind_ == LinearAttentionKind::galerkin ? v : q;
    k = torch::layer_norm(k, {k.size(3)});
    other = torch::layer_norm(other, {other.size(3)});
    const torch::Tensor mean =
        torch::matmul(rotate_pairs(k, angles).transpose(2, 3), v) / static_cast<double>(z.size(1));
    return torch::dropout(out_(join_heads(torch::matmul(rotate_pairs(q, angles), mean))), dropout_, is_training());
  }

 private:
  std::int64_t heads_;
  double dropout_;
  LinearAttentionKind kind_;
  nn::Linear q_{nullptr}, k_{nullptr}, v_{nullptr}, out_{nullptr};
};

class GatedFeedForward : public nn::Module {
 public:
  explicit GatedFeedForward(const BaselineConfig& config) : dropout_(config.dropout) {
    linear1_ = register_module("linear1", nn::Linear(config.width, 2 * config.ffn_ratio * config.width));
    linear2_ = register_module("linear2", nn::Linear(config.ffn_ratio * config.width, config.width));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto halves = linear1_(x).chunk(2, -1);
    return torch::dropout(linear2_(torch::gelu(halves[0]) * halves[1]), dropout_, is_training());
  }

 private:
  double dropout_;
  nn::Linear linear1_{nullptr}, linear2_{nullptr};
};

class OFormerBlock : public nn::Module {
 public:
  explicit OFormerBlock(const BaselineConfig& config) {
    const nn::LayerNormOptions over({config.width});
    norm1_ = register_module("norm1", nn::LayerNorm(over));
    attention_ = register_module("attention", std::make_shared<RotaryAttention>(config));
    norm2_ = register_module("norm2", nn::LayerNorm(over));
    ffn_ = register_module("ffn", std::make_shared<GatedFeedForward>(config));
  }

  torch::Tensor forward(torch::Tensor z, const torch::Tensor& angles) {
    z = norm1_(z);
    z = norm2_(z + attention_->forward(z, z, angles));
    return z + ffn_->forward(z);
  }

 private:
  nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  std::shared_ptr<RotaryAttention> attention_;
  std::shared_ptr<GatedFeedForward> ffn_;
};

class OFormer : public Baseline {
 public:
  OFormer(const BaselineConfig& config, const LanoShape& shape) : Baseline(config, shape) {
    const std::int64_t c = config.width, half = std::max<std::int64_t>(1, c / 2);
    if (c / config.heads < 2 * shape.dims) {
      fail_usage("making an OFormer", fmt::format("heads of at least {} channels, two per coordinate", 2 * shape.dims),
                 fmt::format("{}", c / config.heads), "lower model.heads or raise model.width");
    }
    register_encoder(/*placeholder=*/false);
    nn::ModuleList blocks;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      blocks_.push_back(std::make_shared<OFormerBlock>(config));
      blocks->push_back(blocks_.back());
    }
    register_module("blocks", blocks);
    waves_ = register_buffer("waves", 0.5 * torch::randn({shape.dims, half}));
    query1_ = register_module("query1", unbiased(2 * half, c));
    query2_ = register_module("query2", unbiased(c, c));
    cross_ = register_module("cross", std::make_shared<RotaryAttention>(config));
    ffn_ = register_module("ffn", std::make_shared<GatedFeedForward>(config));
    norm1_ = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({c})));
    step1_ = register_module("step1", unbiased(c + shape.dims, c));
    step2_ = register_module("step2", unbiased(c, c));
    step3_ = register_module("step3", unbiased(c, c));
    norm2_ = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({c})));
    decoder1_ = register_module("decoder1", unbiased(c, half));
    decoder2_ = register_module("decoder2", unbiased(half, half));
    decoder3_ = register_module("decoder3", nn::Linear(half, shape.output_channels));
    initialise_as_transformer();
  }

 private:
  torch::Tensor apply(const Points& points) override {
    constexpr double kQuickest = 64;
    const torch::Tensor x = unit_coordinates(shape_, points.coordinates);
    const torch::Tensor angles = rotary_angles(x, config_.width / config_.heads, kQuickest);
    torch::Tensor z = encode(points);
    for (const auto& block : blocks_) z = block->forward(z, angles);
    const torch::Tensor phase = torch::matmul(x, 2 * std::numbers::pi * waves_);
    torch::Tensor q = query2_(torch::gelu(query1_(torch::cat({torch::sin(phase), torch::cos(phase)}, -1))));
    q = q + cross_->forward(q, z, angles);
    q = q + ffn_->forward(q);
    q = q + step3_(torch::gelu(step2_(torch::gelu(step1_(torch::cat({norm1_(q), x}, -1))))));
    return decoder3_(torch::gelu(decoder2_(torch::gelu(decoder1_(norm2_(q))))));
  }

  std::vector<std::shared_ptr<OFormerBlock>> blocks_;
  torch::Tensor waves_;  // B, [dx, C/2]
  std::shared_ptr<RotaryAttention> cross_;
  std::shared_ptr<GatedFeedForward> ffn_;
  nn::Linear query1_{nullptr}, query2_{nullptr}, step1_{nullptr}, step2_{nullptr}, step3_{nullptr};
  nn::Linear decoder1_{nullptr}, decoder2_{nullptr}, decoder3_{nullptr};
  nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
};

}  // namespace

std::shared_ptr<OperatorModel> make_oformer(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<OFormer>(config, shape);
}

}  // namespace lano
