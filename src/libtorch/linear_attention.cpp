#include "libtorch/linear_attention.h"

namespace lano {

LinearAttention::LinearAttention(const BaselineConfig& config, LinearNorm norm)
    : heads_(config.heads), dropout_(config.dropout), norm_(norm) {
  const std::int64_t c = config.width;
  q_ = register_module("q", torch::nn::Linear(c, c));
  k_ = register_module("k", torch::nn::Linear(c, c));
  v_ = register_module("v", torch::nn::Linear(c, c));
  out_ = register_module("out", torch::nn::Linear(c, c));
}

torch::Tensor LinearAttention::forward(const torch::Tensor& x, const torch::Tensor& y) {
  const torch::Tensor q = torch::softmax(split_heads(q_(x), heads_), -1);
  const torch::Tensor k = torch::softmax(split_heads(k_(y), heads_), -1);
  const torch::Tensor v = split_heads(v_(y), heads_);
  torch::Tensor o = torch::matmul(q, torch::matmul(k.transpose(2, 3), v));
  o = norm_ == LinearNorm::count ? o / static_cast<double>(y.size(1)) : o / (q * k.sum(2, true)).sum(-1, true);
  return out_(join_heads(torch::dropout(o + q, dropout_, is_training())));
}

}  // namespace lano
