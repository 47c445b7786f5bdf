#include "train/rollout.h"

namespace lano {

Task task_of(const OperatorModel& model) {
  const std::string task = model.architecture().value("task", "steady");
  return task == "autoregressive" ? Task::autoregressive : task == "time_conditional" ? Task::time_conditional : Task::steady;
}

torch::Tensor step_state(OperatorModel& model, Batch batch, const torch::Tensor& state) {
  batch.input = torch::cat({batch.input, state}, -1);
  return model.forward(batch);
}

void roll_out(OperatorModel& model, const Batch& batch, torch::Tensor state, std::int64_t steps,
              const std::function<void(std::int64_t step, const torch::Tensor& state)>& see) {
  for (std::int64_t step = 1; step <= steps; ++step) {
    state = step_state(model, batch, state);
    see(step, state);
  }
}

}  // namespace lano
