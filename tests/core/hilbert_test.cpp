#include "core/hilbert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/random.h"

namespace lano::hilbert_test {
namespace {

// What makes it a Hilbert curve: it visits every cell once, and each step moves to a neighbour.
void expect_unit_steps(std::size_t axes, int bits) {
  const std::uint32_t side = 1u << bits;
  std::size_t cells = 1;
  for (std::size_t a = 0; a < axes; ++a) cells *= side;
  std::vector<std::vector<std::uint32_t>> at(cells);
  for (std::size_t flat = 0; flat < cells; ++flat) {
    std::vector<std::uint32_t> cell(axes);
    std::size_t rest = flat;
    for (std::size_t a = 0; a < axes; ++a) {
      cell[a] = static_cast<std::uint32_t>(rest % side);
      rest /= side;
    }
    const std::uint64_t key = hilbert_key(cell, bits);
    ASSERT_LT(key, cells);
    ASSERT_TRUE(at[key].empty()) << "two cells at " << key;
    at[key] = cell;
  }
  for (std::size_t key = 1; key < cells; ++key) {
    int steps = 0;
    for (std::size_t a = 0; a < axes; ++a)
      steps += std::abs(static_cast<int>(at[key][a]) - static_cast<int>(at[key - 1][a]));
    ASSERT_EQ(steps, 1) << "at " << key;
  }
}

TEST(Hilbert, StepsToNeighboursInOneTwoAndThreeAxes) {
  expect_unit_steps(1, 6);
  expect_unit_steps(2, 5);
  expect_unit_steps(3, 4);
}

TEST(Hilbert, PermutedPointsGiveThePermutedOrder) {
  // Coordinates on a coarse lattice, so that many keys tie and inputs decide.
  constexpr std::size_t kPoints = 200;
  RandomStream stream(1, Purpose::test);
  std::vector<float> coords, input;
  for (std::size_t p = 0; p < kPoints; ++p) {
    for (int a = 0; a < 2; ++a) coords.push_back(static_cast<float>(stream.below(5)) / 4);
    input.push_back(static_cast<float>(p));
  }
  const std::vector<double> box{0, 1, 0, 1};
  const auto order = hilbert_order(coords, 2, input, 1, box);
  std::vector<std::int64_t> permutation(kPoints);
  std::iota(permutation.begin(), permutation.end(), 0);
  shuffle(permutation, stream);
  std::vector<float> coords2, input2;
  for (const std::int64_t p : permutation) {
    coords2.insert(coords2.end(),
                   {coords[static_cast<std::size_t>(2 * p)], coords[static_cast<std::size_t>(2 * p + 1)]});
    input2.push_back(input[static_cast<std::size_t>(p)]);
  }
  const auto order2 = hilbert_order(coords2, 2, input2, 1, box);
  for (std::size_t i = 0; i < kPoints; ++i) EXPECT_EQ(permutation[static_cast<std::size_t>(order2[i])], order[i]);
}

TEST(Hilbert, PointsOutsideTheBoxAreClamped) {
  const std::vector<float> coords{-5, 0.1f, 0.5f, 0.5f, 9, 9};
  const std::vector<double> box{0, 1, 0, 1};
  auto order = hilbert_order(coords, 2, {}, 0, box);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2}));
}

}  // namespace
}  // namespace lano::hilbert_test
