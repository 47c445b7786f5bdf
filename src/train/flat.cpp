#include "train/flat.h"

#include <vector>

#include "kernels/partition.h"

namespace lano {
namespace {

constexpr std::int64_t kBlock = 1 << 15;

std::int64_t blocks_of(std::size_t size) { return (static_cast<std::int64_t>(size) + kBlock - 1) / kBlock; }

double sum_blocks(std::size_t size, const float* x) {
  const kernels::Kernels& k = kernels::kernels();  // before the threads: it may fail
  std::vector<double> sums(static_cast<std::size_t>(blocks_of(size)));
  kernels::parallel_for(blocks_of(size), [&](std::int64_t b, int) {
    const std::int64_t first = b * kBlock, count = std::min(kBlock, static_cast<std::int64_t>(size) - first);
    sums[static_cast<std::size_t>(b)] = k.square_sum(count, x + first, nullptr);
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

}  // namespace

void adamw_step(const AdamwStep& step, std::span<float> parameters, std::span<const float> gradients,
                std::span<float> first_moment, std::span<float> second_moment) {
  const kernels::Kernels& k = kernels::kernels();
  kernels::parallel_for(blocks_of(parameters.size()), [&](std::int64_t b, int) {
    const std::int64_t first = b * kBlock,
                       count = std::min(kBlock, static_cast<std::int64_t>(parameters.size()) - first);
    k.adamw(count, step, parameters.data() + first, gradients.data() + first, first_moment.data() + first,
            second_moment.data() + first);
  });
}

double square_sum(std::span<const float> values) { return sum_blocks(values.size(), values.data()); }

void scale(std::span<float> values, double factor) {
  const auto by = static_cast<float>(factor);
  kernels::parallel_for(blocks_of(values.size()), [&](std::int64_t b, int) {
    const std::int64_t first = b * kBlock, last = std::min(first + kBlock, static_cast<std::int64_t>(values.size()));
    for (std::int64_t i = first; i < last; ++i) values[static_cast<std::size_t>(i)] *= by;
  });
}

void add_to(std::span<float> sum, std::span<const float> values) {
  const kernels::Kernels& k = kernels::kernels();
  kernels::parallel_for(blocks_of(sum.size()), [&](std::int64_t b, int) {
    const std::int64_t first = b * kBlock, count = std::min(kBlock, static_cast<std::int64_t>(sum.size()) - first);
    k.add(count, 1.0f, values.data() + first, sum.data() + first);
  });
}

}  // namespace lano
