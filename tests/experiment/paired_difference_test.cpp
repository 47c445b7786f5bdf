// The statistics of a race against closed forms, published tables and brute force.
#include "experiment/paired_difference.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "scratch.h"

namespace lano::paired_difference_test {
namespace {

// With one and two degrees of freedom the distribution is elementary.
TEST(StudentT, HasTheClosedFormsOfOneAndTwoDegreesOfFreedom) {
  for (const double t : {0.0, 0.01, 0.5, 1.0, 3.0, 40.0, 1e4}) {
    EXPECT_NEAR(student_t_tail(t, 1), 1 - 2 / std::numbers::pi * std::atan(t), 1e-14) << t;
    EXPECT_NEAR(student_t_tail(-t, 2), 1 - t / std::sqrt(2 + t * t), 1e-14) << t;
  }
  for (const double p : {0.001, 0.025, 0.3, 0.5, 0.75, 0.975, 0.9999}) {
    const double one = std::tan(std::numbers::pi * (p - 0.5)), two = (2 * p - 1) / std::sqrt(2 * p * (1 - p));
    EXPECT_NEAR(student_t_quantile(p, 1), one, 1e-9 * (1 + std::abs(one))) << p;
    EXPECT_NEAR(student_t_quantile(p, 2), two, 1e-9 * (1 + std::abs(two))) << p;
  }
}

// Tables of the t distribution as printed in textbooks; the last is the normal distribution's.
TEST(StudentT, HasTheQuantilesOfTheTables) {
  const struct {
    double probability, freedom, quantile;
  } rows[] = {{0.975, 2, 4.303},  {0.975, 3, 3.182},   {0.975, 4, 2.776},   {0.975, 9, 2.262},
              {0.975, 30, 2.042}, {0.975, 120, 1.980}, {0.95, 5, 2.015},    {0.995, 10, 3.169},
              {0.9995, 7, 5.408}, {0.90, 20, 1.325},   {0.975, 1e7, 1.960}, {0.025, 3, -3.182}};
  for (const auto& row : rows)
    EXPECT_NEAR(student_t_quantile(row.probability, row.freedom), row.quantile, 5.1e-4) << row.freedom;
  EXPECT_ERROR_WITH(student_t_quantile(1, 3), "a probability between 0 and 1");
}

// For whole a and b, I_x(a, b) is the chance of at least a heads in a + b - 1 throws of a coin that shows x.
TEST(IncompleteBeta, IsABinomialTail) {
  for (const auto& [a, b] : {std::pair{1, 1}, {2, 5}, {7, 3}, {40, 60}, {1, 200}}) {
    for (const double x : {0.003, 0.1, 0.4, 0.5, 0.77, 0.999}) {
      const int throws = a + b - 1;
      double tail = 0;
      for (int heads = a; heads <= throws; ++heads) {
        tail += std::exp(std::lgamma(throws + 1) - std::lgamma(heads + 1) - std::lgamma(throws - heads + 1) +
                         heads * std::log(x) + (throws - heads) * std::log1p(-x));
      }
      EXPECT_NEAR(incomplete_beta(a, b, x), tail, 1e-12) << a << " " << b << " " << x;
    }
  }
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

// By hand: differences -1, -2, -3 have mean -2 and deviation 1; t(2) at 0.975 is 4.302653, the standard error 1/sqrt 3.
TEST(PairedOverSeeds, IsTheTextbookInterval) {
  const PairedDifference found = paired_over_seeds(std::vector{10.0, 11.0, 9.0}, std::vector{9.0, 9.0, 6.0});
  EXPECT_EQ(found.count, 3);
  EXPECT_DOUBLE_EQ(found.difference, -0.2);
  const double reach = 4.30265272991 / std::sqrt(3.0);
  EXPECT_NEAR(found.low, (-2 - reach) / 10, 1e-10);
  EXPECT_NEAR(found.high, (-2 + reach) / 10, 1e-10);
  EXPECT_FALSE(found.excludes_zero());
  EXPECT_NEAR(found.probability, 1 - std::sqrt(12.0) / std::sqrt(14.0), 1e-12);  // t = sqrt 12, closed form of two
}

TEST(PairedOverSeeds, PairsCancelWhatTheSeedsHaveInCommon) {
  // A spread of seeds far beyond the difference, which is the same in each.
  const PairedDifference found = paired_over_seeds(std::vector{1.0, 2.0, 6.0}, std::vector{0.9, 1.91, 5.9});
  EXPECT_TRUE(found.excludes_zero());
  EXPECT_LT(found.high, 0);
  EXPECT_TRUE(std::isnan(paired_over_seeds(std::vector{1.0}, std::vector{0.5}).low));
  EXPECT_FALSE(paired_over_seeds(std::vector{1.0}, std::vector{0.5}).excludes_zero());
  const PairedDifference same = paired_over_seeds(std::vector{1.0, 2.0}, std::vector{1.0, 2.0});
  EXPECT_FALSE(same.excludes_zero());
  EXPECT_EQ(same.probability, 1);
  EXPECT_ERROR_WITH(paired_over_seeds(std::vector{1.0}, std::vector{1.0, 2.0}), "as many of both");
}

// The interval holds the truth about as often as it says: the mean of seven seeds' differences is 0.3.
TEST(PairedOverSeeds, HoldsTheTruthNineteenTimesOfTwenty) {
  constexpr int kTrials = 4000;
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    RandomStream stream(7, Purpose::test, static_cast<std::uint64_t>(trial));
    std::vector<double> reference, other;
    for (int seed = 0; seed < 7; ++seed) {
      reference.push_back(10);
      other.push_back(10.3 + stream.normal());
    }
    const PairedDifference found = paired_over_seeds(reference, other);
    held += found.low <= 0.03 && 0.03 <= found.high;
  }
  // Standard deviation of the share: sqrt(0.95 0.05 / 4000) = 0.0034.
  EXPECT_NEAR(static_cast<double>(held) / kTrials, 0.95, 4 * 0.0034);
}

// The share of all sign patterns, by recursion.
double brute_force(const std::vector<double>& differences) {
  double seen = 0;
  for (const double d : differences) seen += d;
  std::int64_t count = 0;
  const auto walk = [&](auto&& self, std::size_t i, double sum) -> void {
    if (i == differences.size()) {
      count += std::abs(sum) >= std::abs(seen) - 1e-9;
      return;
    }
    self(self, i + 1, sum + differences[i]);
    self(self, i + 1, sum - differences[i]);
  };
  walk(walk, 0, 0);
  return static_cast<double>(count) / std::exp2(static_cast<double>(differences.size()));
}

PairedDifference of_differences(const std::vector<double>& differences) {
  std::vector<double> reference(differences.size(), 5.0), other;
  for (const double d : differences) other.push_back(5 + d);
  return paired_over_samples(reference, other);
}

TEST(PairedOverSamples, FewSamplesAreFlippedInEveryWay) {
  EXPECT_EQ(of_differences({1, 2, 3}).probability, 2.0 / 8);        // all one way
  EXPECT_EQ(of_differences({0.1, 0.2, -0.3}).probability, 1);       // no difference of means
  EXPECT_EQ(of_differences({1, 1, 1, -1}).probability, 10.0 / 16);  // |sum| 2 or 4: 2 (4 + 1)
  EXPECT_EQ(of_differences({0, 0, 0}).probability, 1);
  RandomStream stream(3, Purpose::test);
  for (const std::size_t count : {2u, 7u, 12u, 15u}) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < count; ++i) differences.push_back(0.3 + stream.normal());
    EXPECT_EQ(of_differences(differences).probability, brute_force(differences)) << count;
  }
}

