// The least memory that the training of a recipe takes, known from its sizes alone: what a machine cannot hold is
// refused before any of it is allocated.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "train/config.h"

namespace lano {

struct MemoryNeed {
  double weights = 0;  // numbers in the parameters
  double bytes = 0;    // of training: weights, gradients, moments, copies, and what a batch keeps for the way back
};

// samples: of the training split. Zero where nothing is known of the model.
MemoryNeed memory_need(const TrainConfig& config, const nlohmann::json& architecture, std::int64_t samples);

void check_memory(const TrainConfig& config, const nlohmann::json& architecture, std::int64_t samples);

}  // namespace lano
