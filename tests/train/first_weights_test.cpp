#include "train/first_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/lano_tensors.h"

namespace lano::first_weights_test {
namespace {

struct Tensors {
  std::map<std::string, std::pair<Shape, std::vector<float>>> by_name;
};

Tensors drawn(FirstWeights kind, std::uint64_t seed) {
  LanoConfig config;
  config.layers = 2;
  config.heads = 4;
  config.width = 32;
  config.agents = 16;
  config.first_weights = kind;
  LanoShape shape;
  shape.mesh = {8, 8};
  shape.patches = {4, 4};
  const std::vector<float> flat = first_lano_weights(config, shape, seed);
  Tensors tensors;
  std::size_t at = 0;
  make_lano_tensors<bool>(config, shape, [&](const std::string& name, const Shape& sizes) {
    const auto size = static_cast<std::ptrdiff_t>(element_count(sizes));
    const auto first = flat.begin() + static_cast<std::ptrdiff_t>(at);
    tensors.by_name[name] = {sizes, {first, first + size}};
    at += static_cast<std::size_t>(size);
    return true;
  });
  EXPECT_EQ(at, flat.size());
  return tensors;
}

double deviation(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(FirstWeights, HaveTheDeviationTheyAreNamedAfter) {
  for (const FirstWeights kind : {FirstWeights::fixed, FirstWeights::scaled}) {
    const Tensors tensors = drawn(kind, 3);
    for (const auto& [name, tensor] : tensors.by_name) {
      const auto& [sizes, values] = tensor;
      if (name.ends_with(".weight") && sizes.size() == 2) {
        const double expected = kind == FirstWeights::fixed ? 0.02 : 0.5 / std::sqrt(static_cast<double>(sizes[1]));
        // The deviation of n normal deviates is known to 1/sqrt(2n); five times that.
        const double spread = 5 / std::sqrt(2.0 * static_cast<double>(values.size()));
        EXPECT_NEAR(deviation(values) / expected, 1, spread) << name;
      } else if (name.ends_with(".bias")) {
        EXPECT_EQ(deviation(values), 0) << name;
      } else if (name.find(".bias") != std::string::npos) {  // vectors of the attention, not of a map
        EXPECT_NEAR(deviation(values) / 0.02, 1, 5 / std::sqrt(2.0 * static_cast<double>(values.size()))) << name;
      }
    }
  }
}

TEST(FirstWeights, AreAFunctionOfTheSeed) {
  const auto name = "blocks.1.attention.qkv.weight";
  EXPECT_EQ(drawn(FirstWeights::scaled, 3).by_name[name], drawn(FirstWeights::scaled, 3).by_name[name]);
  EXPECT_NE(drawn(FirstWeights::scaled, 3).by_name[name], drawn(FirstWeights::scaled, 4).by_name[name]);
}

}  // namespace
}  // namespace lano::first_weights_test
