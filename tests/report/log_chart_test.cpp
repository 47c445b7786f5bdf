#include "report/log_chart.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lano::log_chart_test {
namespace {

Rgb pixel(const Image& image, std::int64_t x, std::int64_t y) {
  const auto at = static_cast<std::size_t>(3 * (y * image.width + x));
  return {image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
}

// Where a colour is, and nothing else near it.
std::vector<std::pair<std::int64_t, std::int64_t>> places(const Image& image, const Rgb& colour) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (pixel(image, x, y) == colour) found.emplace_back(x, y);
    }
  }
  return found;
}

TEST(LogChart, APowerLawIsAStraightLineOfItsSlope) {
  // One curve of slope 2 over one decade of x and two of y: the ends and the middle of the red pixels lie on one line.
  Curve curve{"", "#ff0000", {1000, std::sqrt(1e7), 10000}, {1, 10, 100}};
  const Image image = draw_log_chart({"", "", "", {curve}}, 700, 500);
  ASSERT_EQ(image.rgb.size(), std::size_t{3} * 700 * 500);
  std::int64_t left = 1 << 20, right = 0, low = 0, high = 1 << 20;
  for (const auto& [x, y] : places(image, {255, 0, 0})) {
    if (y < 80) continue;  // the legend's key
    left = std::min(left, x);
    right = std::max(right, x);
    low = std::max(low, y);
    high = std::min(high, y);
  }
  ASSERT_LT(left, right);
  bool middle = false;
  for (const auto& [x, y] : places(image, {255, 0, 0}))
    middle = middle || (std::abs(2 * x - left - right) < 6 && std::abs(2 * y - low - high) < 6);
  EXPECT_TRUE(middle);
}

TEST(LogChart, TextIsDrawnAndNothingDrawableIsNoFailure) {
  const Image with = draw_log_chart({"time", "N", "ms", {}}), without = draw_log_chart({"", "", "", {}});
  EXPECT_NE(with.rgb, without.rgb);
  const Image odd = draw_log_chart({"", "", "", {{"a", "#00ff00", {-1, 0, 10}, {1, 2, std::nan("")}}}});
  EXPECT_TRUE(places(odd, {0, 255, 0}).empty());
  const Image one =
      draw_log_chart({"", "", "", {{"a", "#00ff00", {10}, {5}}}});  // a single point is a dot, not a division by zero
  EXPECT_FALSE(places(one, {0, 255, 0}).empty());
}

TEST(Curves, LogarithmicXSpacesDecadesEvenly) {
  const std::string svg = draw_curves({{"a", "#000000", {10, 100, 1000}, {1, 10, 100}}}, "N", "ms", {562, 280, true});
  // 62 left, 14 right: 62 + 0, 243 and 486 pixels.
  EXPECT_NE(svg.find("points=\"62.0,"), std::string::npos) << svg;
  EXPECT_NE(svg.find(" 305.0,"), std::string::npos) << svg;
  EXPECT_NE(svg.find(" 548.0,"), std::string::npos) << svg;
}

// Values that are close have labels too.
TEST(Curves, ANarrowRangeHasSeveralTicks) {
  const std::string svg = draw_curves({{"a", "#000000", {1, 2}, {0.061, 0.068}}}, "t", "relative L2");
  for (const char* tick : {">0.06<", ">0.07<"}) EXPECT_NE(svg.find(tick), std::string::npos) << tick << " in " << svg;
}

}  // namespace
}  // namespace lano::log_chart_test
