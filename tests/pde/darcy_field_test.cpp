#include "pde/darcy_field.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace lano::darcy_field_test {
namespace {

TEST(DarcyField, ValuesAndTheirShare) {
  // By symmetry g -> -g each value has probability 1/2. Cells of one field are strongly correlated (a few independent
  // patches each), so 400 fields give a deviation of roughly 0.5 / sqrt(4 * 400) = 0.0125; four of them.
  const DarcyFieldSampler sampler(32, {});
  std::vector<double> a(32 * 32);
  double share = 0;
  for (std::uint64_t sample = 0; sample < 400; ++sample) {
    sampler.coefficient(11, sample, a);
    for (const double value : a) {
      ASSERT_TRUE(value == 12 || value == 3);
      share += value == 12 ? 1.0 / (400 * 1024) : 0;
    }
  }
  EXPECT_NEAR(share, 0.5, 0.05);
}

TEST(DarcyField, VarianceAgainstTheSeries) {
  // E g(x)^2 averaged over the square = sum_k amplitude_k^2, since the basis is orthonormal (also at cell centres).
  constexpr int kN = 24, kSamples = 3000;
  const DarcyFieldSampler sampler(kN, {});
  std::vector<double> g(kN * kN);
  double measured = 0;
  for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
    sampler.gaussian(3, sample, g);
    for (const double value : g) measured += value * value / (kN * kN * kSamples);
  }
  double expected = 0, fourth = 0;
  for (int k1 = 0; k1 < kN; ++k1) {
    for (int k2 = 0; k2 < kN; ++k2) {
      if (k1 + k2 == 0) continue;
      const double amplitude = 3 / (std::numbers::pi * std::numbers::pi * (k1 * k1 + k2 * k2) + 9);
      expected += amplitude * amplitude;
      fourth += 2 * std::pow(amplitude, 4);
    }
  }
  EXPECT_NEAR(measured, expected, 5 * std::sqrt(fourth / kSamples));
}

TEST(DarcyField, SameFieldAtEveryResolution) {
  // Cell centres of 27 cells are also centres of 81: i -> 3i + 1. The finer field has more modes; with alpha = 6 these
  // are negligible (amplitude (pi 27)^-6 against 3^-6).
  const DarcyFieldConfig smooth{6, 3, 12, 3};
  const DarcyFieldSampler coarse(27, smooth), fine(81, smooth);
  std::vector<double> g(27 * 27), h(81 * 81);
  coarse.gaussian(5, 2, g);
  fine.gaussian(5, 2, h);
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < 27; ++i) {
    for (std::size_t j = 0; j < 27; ++j) {
      largest = std::max(largest, std::abs(g[i * 27 + j]));
      difference = std::max(difference, std::abs(g[i * 27 + j] - h[(3 * i + 1) * 81 + 3 * j + 1]));
    }
  }
  EXPECT_LT(difference, 1e-4 * largest);
}

TEST(DarcyField, SamplesDiffer) {
  const DarcyFieldSampler sampler(16, {});
  std::vector<double> a(256), b(256), c(256);
  sampler.gaussian(1, 0, a);
  sampler.gaussian(1, 1, b);
  sampler.gaussian(1, 0, c);
  EXPECT_NE(a, b);
  EXPECT_EQ(a, c);
}

}  // namespace
}  // namespace lano::darcy_field_test
