// Rotary position embedding (Su et al. 2021) of points in space: channels are turned in pairs by angles proportional to
// the coordinates, so that the product of a turned query with a turned key depends on the difference of their points
// alone.
#pragma once

#include <torch/torch.h>

namespace lano {

// Angles s x_a 10000^(-j/P) of the pairs j < P = floor(D/(2 dx)) of each axis a: [B,N,dx] -> [B,1,N,dx P].
torch::Tensor rotary_angles(const torch::Tensor& coordinates, std::int64_t channels, double scale);

// [B,H,N,D] with channels (2i, 2i+1) turned by angle i; channels without an angle stay.
torch::Tensor rotate_pairs(const torch::Tensor& x, const torch::Tensor& angles);

}  // namespace lano
