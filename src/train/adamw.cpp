// p <- p (1 - lr wd);  m <- b1 m + (1-b1) g;  v <- b2 v + (1-b2) g^2;
// p <- p - lr/(1-b1^t) m / (sqrt(v)/sqrt(1-b2^t) + eps). PyTorch takes the present b1 to the power t, also while it cycles.
#include "train/adamw.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "ops/flat.h"

namespace lano {

Adamw::Adamw(std::size_t size, AdamwConfig config) : config_(config), m_(size), v_(size) {}

void Adamw::step(std::span<float> parameters, std::span<const float> gradients, double learning_rate, double beta1) {
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(beta1, t), correction2 = 1 - std::pow(config_.beta2, t);
  AdamwStep step;
  step.keep = static_cast<float>(1 - learning_rate * config_.weight_decay);
  step.beta1 = static_cast<float>(beta1);
  step.rest1 = static_cast<float>(1 - beta1);
  step.beta2 = static_cast<float>(config_.beta2);
  step.rest2 = static_cast<float>(1 - config_.beta2);
  step.rate = static_cast<float>(learning_rate / correction1);
  step.root = static_cast<float>(1 / std::sqrt(correction2));
  step.epsilon = static_cast<float>(config_.epsilon);
  adamw_step(step, parameters, gradients, m_, v_);
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
  const double norm = std::sqrt(square_sum(gradients));
  // PyTorch's form: the factor limit/(norm + 1e-6), applied where it is below one.
  const double factor = limit / (norm + 1e-6);
  if (limit > 0 && factor < 1) scale(gradients, factor);
  return norm;
}

}  // namespace lano
