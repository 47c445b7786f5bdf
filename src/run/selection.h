// Which weights of a run become its model: the one rule, used by training and by everything that reads its metrics
// later.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace lano {

enum class Selection { best, last };  // best on validation, or those of the last epoch

// The weights kept so far.
struct KeptWeights {
  std::int64_t epoch = 0;                                   // counted from 1; 0: none yet
  double error = std::numeric_limits<double>::quiet_NaN();  // on validation
  bool average = false;                                     // the running mean of the weights, not the weights
};

// Offers the weights after an epoch: their validation error and that of their running mean, where it is kept (NaN where
// nothing was validated). True where they take the place of those kept before. Of an epoch the better of the two
// counts; without validation, or with Selection::last, the running mean does where there is one.
inline bool offer(KeptWeights& kept, Selection rule, std::int64_t epoch, double raw, std::optional<double> average) {
  const bool last = rule == Selection::last;
  const bool use_average = average && (last || !std::isfinite(raw) || *average < raw);
  const double error = use_average ? *average : raw;
  if (!last && std::isfinite(kept.error) && !(error < kept.error)) return false;
  kept = {epoch, error, use_average};
  return true;
}

}  // namespace lano
