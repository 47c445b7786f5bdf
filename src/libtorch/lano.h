// The Linear Attention Neural Operator (Zhong, Yan). Two engines: plain LibTorch modules, the composite engine, which
// is the reference; and the fused kernels, for float32 on the CPU. Shapes: B samples, N points, M agents, C width, H
// heads, D = C/H. Equations are in docs/model.md.
#pragma once

#include <vector>

#include "libtorch/operator_model.h"
#include "model_spec/lano_config.h"
#include "model_spec/lano_layout.h"

namespace lano {

// The layout of a batch, and for clouds whose stencil reads neighbours the entries of all points together: point
// reader[e] of B N takes weight[e] filter[tap[e]] times the value at point other[e].
struct BatchLayout : Layout {
  torch::Tensor reader, other, tap, weight;  // [entries]; undefined: the stencil runs along axes
};

// softmax attention through M agents: O = softmax(Q A^T + B2) softmax(A K^T + B1) V, plus the depthwise stencil of V.
class AgentAttention : public torch::nn::Module {
 public:
  AgentAttention(const LanoConfig& config, const LanoShape& shape);
  torch::Tensor forward(const torch::Tensor& x, const BatchLayout& layout);  // [B,N,C] -> [B,N,C]
  void use_patches(const std::vector<std::int64_t>& patches) { used_patches_ = patches; }

 private:
  using Axes = std::vector<AxisLayout>;
  torch::Tensor attend(const torch::Tensor& qkv, const Shape& mesh, const Axes& axes);    // [B,N,3C] -> [B,N,C]
  torch::Tensor pool(const torch::Tensor& q, const Shape& mesh, const Axes& axes) const;  // [B,N,C] -> [B,M,C]
  // A vector living on the trained patches, read at places of each axis, in patches: [M] -> [product of the axes].
  torch::Tensor interpolate(const torch::Tensor& vector, const std::vector<std::vector<double>>& places) const;
  // Where points and agents lie on each axis, counted in trained patches.
  struct Places {
    std::vector<std::vector<double>> points, agents;
  };
  Places places_of(std::int64_t points, const Shape& mesh, const Axes& axes) const;
  std::pair<torch::Tensor, torch::Tensor> biases(const Places& places) const;     // B1, B2
  torch::Tensor nearness(const Places& places, const torch::Tensor& like) const;  // [H, N, M], at most 0
  torch::Tensor exchanged(const torch::Tensor& y, const Places& places) const;    // [BH, M, D]

  LanoConfig config_;
  std::vector<std::int64_t> patches_;              // as trained: [M] along the order, or the patch grid
  std::vector<std::int64_t> used_patches_;         // as requested at run time
  std::vector<bool> periodic_;                     // of each axis of the patches
  torch::nn::Linear qkv_{nullptr}, out_{nullptr};  // rows of qkv: queries, keys, values
  torch::Tensor dwc_, b1_, b2_, b3_, b4_, latent_, exchange_;
};

// f' = f + Attn(LN f);  f'' = f' + FFN(LN f')
class AgentBlock : public torch::nn::Module {
 public:
  AgentBlock(const LanoConfig& config, const LanoShape& shape, std::int64_t number);
  torch::Tensor forward(torch::Tensor f, const BatchLayout& layout, const kernels::Dropout& dropout);
  AgentAttention& attention() { return *attention_; }

 private:
  torch::Tensor drop(const torch::Tensor& x, const Layout& layout, const kernels::Dropout& dropout,
                     kernels::Branch branch) const;

  std::int64_t number_;
  torch::nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  std::shared_ptr<AgentAttention> attention_;
  torch::nn::Linear up_{nullptr}, down_{nullptr};
  torch::Tensor dwc_;  // of the hidden features
};

class Lano : public OperatorModel {
 public:
  Lano(const nlohmann::json& architecture, std::uint64_t seed);
  torch::Tensor forward(const Batch& batch) override;
  nlohmann::json architecture() const override { return to_json(config_, shape_); }
  std::vector<double> order_box() const override { return shape_.order_box; }
  std::int64_t use_agents(std::int64_t agents) override;
  void name_pass(const kernels::Dropout& pass) override { pass_ = pass; }

 private:
  Lano(std::pair<LanoConfig, LanoShape> read, std::uint64_t seed);
  void initialise(std::uint64_t seed);
  torch::Tensor time_features(const Batch& batch);  // [samples, C]
  BatchLayout layout_of(const Batch& batch) const;

  LanoConfig config_;
  LanoShape shape_;
  torch::nn::Linear encoder1_{nullptr}, encoder2_{nullptr}, decoder_hidden_{nullptr}, decoder_{nullptr},
      time1_{nullptr}, time2_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  torch::Tensor placeholder_;
  std::vector<std::shared_ptr<AgentBlock>> blocks_;
  kernels::Dropout pass_;  // whose masks the next forward pass draws
};

}  // namespace lano
