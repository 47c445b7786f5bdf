#include "data/interpolation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace lano::interpolation_test {
namespace {

std::vector<float> random_points(std::int64_t count, std::size_t dims, std::uint64_t seed, float scale = 1) {
  RandomStream stream(seed, Purpose::test);
  std::vector<float> points;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count) * dims; ++i)
    points.push_back(scale * static_cast<float>(stream.uniform()) * (i % dims == 0 ? 3.0f : 1.0f));
  return points;
}

// The search in boxes against looking at every point, inside the cloud and outside, in one to three dimensions.
TEST(Interpolation, FindsTheNearestPoints) {
  for (const std::size_t dims : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    for (const std::int64_t count : {1, 3, 40, 500}) {
      const std::vector<float> sources = random_points(count, dims, 1 + dims), targets = random_points(60, dims, 9, 2);
      const InterpolationPlan plan = plan_interpolation({count, 1, 1, 1}, sources, targets, dims);
      EXPECT_FALSE(plan.multilinear);
      ASSERT_EQ(plan.per_point, std::min<std::size_t>(std::size_t{1} << dims, static_cast<std::size_t>(count)));
      for (std::size_t t = 0; t < 60; ++t) {
        std::vector<std::pair<double, std::int64_t>> all;
        for (std::int64_t p = 0; p < count; ++p) {
          double distance = 0;
          for (std::size_t a = 0; a < dims; ++a) {
            const double d = double{sources[static_cast<std::size_t>(p) * dims + a]} - targets[t * dims + a];
            distance += d * d;
          }
          all.emplace_back(distance, p);
        }
        std::sort(all.begin(), all.end());
        double sum = 0, weights = 0;
        for (std::size_t k = 0; k < plan.per_point; ++k) sum += 1 / all[k].first;
        for (std::size_t k = 0; k < plan.per_point; ++k) {
          EXPECT_EQ(plan.sources[t * plan.per_point + k], all[k].second) << dims << " " << count << " " << t;
          EXPECT_NEAR(plan.weights[t * plan.per_point + k], 1 / all[k].first / sum, 1e-6);
          weights += plan.weights[t * plan.per_point + k];
        }
        EXPECT_NEAR(weights, 1, 1e-5);
      }
    }
  }
}

// A product of linear functions on a stretched grid is met exactly; outside, the edge holds.
TEST(Interpolation, IsMultilinearOnGrids) {
  const std::vector<float> x{0, 0.1f, 0.5f, 1}, y{-1, 2, 3};
  const auto field = [](double u, double v) { return (1 + 2 * u) * (3 - v); };
  std::vector<float> sources, values;
  for (const float u : x) {
    for (const float v : y) {
      sources.insert(sources.end(), {u, v});
      values.push_back(static_cast<float>(field(u, v)));
    }
  }
  const std::vector<float> targets{0.05f, 0, 0.1f, 2, 0.75f, 2.5f, 1, 3, 0, -1, 5, 9, -5, 0.5f};
  const InterpolationPlan plan = plan_interpolation({4, 3}, sources, targets, 2);
  EXPECT_TRUE(plan.multilinear);
  const std::vector<float> found = interpolate(plan, values, 1);
  for (std::size_t t = 0; t < found.size(); ++t) {
    const double u = std::clamp(targets[2 * t], 0.0f, 1.0f), v = std::clamp(targets[2 * t + 1], -1.0f, 3.0f);
    EXPECT_NEAR(found[t], field(u, v), 1e-5) << t;
  }
}

}  // namespace
}  // namespace lano::interpolation_test
