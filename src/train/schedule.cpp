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

}  // namespace

ScheduleValue schedule_value(const ScheduleConfig& c, std::int64_t step, std::int64_t total_steps) {
  const auto at = static_cast<double>(step);
  const auto total = static_cast<double>(total_steps);
  switch (c.kind) {
    case ScheduleKind::constant: return {c.learning_rate, kBeta1};
    case ScheduleKind::cosine: return {cosine_between(c.learning_rate, 0, at / total), kBeta1};
    case ScheduleKind::one_cycle: break;
  }
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
