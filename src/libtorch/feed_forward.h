// Two linear maps with a GELU between them, point by point: the feed-forward network of the transformers, their lifting
// and their experts.
#pragma once

#include <torch/torch.h>

namespace lano {

class FeedForward : public torch::nn::Module {
 public:
  FeedForward(std::int64_t in, std::int64_t hidden, std::int64_t out) {
    linear1_ = register_module("linear1", torch::nn::Linear(in, hidden));
    linear2_ = register_module("linear2", torch::nn::Linear(hidden, out));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return linear2_(torch::gelu(linear1_(x)));
  }  // [..., in] -> [..., out]

 private:
  torch::nn::Linear linear1_{nullptr}, linear2_{nullptr};
};

}  // namespace lano
