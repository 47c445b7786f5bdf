// p <- p (1 - lr wd);  m <- b1 m + (1-b1) g;  v <- b2 v + (1-b2) g^2;
// p <- p - lr/(1-b1^t) m / (sqrt(v)/sqrt(1-b2^t) + eps). PyTorch takes the present b1 to the power t, also while it
// cycles.
#include "train/adamw.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "train/flat.h"

namespace lano {

Adamw::Adamw(std::size_t size, AdamwConfig config) : Adamw(size, config, {{0, size, true}}) {}

Adamw::Adamw(std::size_t size, AdamwConfig config, std::vector<ParameterGroup> groups)
    : config_(config), groups_(std::move(groups)), m_(size), v_(size) {
  std::size_t at = 0;
  for (const ParameterGroup& group : groups_) {
    if (group.first != at) fail("grouping parameters", "groups end to end", "a hole or an overlap");
    at += group.size;
  }
  if (at != size) fail("grouping parameters", std::to_string(size) + " values", std::to_string(at));
}

void Adamw::step(std::span<float> parameters, std::span<const float> gradients, double learning_rate, double beta1) {
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(beta1, t), correction2 = 1 - std::pow(config_.beta2, t);
  AdamwStep step;
  step.beta1 = static_cast<float>(beta1);
  step.rest1 = static_cast<float>(1 - beta1);
  step.beta2 = static_cast<float>(config_.beta2);
  step.rest2 = static_cast<float>(1 - config_.beta2);
  step.rate = static_cast<float>(learning_rate / correction1);
  step.root = static_cast<float>(1 / std::sqrt(correction2));
  step.epsilon = static_cast<float>(config_.epsilon);
  for (const auto& [first, size, decays] : groups_) {
    step.keep = decays ? static_cast<float>(1 - learning_rate * config_.weight_decay) : 1.0f;
    adamw_step(step, parameters.subspan(first, size), gradients.subspan(first, size),
               std::span(m_).subspan(first, size), std::span(v_).subspan(first, size));
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
  const double norm = std::sqrt(square_sum(gradients));
  // PyTorch's form: the factor limit/(norm + 1e-6), applied where it is below one.
  const double factor = limit / (norm + 1e-6);
  if (limit > 0 && factor < 1) scale(gradients, factor);
  return norm;
}

}  // namespace lano
