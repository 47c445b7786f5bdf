#include "train/field_loss.h"

#include <cmath>
#include <utility>

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

// f(row of a point, its neighbours along the axis above and below, outside the mesh -1) at every point of a mesh.
template <class F>
void for_neighbours(const Shape& mesh, std::size_t axis, F&& f) {
  std::int64_t inner = 1, outer = 1;
  for (std::size_t a = 0; a < mesh.size(); ++a) (a < axis ? outer : inner) *= a == axis ? 1 : mesh[a];
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t k = 0; k < mesh[axis]; ++k) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t row = (o * mesh[axis] + k) * inner + i;
        f(row, k + 1 < mesh[axis] ? row + inner : -1, k > 0 ? row - inner : -1);
      }
    }
  }
}

// Whether each point of a mesh is one of the outermost.
std::vector<bool> outermost(const Shape& mesh) {
  std::vector<bool> rim(static_cast<std::size_t>(element_count(mesh)), false);
  for (std::size_t axis = 0; axis < mesh.size(); ++axis) {
    for_neighbours(mesh, axis, [&](std::int64_t row, std::int64_t up, std::int64_t down) {
      if (up < 0 || down < 0) rim[static_cast<std::size_t>(row)] = true;
    });
  }
  return rim;
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

double FieldLoss::gradient_term(const std::vector<double>& error, const std::vector<double>& truth, double weight,
                                std::vector<double>& slope) const {
  const std::size_t channels = roots_.size();
  Norms steep;
  const auto difference = [&](const std::vector<double>& field, std::size_t axis, std::int64_t up, std::int64_t down,
                              std::size_t c) {
    return (field[static_cast<std::size_t>(up) * channels + c] - field[static_cast<std::size_t>(down) * channels + c]) /
           (2 * spacing_[axis]);
  };
  for_differences(mesh_, [&](std::size_t axis, std::int64_t up, std::int64_t down) {
    for (std::size_t c = 0; c < channels; ++c) {
      const double e = difference(error, axis, up, down, c), t = difference(truth, axis, up, down, c);
      steep.error += e * e;
      steep.truth += t * t;
      ++steep.count;
    }
  });
  const double outer = steep.factor(weight, config_.kind);
  for_differences(mesh_, [&](std::size_t axis, std::int64_t up, std::int64_t down) {
    for (std::size_t c = 0; c < channels; ++c) {
      const double d = outer * difference(error, axis, up, down, c) / (2 * spacing_[axis]);
      slope[static_cast<std::size_t>(up) * channels + c] += d;
      slope[static_cast<std::size_t>(down) * channels + c] -= d;
    }
  });
  return std::sqrt(steep.error) / steep.divisor(config_.kind);
}

double FieldLoss::axis_terms(std::vector<double> error, const std::vector<double>& truth, double weight,
                             std::vector<double>& slope) const {
  const std::size_t channels = roots_.size();
  const std::vector<bool> rim = outermost(mesh_);
  for (std::size_t i = 0; i < error.size(); ++i) {
    if (rim[i / channels]) error[i] = -truth[i];
  }
  double sum = 0;
  for (std::size_t axis = 0; axis < mesh_.size(); ++axis) {
    const double width = 2 * spacing_[axis];
    const auto difference = [&](const std::vector<double>& field, std::int64_t up, std::int64_t down, std::size_t c) {
      const auto value = [&](std::int64_t row) {
        return row < 0 ? 0.0 : field[static_cast<std::size_t>(row) * channels + c];
      };
      return (value(up) - value(down)) / width;
    };
    Norms steep;
    for_neighbours(mesh_, axis, [&](std::int64_t, std::int64_t up, std::int64_t down) {
      for (std::size_t c = 0; c < channels; ++c) {
        const double e = difference(error, up, down, c), t = difference(truth, up, down, c);
        steep.error += e * e;
        steep.truth += t * t;
        ++steep.count;
      }
    });
    sum += std::sqrt(steep.error) / steep.divisor(config_.kind);
    const double outer = steep.factor(weight, config_.kind) / width;
    for_neighbours(mesh_, axis, [&](std::int64_t, std::int64_t up, std::int64_t down) {
      for (std::size_t c = 0; c < channels; ++c) {
        const double d = outer * difference(error, up, down, c);
        // What the prediction says on the outermost points has no part in it.
        for (const auto& [row, sign] : {std::pair{up, 1.0}, std::pair{down, -1.0}}) {
          if (row >= 0 && !rim[static_cast<std::size_t>(row)])
            slope[static_cast<std::size_t>(row) * channels + c] += sign * d;
        }
      }
    });
  }
  return sum;
}

double FieldLoss::operator()(std::span<const float> network, std::span<const float> truth,
                             std::span<const std::int64_t> sizes, std::span<const double> weights, double share,
                             std::span<float> slopes) const {
  const auto batch = static_cast<double>(sizes.size());
  double sum = 0;
  for (const double loss : of_samples(network, truth, sizes, weights, share / batch, slopes)) sum += loss;
  return sum / batch;
}

std::vector<double> FieldLoss::of_samples(std::span<const float> network, std::span<const float> truth,
                                          std::span<const std::int64_t> sizes, std::span<const double> weights,
                                          double factor, std::span<float> slopes) const {
  const std::size_t channels = roots_.size();
  std::vector<double> losses;
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
    double loss = weight * std::sqrt(plain.error) / plain.divisor(config_.kind);
    const double outer = plain.factor(factor * weight, config_.kind);
    for (std::size_t i = 0; i < size; ++i) slope[i] = outer * error[i];
    if (config_.gradient_weight > 0) {
      const double scaled = config_.gradient_weight * weight;
      loss +=
          scaled * (config_.gradient_kind == GradientKind::joint ? gradient_term(error, known, factor * scaled, slope)
                                                                 : axis_terms(error, known, factor * scaled, slope));
    }
    losses.push_back(loss);
    for (std::size_t i = 0, c = 0; i < size; ++i, c = c + 1 == channels ? 0 : c + 1) {
      slopes[first + i] = static_cast<float>(slope[i] * roots_[c] * output_.scale()[c]);
    }
    first += size;
  }
  return losses;
}

}  // namespace lano
