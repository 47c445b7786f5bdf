// What is left out of a measurement of cost, and the slopes that are read off it, on cells of known growth.
#include "bench/cost_bench.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lano::bench {
namespace {

// Cells at 1024, 4096, ...: ms = first_ms (N / 1024)^power, bytes linear in N.
std::vector<CostCell> growing(double first_ms, double power, std::size_t count) {
  std::vector<CostCell> cells;
  for (std::int64_t points = 1024; cells.size() < count; points *= 4) {
    const double ratio = static_cast<double>(points) / 1024;
    cells.push_back({"softmax", Work::step, points, first_ms * std::pow(ratio, power), 1e6 * ratio, ""});
  }
  return cells;
}

TEST(CostBench, SlopesAreThoseOfTheLargestSizesThatWereMeasured) {
  std::vector<CostCell> cells = growing(3, 2, 4);
  EXPECT_NEAR(fitted_slope(cells, &CostCell::ms), 2, 1e-12);
  EXPECT_NEAR(fitted_slope(cells, &CostCell::bytes), 1, 1e-12);
  cells.front().ms *= 100;  // not among the last three
  EXPECT_NEAR(fitted_slope(cells, &CostCell::ms), 2, 1e-12);
  EXPECT_LT(fitted_slope(cells, &CostCell::ms, 4), 1.5);
  cells.push_back({"softmax", Work::step, 262144, 0, 0, "left out"});
  EXPECT_NEAR(fitted_slope(cells, &CostCell::ms), 2, 1e-12);
  EXPECT_TRUE(std::isnan(fitted_slope(growing(3, 2, 1), &CostCell::ms)));
  EXPECT_TRUE(std::isnan(fitted_slope({}, &CostCell::ms)));
}

TEST(CostBench, TheNextSizeIsExpectedFromTheGrowthOfTheLastTwo) {
  const CostCell next = expected_cost(growing(3, 1.5, 3), 65536, false);
  EXPECT_EQ(next.points, 65536);
  EXPECT_NEAR(next.ms, 3 * std::pow(64, 1.5), 1e-6);
  EXPECT_NEAR(next.bytes, 64e6, 1e-3);
  EXPECT_EQ(expected_cost({}, 1024, true).ms, 0);
  // A slow start hides the growth: at least linear, and quadratic where that is known.
  EXPECT_NEAR(expected_cost(growing(3, 0.1, 3), 65536, false).ms, 3 * std::pow(16, 0.1) * 4, 1e-6);
  EXPECT_NEAR(expected_cost(growing(3, 0.1, 3), 65536, true).ms, 3 * std::pow(16, 0.1) * 16, 1e-6);
  EXPECT_NEAR(expected_cost(growing(3, 1, 1), 4096, true).ms, 3 * 16, 1e-9);
  std::vector<CostCell> cells = growing(3, 2, 3);
  cells.back().left_out = "no memory";
  EXPECT_NEAR(expected_cost(cells, 65536, false).ms, 3 * 64.0 * 64.0, 1e-6);
}

// A step of softmax of 27 s at 16,384 points, as two cores make it, is 432 s at 65,536: measured, and once.
TEST(CostBench, ExactAttentionAtTheLargestDefaultSizeIsNotLeftOut) {
  const CostCell last = expected_cost(growing(27e3 / 256, 2, 3), 65536, true);
  EXPECT_NEAR(last.ms / 1e3, 432, 1e-6);
  EXPECT_LT(last.ms / 1e3, kLongestCall);
  EXPECT_GT(last.ms / 1e3, kRepeatTime);
}

}  // namespace
}  // namespace lano::bench
