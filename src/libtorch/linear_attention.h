// Attention of linear cost with a softmax over the channels of queries and keys, shared by Galerkin, GNOT and ONO. Per
// head, D = C/H:
//   q = softmax_D(Wq x), k = softmax_D(Wk y), v = Wv y,   o_n = q_n (sum_m k_m v_m^T) / z_n + q_n,   out = Wo o
// with z_n the number of points y (a mean over the domain) or z_n = q_n . sum_m k_m (weights that sum to one). Cost
// O(NCD).
#pragma once

#include <torch/torch.h>

#include "model_spec/baseline_config.h"

namespace lano {

enum class LinearNorm { count, sum };

class LinearAttention : public torch::nn::Module {
 public:
  LinearAttention(const BaselineConfig& config, LinearNorm norm);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& y);  // [B,N,C], [B,M,C] -> [B,N,C]

 private:
  std::int64_t heads_;
  double dropout_;
  LinearNorm norm_;
  torch::nn::Linear q_{nullptr}, k_{nullptr}, v_{nullptr}, out_{nullptr};
};

// [B,N,C] -> [B,H,N,D] and back.
inline torch::Tensor split_heads(const torch::Tensor& x, std::int64_t heads) {
  return x.unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}
inline torch::Tensor join_heads(const torch::Tensor& x) { return x.transpose(1, 2).flatten(2); }

}  // namespace lano
