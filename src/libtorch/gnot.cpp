// GNOT (Hao et al., ICML 2023): points ask the input function by normalised linear attention, and experts chosen by
// place transform them. With x0 = MLP(position) the queries, y0 = MLP([position, input]) + p the input function and g =
// softmax_E(MLP(coordinates)) the gate, a block is
//   x1 = x0 + Cross(LN x0, LN y),            x2 = x1 + LN( sum_e g_e Expert_e(x1) )
//   x3 = x2 + Self(LN x2),                   y' = x3 + LN( sum_e g_e Expert'_e(x3) )
// with attention whose weights sum to one (libtorch/linear_attention.h). Every block starts from x0 again, as in the
// public comparisons; the next one reads y'. All input channels are one function on the points themselves, so there is
// one cross attention where the paper may have several. Cost O(NCD) for attention and 2E feed-forward networks per
// block: the experts are most of the work.
#include <vector>

#include "libtorch/baseline.h"
#include "libtorch/baselines.h"
#include "libtorch/feed_forward.h"
#include "libtorch/linear_attention.h"

namespace lano {
namespace {

namespace nn = torch::nn;

class Experts : public nn::Module {
 public:
  explicit Experts(const BaselineConfig& config) {
    const std::int64_t c = config.width;
    for (std::int64_t e = 0; e < config.experts; ++e) {
      experts_.push_back(register_module(std::to_string(e), std::make_shared<FeedForward>(c, config.ffn_ratio * c, c)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& gate) {  // [B,N,C], [B,N,E] -> [B,N,C]
    torch::Tensor sum;
    for (std::size_t e = 0; e < experts_.size(); ++e) {
      const torch::Tensor part = experts_[e]->forward(x) * gate.narrow(2, static_cast<std::int64_t>(e), 1);
      sum = e == 0 ? part : sum + part;
    }
    return sum;
  }

 private:
  std::vector<std::shared_ptr<FeedForward>> experts_;
};

class GnotBlock : public nn::Module {
 public:
  GnotBlock(const BaselineConfig& config, std::int64_t dims) : dropout_(config.dropout) {
    for (int i = 1; i <= 5; ++i) {
      norms_.push_back(
          register_module("norm" + std::to_string(i), nn::LayerNorm(nn::LayerNormOptions({config.width}))));
    }
    self_ = register_module("self", std::make_shared<LinearAttention>(config, LinearNorm::sum));
    cross_ = register_module("cross", std::make_shared<LinearAttention>(config, LinearNorm::sum));
    experts1_ = register_module("experts1", std::make_shared<Experts>(config));
    experts2_ = register_module("experts2", std::make_shared<Experts>(config));
    const std::int64_t hidden = config.ffn_ratio * config.width;
    gate1_ = register_module("gate1", nn::Linear(dims, hidden));
    gate2_ = register_module("gate2", nn::Linear(hidden, hidden));
    gate3_ = register_module("gate3", nn::Linear(hidden, config.experts));
  }

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& y, const torch::Tensor& coordinates) {
    const torch::Tensor gate =
        torch::softmax(gate3_(torch::gelu(gate2_(torch::gelu(gate1_(coordinates))))), -1);  // [B,N,E]
    x = x + torch::dropout(cross_->forward(norms_[0](x), norms_[1](y)), dropout_, is_training());
    x = x + norms_[2](experts1_->forward(x, gate));
    const torch::Tensor own = norms_[3](x);
    x = x + torch::dropout(self_->forward(own, own), dropout_, is_training());
    return x + norms_[4](experts2_->forward(x, gate));
  }

 private:
  double dropout_;
  std::vector<nn::LayerNorm> norms_;
  std::shared_ptr<LinearAttention> self_, cross_;
  std::shared_ptr<Experts> experts1_, experts2_;
  nn::Linear gate1_{nullptr}, gate2_{nullptr}, gate3_{nullptr};
};

class Gnot : public Baseline {
 public:
  Gnot(const BaselineConfig& config, const LanoShape& shape) : Baseline(config, shape) {
    const std::int64_t c = config.width;
    register_encoder(/*placeholder=*/true);
    queries_ = register_module("queries", std::make_shared<FeedForward>(position_channels(), 2 * c, c));
    nn::ModuleList blocks;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      blocks_.push_back(std::make_shared<GnotBlock>(config, shape.dims));
      blocks->push_back(blocks_.back());
    }
    register_module("blocks", blocks);
    decoder_ = register_module("decoder", std::make_shared<FeedForward>(c, 2 * c, shape.output_channels));
    initialise_as_transformer();
  }

 private:
  torch::Tensor apply(const Points& points) override {
    const torch::Tensor x = queries_->forward(points.position);
    torch::Tensor y = encode(points);
    for (const auto& block : blocks_) y = block->forward(x, y, points.coordinates);
    return decoder_->forward(y);
  }

  std::shared_ptr<FeedForward> queries_, decoder_;
  std::vector<std::shared_ptr<GnotBlock>> blocks_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_gnot(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<Gnot>(config, shape);
}

}  // namespace lano
