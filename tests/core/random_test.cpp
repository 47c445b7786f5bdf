#include "core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lano::random_test {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known answers published with Random123 for philox4x32-10.
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, StreamsDependOnEachPartOfTheirName) {
  const auto first = [](std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t sample) {
    return RandomStream(seed, purpose, step, sample).next();
  };
  const std::uint32_t base = first(1, Purpose::test, 2, 3);
  EXPECT_EQ(base, first(1, Purpose::test, 2, 3));
  EXPECT_NE(base, first(2, Purpose::test, 2, 3));
  EXPECT_NE(base, first(1ull << 32 | 1, Purpose::test, 2, 3));
  EXPECT_NE(base, first(1, Purpose::shuffle, 2, 3));
  EXPECT_NE(base, first(1, Purpose::test, 3, 3));
  EXPECT_NE(base, first(1, Purpose::test, 2, 4));
}

TEST(Random, NormalMoments) {
  RandomStream stream(7, Purpose::test);
  constexpr int kCount = 200000;
  double m1 = 0, m2 = 0, m4 = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = stream.normal();
    m1 += x / kCount;
    m2 += x * x / kCount;
    m4 += x * x * x * x / kCount;
  }
  // Standard errors: 1/sqrt(n), sqrt(2/n), sqrt(96/n); five of each.
  EXPECT_NEAR(m1, 0, 5 / std::sqrt(kCount));
  EXPECT_NEAR(m2, 1, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(m4, 3, 5 * std::sqrt(96.0 / kCount));
}

TEST(Random, BelowIsUniform) {
  RandomStream stream(3, Purpose::test);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[stream.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 5 * std::sqrt(10000.0 * 6 / 7));
}

TEST(Random, ShuffleIsAPermutationAndRepeats) {
  std::vector<std::int64_t> a(100), b;
  std::iota(a.begin(), a.end(), 0);
  b = a;
  const auto identity = a;
  RandomStream one(5, Purpose::shuffle, 9), two(5, Purpose::shuffle, 9);
  shuffle(a, one);
  shuffle(b, two);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, identity);
  std::sort(a.begin(), a.end());
  EXPECT_EQ(a, identity);
}

}  // namespace
}  // namespace lano::random_test
