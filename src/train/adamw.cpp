// p <- p (1 - lr wd);  m <- b1 m + (1-b1) g;  v <- b2 v + (1-b2) g^2;
// p <- p - lr/(1-b1^t) m / (sqrt(v)/sqrt(1-b2^t) + eps). PyTorch takes the present b1 to the power t, also while it cycles.
#include "train/adamw.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lano {

Adamw::Adamw(std::size_t size, AdamwConfig config) : config_(config), m_(size), v_(size) {}

void Adamw::step(std::span<float> parameters, std::span<const float> gradients, double learning_rate, double beta1) {
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(beta1, t), correction2 = 1 - std::pow(config_.beta2, t);
  const auto keep = static_cast<float>(1 - learning_rate * config_.weight_decay);
  const auto b1 = static_cast<float>(beta1), c1 = static_cast<float>(1 - beta1);
  const auto b2 = static_cast<float>(config_.beta2), c2 = static_cast<float>(1 - config_.beta2);
  const auto rate = static_cast<float>(learning_rate / correction1);
  const auto root = static_cast<float>(1 / std::sqrt(correction2)), epsilon = static_cast<float>(config_.epsilon);
  float* const p = parameters.data();
  const float* const g = gradients.data();
  float* const m = m_.data();
  float* const v = v_.data();
  const auto size = static_cast<std::int64_t>(m_.size());
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < size; ++i) {
    m[i] = b1 * m[i] + c1 * g[i];
    v[i] = b2 * v[i] + c2 * g[i] * g[i];
    p[i] = p[i] * keep - rate * m[i] / (std::sqrt(v[i]) * root + epsilon);
  }
}

void Adamw::restore(std::int64_t steps, std::span<const float> first_moment, std::span<const float> second_moment) {
  if (first_moment.size() != m_.size() || second_moment.size() != v_.size()) {
    fail("restoring the optimiser", std::to_string(m_.size()) + " values", std::to_string(first_moment.size()));
  }
  steps_ = steps;
  std::copy(first_moment.begin(), first_moment.end(), m_.begin());
  std::copy(second_moment.begin(), second_moment.end(), v_.begin());
}

double clip_gradients(std::span<float> gradients, double limit) {
  double squares = 0;
  for (const float g : gradients) squares += static_cast<double>(g) * g;
  const double norm = std::sqrt(squares);
  // PyTorch's form: the factor limit/(norm + 1e-6), applied where it is below one.
  const double factor = limit / (norm + 1e-6);
  if (limit > 0 && factor < 1) {
    for (float& g : gradients) g = static_cast<float>(g * factor);
  }
  return norm;
}

}  // namespace lano
