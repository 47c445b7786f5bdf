// The tensors of a model file as the kernels want them, each checked against the shape its architecture asks for.
#pragma once

#include <map>
#include <string>

#include "core/lano_config.h"
#include "kernels/network.h"
#include "runtime/safetensors.h"

namespace lano {

struct TimeWeights {
  const float* first = nullptr;        // [C, C]; null where the model does not know time
  const float* first_bias = nullptr;   // [C]
  const float* second = nullptr;       // [C, C]
  const float* second_bias = nullptr;  // [C]
};

struct LanoWeights {
  kernels::Weights network;
  TimeWeights time;
};

// Pointers into `tensors`. Fails where one is missing, has another shape, or is unknown. `doing` opens the message.
LanoWeights lano_weights(const LanoConfig& config, const LanoShape& shape, const std::map<std::string, Tensor>& tensors, const std::string& doing);

}  // namespace lano