// Ways that give the same sum count, though they round to different ones: tenths, counted as whole numbers.
TEST(PairedOverSamples, EqualSumsAreEqualWhateverTheirRounding) {
  RandomStream stream(6, Purpose::test);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> tenths, whole;
    for (int i = 0; i < 9; ++i) {
      whole.push_back(static_cast<double>(stream.below(9)) - 3);
      tenths.push_back(whole.back() / 10);
    }
    EXPECT_EQ(of_differences(tenths).probability, brute_force(whole)) << trial;
  }
}

TEST(PairedOverSamples, ManySamplesAreFlippedAtRandom) {
  std::vector<double> differences;
  RandomStream stream(4, Purpose::test);
  for (int i = 0; i < 20; ++i) differences.push_back(0.25 + stream.normal());
  const double exact = brute_force(differences), found = of_differences(differences).probability;
  ASSERT_GT(exact, 0.01);
  ASSERT_LT(exact, 0.9);
  EXPECT_NEAR(found, exact, 4 * std::sqrt(exact * (1 - exact) / 20000));
  EXPECT_NE(found, exact);
  EXPECT_EQ(found, of_differences(differences).probability);  // the same at every call
  // Never 0: what was seen is one of the ways.
  EXPECT_EQ(of_differences(std::vector<double>(100, 1.0)).probability, 1.0 / 20001);
}

