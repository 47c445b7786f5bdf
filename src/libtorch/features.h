// What models see of a point besides its input fields: position features and the embedding of time. Shared by LANO and
// the baselines.
#pragma once

#include <torch/torch.h>

#include "model_spec/lano_config.h"

namespace lano {

// Coordinates [B,N,dx] as they are, or distances to the nodes of the reference grid in `shape.reference_box`:
// [B,N,8^dx].
torch::Tensor position_features(Position position, const LanoShape& shape, const torch::Tensor& coordinates);

// Coordinates with `shape.reference_box`, the box of the training points, as the unit box; as they are where there is
// none. For waves in space, whose lengths are those of a unit box. An axis along which the box has no extent is shifted
// only.
torch::Tensor unit_coordinates(const LanoShape& shape, const torch::Tensor& coordinates);

// sin and cos of tau w_k, w_k = 10000^(-k / (C/2)), k < C/2, where tau counts time steps since the first output: [B] ->
// [B,C].
torch::Tensor time_waves(const LanoShape& shape, const torch::Tensor& time, std::int64_t width,
                         torch::TensorOptions options);

}  // namespace lano
