// Steps an autoregressive operator five times from a constant state. Usage: roll_out MODEL.safetensors
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include "runtime/operator.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  constexpr int kSteps = 5;
  const lano::Operator op = lano::Operator::load(argv[1]);
  const std::size_t points = op.coordinates().size() / static_cast<std::size_t>(op.set().dims());
  const std::vector<float> input(points * static_cast<std::size_t>(op.set().input_channels()), 0.5f);
  const std::vector<float> state(points * static_cast<std::size_t>(op.set().output_channels()), 0.25f);
  lano::Operator::Call call;
  call.state = state;
  const std::vector<float> states = op.roll_out(op.coordinates(), input, kSteps, call);
  const auto last = states.end() - static_cast<std::ptrdiff_t>(state.size());
  std::printf("%d steps, mean %.6e\n", kSteps,
              std::accumulate(last, states.end(), 0.0) / static_cast<double>(state.size()));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
