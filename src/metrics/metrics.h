// The errors of every engine and every model, on physical values, in double. One sample at a time: arrays are [points,
// channels], sums run in index order, so results have the same bits for any thread count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/shape.h"

namespace lano {

// ||prediction - truth||_2 / ||truth||_2 over all points and channels. A zero truth gives the plain norm of the error.
double relative_l2(std::span<const float> prediction, std::span<const float> truth);

// max |prediction - truth|.
double max_error(std::span<const float> prediction, std::span<const float> truth);

// Relative L2 of the gradient by central differences at interior points (the H1 semi-norm), for uniform grids of one,
// two or three axes. `spacing` has one entry per axis. Zero interior points give 0.
double relative_h1(std::span<const float> prediction, std::span<const float> truth, const Shape& shape,
                   std::int64_t channels, std::span<const double> spacing);

struct ErrorSummary {
  double mean = 0, deviation = 0;  // over samples
  double minimum = 0, q25 = 0, median = 0, q75 = 0, q95 = 0, maximum = 0;
};

// Quantiles by linear interpolation between order statistics.
ErrorSummary summarise(std::span<const double> errors);

}  // namespace lano
