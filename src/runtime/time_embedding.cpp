#include "runtime/time_embedding.h"

#include <algorithm>
#include <cmath>

namespace lano {
namespace {

// W x + b
std::vector<double> affine(const float* weight, const float* bias, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = bias[i];
    for (std::size_t k = 0; k < x.size(); ++k) y[i] += static_cast<double>(weight[i * x.size() + k]) * x[k];
  }
  return y;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<double> silu(std::vector<double> x) {
  for (double& value : x) value *= sigmoid(value);
  return x;
}

}  // namespace

std::vector<double> time_waves(double steps, std::int64_t width) {
  const auto half = static_cast<std::size_t>(std::max<std::int64_t>(1, width / 2));
  std::vector<double> wave(static_cast<std::size_t>(width));
  for (std::size_t k = 0; k < half; ++k) {
    const double angle = steps * std::exp(-std::log(10000.0) * static_cast<double>(k) / static_cast<double>(half));
    wave[k] = std::sin(angle);
    if (half + k < wave.size()) wave[half + k] = std::cos(angle);
  }
  return wave;
}

TimeTrace embed_time(const TimeTensors<const float*>& weights, std::int64_t width, double steps) {
  TimeTrace trace;
  trace.wave = time_waves(steps, width);
  trace.hidden = affine(weights.first, weights.first_bias, trace.wave);
  const std::vector<double> out = affine(weights.second, weights.second_bias, silu(trace.hidden));
  trace.features.assign(out.begin(), out.end());
  return trace;
}

void embed_time_backward(const TimeTensors<const float*>& weights, std::span<const TimeTrace> traces,
                         const float* slopes, const TimeTensors<float*>& gradients) {
  const std::size_t c = traces.front().features.size();
  std::vector<double> first(c * c), first_bias(c), second(c * c), second_bias(c);
  for (std::size_t s = 0; s < traces.size(); ++s) {
    const TimeTrace& t = traces[s];
    const float* const d = slopes + s * c;
    const std::vector<double> active = silu(t.hidden);
    std::vector<double> inner(c);  // d/d silu(hidden) = W2^T d
    for (std::size_t i = 0; i < c; ++i) {
      second_bias[i] += d[i];
      for (std::size_t k = 0; k < c; ++k) {
        second[i * c + k] += d[i] * active[k];
        inner[k] += static_cast<double>(weights.second[i * c + k]) * d[i];
      }
    }
    for (std::size_t i = 0; i < c; ++i) {
      // silu'(x) = s(x) (1 + x (1 - s(x)))
      const double gate = sigmoid(t.hidden[i]), slope = inner[i] * gate * (1 + t.hidden[i] * (1 - gate));
      first_bias[i] += slope;
      for (std::size_t k = 0; k < c; ++k) first[i * c + k] += slope * t.wave[k];
    }
  }
  const auto write = [](const std::vector<double>& sum, float* to) {
    for (std::size_t i = 0; i < sum.size(); ++i) to[i] = static_cast<float>(sum[i]);
  };
  write(first, gradients.first);
  write(first_bias, gradients.first_bias);
  write(second, gradients.second);
  write(second_bias, gradients.second_bias);
}

}  // namespace lano
