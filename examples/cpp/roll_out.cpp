// Steps an autoregressive operator five times from a bump in the middle of its grid.
// Usage: roll_out MODEL.safetensors (of a model that was trained on a grid or mesh)
#include <lano/operator.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

namespace {

// exp(-20 r^2) around the middle of the index box, a sample of what a solver would start from.
double bump(std::int64_t point, const lano::Shape& extents) {
  double square = 0;
  for (std::size_t a = extents.size(); a-- > 0; point /= extents[a]) {
    const double place = (static_cast<double>(point % extents[a]) + 0.5) / static_cast<double>(extents[a]) - 0.5;
    square += place * place;
  }
  return std::exp(-20 * square);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  constexpr int kSteps = 5;
  const lano::Operator op = lano::Operator::load(argv[1]);
  const lano::SetDescription& set = op.set();
  std::vector<float> input, state;
  for (std::int64_t i = 0; i < set.points(); ++i) {
    const double height = bump(i, set.shape);
    for (std::int64_t c = 0; c < set.input_channels(); ++c) input.push_back(static_cast<float>(0.5 - height));
    for (std::int64_t c = 0; c < set.output_channels(); ++c)
      state.push_back(static_cast<float>(static_cast<double>(c + 1) * height));
  }
  lano::Operator::Call call;
  call.state = state;
  const std::vector<float> states = op.roll_out(op.coordinates(), input, kSteps, call);
  for (int step = 0; step < kSteps; ++step) {
    const auto now = states.begin() + step * static_cast<std::ptrdiff_t>(state.size());
    const auto end = now + static_cast<std::ptrdiff_t>(state.size());
    std::printf("step %d, mean %.6e, largest %.6e\n", step + 1,
                std::accumulate(now, end, 0.0) / static_cast<double>(state.size()),
                static_cast<double>(*std::max_element(now, end)));
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
