#include "train/field_loss.h"

#include <cmath>

namespace lano {
namespace {

// weight ||e|| / n, n = ||t|| (1 where that is zero) or the root of the number of values.
struct Norms {
  double error = 0, truth = 0;  // sums of squares
  std::size_t count = 0;
  double divisor(LossKind kind) const {
    const double norm = std::sqrt(kind == LossKind::relative_l2 ? truth : static_cast<double>(count));
    return norm > 0 ? norm : 1;
  }
  // d/de w ||e|| / n = factor e; zero where the error is. NaN stays NaN.
  double factor(double weight, LossKind kind) const {
    return error == 0 ? 0 : weight / (std::sqrt(error) * divisor(kind));
  }
};

// f(axis, row of the point above, row of the point below) at the interior points of a mesh, for each axis.
template <class F>
void for_differences(const Shape& mesh, F&& f) {
  const std::size_t axes = mesh.size();
  std::vector<std::int64_t> strides(axes, 1), index(axes, 1);
  for (std::size_t a = axes - 1; a-- > 0;) strides[a] = strides[a + 1] * mesh[a + 1];
  for (;;) {
    std::int64_t row = 0;
    for (std::size_t a = 0; a < axes; ++a) row += index[a] * strides[a];
    for (std::size_t a = 0; a < axes; ++a) f(a, row + strides[a], row - strides[a]);
    std::size_t a = axes;
    while (a-- > 0) {
      if (++index[a] < mesh[a] - 1) break;
      index[a] = 1;
      if (a == 0) return;
    }
  }
}

}  // namespace

FieldLoss::FieldLoss(LossConfig config, ChannelMap output, Shape mesh, std::vector<double> spacing,
                     std::vector<float> base)
    : config_(std::move(config)),
      output_(std::move(output)),
      mesh_(std::move(mesh)),
      spacing_(std::move(spacing)),
      base_(std::move(base)) {
  roots_.assign(static_cast<std::size_t>(output_.channels()), 1.0);
  for (std::size_t c = 0; c < config_.channel_weights.size(); ++c) roots_[c] = std::sqrt(config_.channel_weights[c]);
}

double FieldLoss::operator()(std::span<const float> network, std::span<const float> truth,
                             std::span<const std::int64_t> sizes, std::span<const double> weights, double share,
                             std::span<float> slopes) const {
  const std::size_t channels = roots_.size();
  const auto batch = static_cast<double>(sizes.size());
  double sum = 0;
  std::vector<double> error, known, slope;
  std::size_t first = 0;
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    const double weight = weights.empty() ? 1.0 : weights[b];
    const std::size_t size = static_cast<std::size_t>(sizes[b]) * channels;
    error.resize(size);
    known.resize(size);
    slope.resize(size);
    Norms plain;
    plain.count = size;
    for (std::size_t i = 0, c = 0; i < size; ++i, c = c + 1 == channels ? 0 : c + 1) {
      const double t = truth[first + i];
      const double base = base_.empty() ? 0 : static_cast<double>(base_[i]);
      error[i] = roots_[c] * (network[first + i] * output_.scale()[c] + output_.shift()[c] + base - t);
      known[i] = roots_[c] * t;
      plain.error += error[i] * error[i];
      plain.truth += known[i] * known[i];
    }
    sum += weight * std::sqrt(plain.error) / plain.divisor(config_.kind);
    const double factor = plain.factor(share * weight / batch, config_.kind);
    for (std::size_t i = 0; i < size; ++i) slope[i] = factor * error[i];
    if (config_.gradient_weight > 0) {
      Norms steep;
      const auto difference = [&](const std::vector<double>& field, std::size_t axis, std::int64_t up,
                                  std::int64_t down, std::size_t c) {
        return (field[static_cast<std::size_t>(up) * channels + c] -
                field[static_cast<std::size_t>(down) * channels + c]) /
               (2 * spacing_[axis]);
      };
      for_differences(mesh_, [&](std::size_t axis, std::int64_t up, std::int64_t down) {
        for (std::size_t c = 0; c < channels; ++c) {
          const double e = difference(error, axis, up, down, c), t = difference(known, axis, up, down, c);
          steep.error += e * e;
          steep.truth += t * t;
          ++steep.count;
        }
      });
      const double scaled = config_.gradient_weight * weight;
      sum += scaled * std::sqrt(steep.error) / steep.divisor(config_.kind);
      const double outer = steep.factor(share * scaled / batch, config_.kind);
      for_differences(mesh_, [&](std::size_t axis, std::int64_t up, std::int64_t down) {
        for (std::size_t c = 0; c < channels; ++c) {
          const double d = outer * difference(error, axis, up, down, c) / (2 * spacing_[axis]);
          slope[static_cast<std::size_t>(up) * channels + c] += d;
          slope[static_cast<std::size_t>(down) * channels + c] -= d;
        }
      });
    }
    for (std::size_t i = 0, c = 0; i < size; ++i, c = c + 1 == channels ? 0 : c + 1) {
      slopes[first + i] = static_cast<float>(slope[i] * roots_[c] * output_.scale()[c]);
    }
    first += size;
  }
  return sum / batch;
}

}  // namespace lano
