// What a model does with a batch, whatever its task: steady and time-conditional models map it at once; autoregressive
// ones step a state, which is fed back in normalised form.
#pragma once

#include <functional>

#include "core/lano_config.h"
#include "train/tensor_set.h"

namespace lano {

Task task_of(const OperatorModel& model);  // steady for models without one

// The next state (normalised) from this one: the state's channels stand behind those of the input.
torch::Tensor step_state(OperatorModel& model, Batch batch, const torch::Tensor& state);

// Steps `state` (normalised, at the items' frames) `steps` times and hands each new state, normalised, to `see`.
// Gradients flow through all steps where they are enabled.
void roll_out(OperatorModel& model, const Batch& batch, torch::Tensor state, std::int64_t steps,
              const std::function<void(std::int64_t step, const torch::Tensor& state)>& see);

}  // namespace lano
