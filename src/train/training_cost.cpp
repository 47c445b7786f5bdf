#include "train/training_cost.h"

#include <fmt/format.h>

namespace lano {

double TrainingWork::seconds(double step_seconds) const {
  return static_cast<double>(epochs) * (static_cast<double>(epoch_steps) + validation_steps) * step_seconds;
}

std::string cost_text(const TrainingWork& work, double step_seconds) {
  const double hours = work.seconds(step_seconds) / 3600;
  if (!(hours > 1)) return "";
  return fmt::format("about {:.{}f} hours on this machine: {} {} of {} {} at {:.2g} s", hours, hours < 9.95 ? 1 : 0,
                     work.epochs, work.epochs == 1 ? "epoch" : "epochs", work.epoch_steps,
                     work.epoch_steps == 1 ? "step" : "steps", step_seconds);
}

std::optional<std::string> TrainingCost::after_step() {
  const auto now = std::chrono::steady_clock::now();
  if (++steps_ == 1) first_ = now;
  if (steps_ != kTimed + 1) return std::nullopt;
  std::string text = cost_text(work_, std::chrono::duration<double>(now - first_).count() / kTimed);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace lano
