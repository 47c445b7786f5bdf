// Predicts on the training grid with a constant input. Usage: predict MODEL.safetensors
#include <lano/operator.h>

#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const lano::Operator op = lano::Operator::load(argv[1]);
  const std::size_t points = op.coordinates().size() / static_cast<std::size_t>(op.set().dims());
  const std::vector<float> input(points * static_cast<std::size_t>(op.set().input_channels()), 5.0f);
  const std::vector<float> output = op.predict(op.coordinates(), input);
  std::printf("%zu points, mean %.6e\n", points,
              std::accumulate(output.begin(), output.end(), 0.0) / static_cast<double>(output.size()));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
