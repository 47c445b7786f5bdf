#include "train/first_weights.h"

#include <cmath>
#include <string>

#include "core/random.h"
#include "runtime/lano_tensors.h"

namespace lano {
namespace {

// A normal deviate cut at two, in units of the weights, as the public recipes do; with a deviation of 0.02 the cut is
// a formality, kept because it is the definition. A deviation of 0.02 suits a width of 128 and starves one of 32:
// scaled ones keep the size of features from layer to layer.
double truncated_normal(RandomStream& stream, double deviation) {
  for (;;) {
    const double value = deviation * stream.normal();
    if (std::abs(value) <= 2) return value;
  }
}

}  // namespace

std::vector<float> first_lano_weights(const LanoConfig& config, const LanoShape& shape, std::uint64_t seed) {
  std::vector<float> flat;
  std::uint64_t ordinal = 0;
  make_lano_tensors<bool>(config, shape, [&](const std::string& name, const Shape& sizes) {
    RandomStream stream(seed, Purpose::initialise, 0, ordinal++);
    const bool is_bias = name.ends_with(".bias"), is_norm = name.find("norm") != std::string::npos;
    const std::int64_t count = element_count(sizes);
    for (std::int64_t i = 0; i < count; ++i) {
      double value = is_norm && !is_bias ? 1 : 0;
      if (name.ends_with("attention.exchange")) {
        value = 0;  // agents begin by keeping what they gathered
      } else if (name == "placeholder") {
        value = stream.uniform() / static_cast<double>(config.width);
      } else if (name.ends_with("dwc")) {
        const double reach = 1 / std::sqrt(static_cast<double>(count / sizes[0]));
        value = (2 * stream.uniform() - 1) * reach;
      } else if (!is_norm && !is_bias) {
        const bool scaled = config.first_weights == FirstWeights::scaled && sizes.size() == 2;
        value = truncated_normal(stream, scaled ? 0.5 / std::sqrt(static_cast<double>(sizes[1])) : 0.02);
      }
      flat.push_back(static_cast<float>(value));
    }
    return true;
  });
  return flat;
}

}  // namespace lano
