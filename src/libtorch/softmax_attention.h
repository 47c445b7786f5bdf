// Exact softmax attention that keeps no N x N matrix, neither in the forward nor for the backward pass.
#pragma once

#include <torch/torch.h>

namespace lano {

// softmax(q k^T) v for q [B,H,N,D], k and v [B,H,M,D] (scale q beforehand), `rows` rows of queries at a time. Can be
// differentiated once.
torch::Tensor tiled_softmax_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                      std::int64_t rows);

}  // namespace lano
