#include "metrics/metrics.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lano {
namespace {

double ratio(double error_squares, double truth_squares) {
  return truth_squares > 0 ? std::sqrt(error_squares / truth_squares) : std::sqrt(error_squares);
}

void check_sizes(std::span<const float> prediction, std::span<const float> truth) {
  if (prediction.size() != truth.size()) {
    fail("measuring an error", std::to_string(truth.size()) + " predicted values", std::to_string(prediction.size()));
  }
}

double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto lower = static_cast<std::size_t>(position);
  const auto upper = std::min(lower + 1, sorted.size() - 1);
  return sorted[lower] + (position - static_cast<double>(lower)) * (sorted[upper] - sorted[lower]);
}

}  // namespace

double relative_l2(std::span<const float> prediction, std::span<const float> truth) {
  check_sizes(prediction, truth);
  double error_squares = 0, truth_squares = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double difference = static_cast<double>(prediction[i]) - truth[i];
    error_squares += difference * difference;
    truth_squares += static_cast<double>(truth[i]) * truth[i];
  }
  return ratio(error_squares, truth_squares);
}

double max_error(std::span<const float> prediction, std::span<const float> truth) {
  check_sizes(prediction, truth);
  double largest = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(prediction[i]) - truth[i]));
  }
  return largest;
}

double relative_h1(std::span<const float> prediction, std::span<const float> truth, const Shape& shape,
                   std::int64_t channels, std::span<const double> spacing) {
  check_sizes(prediction, truth);
  if (static_cast<std::int64_t>(truth.size()) != element_count(shape) * channels || spacing.size() != shape.size()) {
    fail("measuring an error", std::to_string(element_count(shape) * channels) + " values on the grid",
         std::to_string(truth.size()));
  }
  const std::size_t axes = shape.size();
  std::vector<std::int64_t> stride(axes, channels);
  for (std::size_t a = axes; a-- > 1;) stride[a - 1] = stride[a] * shape[a];
  double error_squares = 0, truth_squares = 0;
  std::vector<std::int64_t> index(axes);
  const std::int64_t points = element_count(shape);
  for (std::int64_t p = 0; p < points; ++p) {
    std::int64_t rest = p;
    bool interior = true;
    for (std::size_t a = axes; a-- > 0;) {
      index[a] = rest % shape[a];
      rest /= shape[a];
      interior = interior && index[a] > 0 && index[a] + 1 < shape[a];
    }
    if (!interior) continue;
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::size_t a = 0; a < axes; ++a) {
        const auto up = static_cast<std::size_t>(p * channels + c + stride[a]);
        const auto down = static_cast<std::size_t>(p * channels + c - stride[a]);
        const double truth_slope = (static_cast<double>(truth[up]) - truth[down]) / (2 * spacing[a]);
        const double slope = (static_cast<double>(prediction[up]) - prediction[down]) / (2 * spacing[a]);
        error_squares += (slope - truth_slope) * (slope - truth_slope);
        truth_squares += truth_slope * truth_slope;
      }
    }
  }
  return ratio(error_squares, truth_squares);
}

ErrorSummary summarise(std::span<const double> errors) {
  ErrorSummary summary;
  if (errors.empty()) return summary;
  std::vector<double> sorted(errors.begin(), errors.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  for (const double error : sorted) summary.mean += error / count;
  for (const double error : sorted) summary.deviation += (error - summary.mean) * (error - summary.mean) / count;
  summary.deviation = std::sqrt(summary.deviation);
  summary.minimum = sorted.front();
  summary.q25 = quantile(sorted, 0.25);
  summary.median = quantile(sorted, 0.5);
  summary.q75 = quantile(sorted, 0.75);
  summary.q95 = quantile(sorted, 0.95);
  summary.maximum = sorted.back();
  return summary;
}

}  // namespace lano
