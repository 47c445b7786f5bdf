// How long a training will take, announced while it can still be stopped without loss: estimated from the first steps
// of the run itself, so that short trainings pay nothing for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace lano {

// What lies before a run.
struct TrainingWork {
  std::int64_t epochs = 0;       // that are left
  std::int64_t epoch_steps = 0;  // steps of one
  double validation_steps = 0;   // what one look at the validation split costs, in steps
  double seconds(double step_seconds) const;
};

// "about 31 hours on this machine: 500 epochs of 1000 steps at 0.22 s"; empty for an hour or less.
std::string cost_text(const TrainingWork& work, double step_seconds);

class TrainingCost {
 public:
  explicit TrainingCost(const TrainingWork& work) : work_(work) {}
  // Told after each step; once, after a few, what there is to say. The first step prepares what later ones find and is
  // not counted.
  std::optional<std::string> after_step();

 private:
  static constexpr std::int64_t kTimed = 4;
  TrainingWork work_;
  std::int64_t steps_ = 0;
  std::chrono::steady_clock::time_point first_;
};

}  // namespace lano
