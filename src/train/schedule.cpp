#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lano {
namespace {

constexpr double kBeta1 = 0.9;  // AdamW's own, where the schedule does not cycle it

// Half a cosine from `from` at 0 to `to` at 1.
double cosine_between(double from, double to, double share) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
}

// The course without OneCycle: up in a line over the warm-up, then what the kind says of the steps left.
double plain_rate(const ScheduleConfig& c, double at, double total, double steps_per_epoch) {
  const double rise = std::floor(c.warmup * total);
  if (at < rise) return c.learning_rate * (at + 1) / rise;
  switch (c.kind) {
    case ScheduleKind::cosine:
      return cosine_between(c.learning_rate, 0, (at - rise) / (total - rise));
    case ScheduleKind::step:
      return c.learning_rate *
             std::pow(c.step_factor, std::floor(at / (static_cast<double>(c.step_epochs) * steps_per_epoch)));
    default:
      return c.learning_rate;
  }
}

}  // namespace

ScheduleValue schedule_value(const ScheduleConfig& c, std::int64_t step, std::int64_t total_steps,
                             std::int64_t steps_per_epoch) {
  const auto at = static_cast<double>(step);
  const auto total = static_cast<double>(total_steps);
  if (c.kind != ScheduleKind::one_cycle)
    return {plain_rate(c, at, total, static_cast<double>(steps_per_epoch)), kBeta1};
  const double first = c.learning_rate / c.div_factor, last = first / c.final_div_factor;
  const double top = c.pct_start * total - 1;  // the step of the peak, as PyTorch counts
  if (at <= top && top > 0) {
    const double share = at / top;
    return {cosine_between(first, c.learning_rate, share), cosine_between(c.max_momentum, c.base_momentum, share)};
  }
  const double share = std::clamp((at - top) / std::max(total - 1 - top, 1.0), 0.0, 1.0);
  return {cosine_between(c.learning_rate, last, share), cosine_between(c.base_momentum, c.max_momentum, share)};
}

}  // namespace lano
