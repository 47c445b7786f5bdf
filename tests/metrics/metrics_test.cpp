#include "metrics/metrics.h"

#include <cmath>

#include "scratch.h"

namespace lano::metrics_test {
namespace {

TEST(Metrics, RelativeL2) {
  EXPECT_DOUBLE_EQ(relative_l2(std::vector<float>{3, 4}, std::vector<float>{0, 5}), std::sqrt(10.0) / 5);
  EXPECT_DOUBLE_EQ(relative_l2(std::vector<float>{1, 1}, std::vector<float>{1, 1}), 0);
  EXPECT_DOUBLE_EQ(relative_l2(std::vector<float>{3, 4}, std::vector<float>{0, 0}), 5);  // zero truth: the plain norm
  EXPECT_ERROR_WITH(relative_l2(std::vector<float>{1}, std::vector<float>{1, 2}), "2 predicted values");
}

TEST(Metrics, SumsAreInDouble) {
  // A million equal errors: float sums would stall near 2^24.
  const std::vector<float> truth(4'000'000, 1.0f), prediction(4'000'000, 1.001f);
  EXPECT_NEAR(relative_l2(prediction, truth), static_cast<double>(1.001f) - 1, 1e-12);
}

TEST(Metrics, MaxError) { EXPECT_DOUBLE_EQ(max_error(std::vector<float>{1, -4}, std::vector<float>{0.5f, 1}), 5); }

TEST(Metrics, H1SeesSlopesNotOffsets) {
  const Shape shape{5, 4};
  std::vector<float> truth, shifted, steeper;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 4; ++j) {
      const float u = 2.0f * static_cast<float>(i) + 3.0f * static_cast<float>(j);
      truth.push_back(u);
      shifted.push_back(u + 100);
      steeper.push_back(u + 0.5f * static_cast<float>(i));
    }
  }
  const double spacing[] = {0.5, 2.0};  // slopes 4 and 1.5; the change is 1 in the first
  EXPECT_DOUBLE_EQ(relative_h1(shifted, truth, shape, 1, spacing), 0);
  EXPECT_DOUBLE_EQ(relative_h1(steeper, truth, shape, 1, spacing), 1 / std::sqrt(16 + 2.25));
}

TEST(Metrics, Quantiles) {
  const ErrorSummary s = summarise(std::vector<double>{4, 1, 3, 2, 5});
  EXPECT_DOUBLE_EQ(s.mean, 3);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(s.minimum, 1);
  EXPECT_DOUBLE_EQ(s.q25, 2);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.q95, 4.8);
  EXPECT_DOUBLE_EQ(s.maximum, 5);
}

}  // namespace
}  // namespace lano::metrics_test