// Six samples can be drawn in 46656 ways. The ends of the interval are those ways' quantiles, so far out as a t
// interval of six reaches: t(5) at 0.975 is 2.570582, times sqrt(6/5) 2.815931, beyond which the normal distribution
// has 0.002432.
TEST(PairedOverSamples, TheIntervalIsThatOfEveryResample) {
  const std::vector<double> reference{1.0, 2.0, 3.0, 4.5, 2.7, 3.3}, other{0.7, 2.1, 2.0, 4.4, 2.2, 3.5};
  std::vector<double> all;
  for (int way = 0; way < 46656; ++way) {
    double a = 0, b = 0;
    for (int place = 0, rest = way; place < 6; ++place, rest /= 6) {
      a += reference[static_cast<std::size_t>(rest % 6)];
      b += other[static_cast<std::size_t>(rest % 6)];
    }
    all.push_back(b / a - 1);
  }
  std::sort(all.begin(), all.end());
  const PairedDifference found = paired_over_samples(reference, other);
  // 20000 draws know a share of 0.002432 to 4 * 0.00035: places 48 to 179 of 46656.
  EXPECT_GE(found.low, all[48]);
  EXPECT_LE(found.low, all[179]);
  EXPECT_GE(found.high, all[46656 - 180]);
  EXPECT_LE(found.high, all[46656 - 49]);
  EXPECT_NEAR(found.difference, 14.9 / 16.5 - 1, 1e-14);
}

// For many samples it is the normal interval of a ratio: s = deviation of (b - r a) / (sqrt n mean a).
TEST(PairedOverSamples, TheIntervalIsNormalForManySamples) {
  std::vector<double> reference, other;
  RandomStream stream(5, Purpose::test);
  for (int i = 0; i < 400; ++i) {
    reference.push_back(std::exp(0.5 * stream.normal()));
    other.push_back(0.95 * reference.back() * std::exp(0.2 * stream.normal()));
  }
  double a = 0, b = 0, squares = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    a += reference[i] / 400;
    b += other[i] / 400;
  }
  for (std::size_t i = 0; i < 400; ++i) squares += std::pow(other[i] - b / a * reference[i], 2);
  const double error = std::sqrt(squares / 399) / std::sqrt(400.0) / a;
  const PairedDifference found = paired_over_samples(reference, other);
  EXPECT_NEAR(found.low, b / a - 1 - 1.96 * error, 0.15 * error);
  EXPECT_NEAR(found.high, b / a - 1 + 1.96 * error, 0.15 * error);
  // Errors that are one multiple of the other in every sample leave no doubt.
  for (std::size_t i = 0; i < 400; ++i) other[i] = 0.5 * reference[i];
  EXPECT_DOUBLE_EQ(paired_over_samples(reference, other).low, -0.5);
  EXPECT_DOUBLE_EQ(paired_over_samples(reference, other).high, -0.5);
  EXPECT_TRUE(std::isnan(paired_over_samples(std::vector{1.0}, std::vector{2.0}).low));
}

}  // namespace
}  // namespace lano::paired_difference_test
