// Predicts a field on a cloud of scattered points, from an input that varies from point to point.
// Usage: cloud MODEL.safetensors (of a model that was trained on clouds in the plane)
#include <lano/operator.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  constexpr int kPoints = 500;
  const lano::Operator op = lano::Operator::load(argv[1]);
  std::vector<float> coordinates, input;
  for (int i = 0; i < kPoints; ++i) {  // a sequence that fills the unit square evenly, without a grid
    const double x = std::fmod(0.5 + i * 0.7548776662466927, 1.0), y = std::fmod(0.5 + i * 0.5698402909980532, 1.0);
    coordinates.insert(coordinates.end(), {static_cast<float>(x), static_cast<float>(y)});
    for (std::int64_t c = 0; c < op.set().input_channels(); ++c)
      input.push_back(static_cast<float>(std::sin(3 * x + static_cast<double>(c)) * std::cos(2 * y)));
  }
  const std::vector<float> output = op.predict(coordinates, input);
  const auto [least, largest] = std::minmax_element(output.begin(), output.end());
  std::printf("%d points, mean %.6e, least %.6e, largest %.6e\n", kPoints,
              std::accumulate(output.begin(), output.end(), 0.0) / static_cast<double>(output.size()),
              static_cast<double>(*least), static_cast<double>(*largest));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
