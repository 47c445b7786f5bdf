// Learning-rate schedules as closed forms of the step, so that a resumed run needs no state. OneCycle has PyTorch's
// semantics (cosine annealing, two phases, momentum cycled against the rate).
#pragma once

#include <cstdint>

namespace lano {

enum class ScheduleKind { one_cycle, cosine, step, constant };

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::one_cycle;
  double learning_rate = 1e-3;    // the peak
  double pct_start = 0.3;         // share of the steps in which OneCycle rises
  double div_factor = 25;         // peak over first rate
  double final_div_factor = 1e4;  // first rate over last rate
  double warmup = 0;  // cosine, step, constant: share of the steps in which the rate rises linearly to its course
  std::int64_t step_epochs = 100;                    // step: epochs between two falls
  double step_factor = 0.5;                          // step: rate after a fall over rate before
  double base_momentum = 0.85, max_momentum = 0.95;  // beta1 is lowest where the rate is highest
};

struct ScheduleValue {
  double learning_rate;
  double beta1;
};

// Value at step 0 .. total-1.
ScheduleValue schedule_value(const ScheduleConfig& config, std::int64_t step, std::int64_t total_steps,
                             std::int64_t steps_per_epoch = 1);

}  // namespace lano
