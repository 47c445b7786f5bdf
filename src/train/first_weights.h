// The initial weights of a LANO (model.first_weights): truncated normal for linear maps and bias vectors, uniform for
// the stencil, zeros and ones for biases and norms. Each tensor has its own random stream, so every engine starts with
// the same numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "model_spec/lano_config.h"

namespace lano {

// Flat, in the order of runtime/lano_tensors.h.
std::vector<float> first_lano_weights(const LanoConfig& config, const LanoShape& shape, std::uint64_t seed);

}  // namespace lano
