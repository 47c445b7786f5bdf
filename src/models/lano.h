// The Linear Attention Neural Operator (Zhong, Yan) as plain LibTorch modules: the composite path, reference of every
// other engine. Shapes: B samples, N points, M agents, C width, H heads, D = C/H. Equations are in docs/model.md.
#pragma once

#include <vector>

#include "core/lano_config.h"
#include "models/operator_model.h"

namespace lano {

// softmax attention through M agents: O = softmax(Q A^T + B2) softmax(A K^T + B1) V, plus the depthwise stencil of V.
class AgentAttention : public torch::nn::Module {
 public:
  AgentAttention(const LanoConfig& config, const LanoShape& shape);
  torch::Tensor forward(const torch::Tensor& x, const Shape& mesh);  // [B,N,C] -> [B,N,C]

 private:
  torch::Tensor pool(const torch::Tensor& q, const Shape& mesh) const;             // [B,N,C] -> [B,M,C]
  torch::Tensor interpolate(const torch::Tensor& vector, const Shape& mesh) const; // [M] -> [N]
  torch::Tensor stencil(const torch::Tensor& v, const Shape& mesh) const;          // [B,N,C] -> [B,N,C]
  Shape pool_mesh(const Shape& mesh, std::int64_t points) const;                   // the axes pooling works on
  std::pair<torch::Tensor, torch::Tensor> biases(const Shape& mesh) const;         // B1, B2, undefined for none

  LanoConfig config_;
  std::vector<std::int64_t> patches_;  // [M] along the order, or the patch grid
  torch::nn::Linear qkv_{nullptr}, out_{nullptr};  // rows of qkv: queries, keys, values
  torch::Tensor dwc_, b1_, b2_, b3_, b4_, latent_;
};

// f' = f + Attn(LN f);  f'' = f' + FFN(LN f')
class AgentBlock : public torch::nn::Module {
 public:
  AgentBlock(const LanoConfig& config, const LanoShape& shape);
  torch::Tensor forward(torch::Tensor f, const Shape& mesh);

 private:
  torch::nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  std::shared_ptr<AgentAttention> attention_;
  torch::nn::Linear up_{nullptr}, down_{nullptr};
};

class Lano : public OperatorModel {
 public:
  Lano(const nlohmann::json& architecture, std::uint64_t seed);
  torch::Tensor forward(const Batch& batch) override;
  nlohmann::json architecture() const override { return to_json(config_, shape_); }
  std::vector<double> order_box() const override { return shape_.order_box; }

 private:
  void initialise(std::uint64_t seed);
  torch::Tensor position_features(const torch::Tensor& coordinates) const;

  LanoConfig config_;
  LanoShape shape_;
  torch::nn::Linear encoder1_{nullptr}, encoder2_{nullptr}, decoder_hidden_{nullptr}, decoder_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  torch::Tensor placeholder_;
  std::vector<std::shared_ptr<AgentBlock>> blocks_;
};

}  // namespace lano
