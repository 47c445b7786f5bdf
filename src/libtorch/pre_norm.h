// The structure of LANO's blocks, for operators that differ from it in the attention alone:
//   f' = f + Attn(LN f),  f'' = f' + FFN(LN f'),  u = W LN(f_L) + b
// `Attention` is a module made from (config, shape) with forward(f, mesh): [B,N,C] -> [B,N,C]. Dropout acts after
// attention and feed-forward.
#pragma once

#include <memory>
#include <vector>

#include "libtorch/baseline.h"
#include "libtorch/feed_forward.h"

namespace lano {

template <class Attention>
class PreNormBlock : public torch::nn::Module {
 public:
  PreNormBlock(const BaselineConfig& config, const LanoShape& shape) : dropout_(config.dropout) {
    const torch::nn::LayerNormOptions over({config.width});
    norm1_ = register_module("norm1", torch::nn::LayerNorm(over));
    attention_ = register_module("attention", std::make_shared<Attention>(config, shape));
    norm2_ = register_module("norm2", torch::nn::LayerNorm(over));
    ffn_ = register_module("ffn",
                           std::make_shared<FeedForward>(config.width, config.ffn_ratio * config.width, config.width));
  }

  torch::Tensor forward(torch::Tensor f, const Shape& mesh) {
    f = f + torch::dropout(attention_->forward(norm1_(f), mesh), dropout_, is_training());
    return f + torch::dropout(ffn_->forward(norm2_(f)), dropout_, is_training());
  }

 private:
  double dropout_;
  torch::nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  std::shared_ptr<Attention> attention_;
  std::shared_ptr<FeedForward> ffn_;
};

template <class Attention>
class PreNormOperator : public Baseline {
 public:
  PreNormOperator(const BaselineConfig& config, const LanoShape& shape) : Baseline(config, shape) {
    register_encoder(/*placeholder=*/true);
    torch::nn::ModuleList blocks;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      blocks_.push_back(std::make_shared<PreNormBlock<Attention>>(config, shape));
      blocks->push_back(blocks_.back());
    }
    register_module("blocks", blocks);
    norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({config.width})));
    decoder_ = register_module("decoder", torch::nn::Linear(config.width, shape.output_channels));
    initialise_as_transformer();
  }

 private:
  torch::Tensor apply(const Points& points) override {
    torch::Tensor f = encode(points);
    for (const auto& block : blocks_) f = block->forward(f, points.mesh);
    return decoder_(norm_(f));
  }

  std::vector<std::shared_ptr<PreNormBlock<Attention>>> blocks_;
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Linear decoder_{nullptr};
};

}  // namespace lano
