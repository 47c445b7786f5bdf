// p <- p (1 - lr wd);  m <- b1 m + (1-b1) g;  v <- b2 v + (1-b2) g^2; p <- p - lr/(1-b1^t) m / (sqrt(v)/sqrt(1-b2^t) +
// eps). PyTorch takes the current b1 to the power t, even while it cycles.
#include "train/adamw.h"

#include <cmath>

#include "train/flat.h"

namespace lano {

void adamw_step(const AdamwConfig& config, std::span<const ParameterGroup> groups, std::int64_t t, double learning_rate,
                double beta1, std::span<float> parameters, std::span<const float> gradients,
                std::span<float> first_moment, std::span<float> second_moment) {
  const auto power = static_cast<double>(t);
  const double correction1 = 1 - std::pow(beta1, power), correction2 = 1 - std::pow(config.beta2, power);
  AdamwStep step;
  step.beta1 = static_cast<float>(beta1);
  step.rest1 = static_cast<float>(1 - beta1);
  step.beta2 = static_cast<float>(config.beta2);
  step.rest2 = static_cast<float>(1 - config.beta2);
  step.rate = static_cast<float>(learning_rate / correction1);
  step.root = static_cast<float>(1 / std::sqrt(correction2));
  step.epsilon = static_cast<float>(config.epsilon);
  for (const auto& [first, size, decays] : groups) {
    step.keep = decays ? static_cast<float>(1 - learning_rate * config.weight_decay) : 1.0f;
    adamw_step(step, parameters.subspan(first, size), gradients.subspan(first, size), first_moment.subspan(first, size),
               second_moment.subspan(first, size));
  }
}

double clip_gradients(std::span<float> gradients, double limit) {
  const double norm = std::sqrt(square_sum(gradients));
  // PyTorch's form: the factor limit/(norm + 1e-6), applied where it is below one.
  const double factor = limit / (norm + 1e-6);
  if (limit > 0 && factor < 1) scale(gradients, factor);
  return norm;
}

}  // namespace lano
