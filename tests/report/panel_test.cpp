// Which panels a sample has, by the shape of its dataset, and what their pixels say.
#include "report/panel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/canvas.h"
#include "report/line_plot.h"
#include "report/sheet.h"

namespace lano::panel_test {
namespace {

Rgb pixel(const Image& image, std::int64_t x, std::int64_t y) {
  const auto at = static_cast<std::size_t>(3 * (y * image.width + x));
  return {image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
}

std::int64_t count(const Image& image, const Rgb& colour) {
  std::int64_t found = 0;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) found += pixel(image, x, y) == colour ? 1 : 0;
  }
  return found;
}

SetDescription set_of(Geometry geometry, Shape shape, std::size_t dims, std::vector<double> time = {}) {
  SetDescription set;
  set.name = "made";
  set.geometry = geometry;
  set.shape = std::move(shape);
  for (std::size_t a = 0; a < dims; ++a) set.coordinates.push_back({std::string(1, "xyz"[a]), a == 0 ? "m" : ""});
  set.output = {{"u", "m/s"}};
  set.time = std::move(time);
  return set;
}

// Nodes of the unit box.
std::vector<float> nodes(const Shape& shape) {
  std::vector<float> out;
  for (std::int64_t p = 0; p < element_count(shape); ++p) {
    std::vector<float> point;
    std::int64_t rest = p;
    for (std::size_t a = shape.size(); a-- > 0;) {
      point.insert(point.begin(), static_cast<float>(rest % shape[a]) / static_cast<float>(shape[a] - 1));
      rest /= shape[a];
    }
    out.insert(out.end(), point.begin(), point.end());
  }
  return out;
}

ShownSample sample_of(const SetDescription& set, std::vector<float> coordinates, const auto& value) {
  ShownSample sample;
  const std::size_t points = coordinates.size() / set.coordinates.size();
  for (std::size_t f = 0; f < std::max<std::size_t>(1, set.time.size()); ++f) {
    for (std::size_t p = 0; p < points; ++p) {
      sample.truth.push_back(value(f, p));
      sample.prediction.push_back(value(f, p) + (p == 0 ? 0.5f : 0.0f));
    }
  }
  sample.coordinates = std::move(coordinates);
  return sample;
}

TEST(Panel, OneDimensionIsLines) {
  SetDescription set = set_of(Geometry::grid, {11}, 1);
  set.input = {{"a", "1"}};
  ShownSample sample =
      sample_of(set, nodes({11}), [](std::size_t, std::size_t p) { return static_cast<float>(p) / 10; });
  sample.input.assign(11, 2.0f);
  const PanelRows rows = judged_panels(set, sample, {}, 200);
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows[0].size(), 4u);
  const std::vector<std::string> titles{"Input", "Truth", "Prediction", "Absolute error"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[0][i].title, titles[i]);
    EXPECT_TRUE(rows[0][i].plot);
  }
  EXPECT_EQ(rows[0][1].field, "u [m/s]");
  // The prediction stands over the truth, which is drawn in grey behind it.
  const Rgb truth = parsed_colour("#9aa7b2"), line = parsed_colour("#31688e");
  EXPECT_EQ(count(rows[0][1].image, truth), 0);
  EXPECT_GT(count(rows[0][2].image, truth), 5);
  EXPECT_GT(count(rows[0][2].image, line), 100);
}

TEST(Panel, ALineRisesToTheRight) {
  const LinePlot plot{{"x", 0, 1}, {"u", 0, 1}, {{"", "#ff0000", {0, 1}, {0, 1}}}};
  const Image image = draw_line_plot(plot, 100, 100);
  const std::int64_t left = image.width - 10 - 100, top = kPlotTop;
  for (const std::int64_t share : {20, 50, 80})
    EXPECT_EQ(pixel(image, left + share, top + 100 - share), (Rgb{255, 0, 0})) << share;
  EXPECT_NE(pixel(image, left + 20, top + 20), (Rgb{255, 0, 0}));
}

TEST(Panel, TicksAreRoundNumbersInTheRange) {
  EXPECT_EQ(even_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.2 * 2, 0.2 * 3, 0.2 * 4, 1}));
  EXPECT_EQ(even_ticks(-30, 70, 3), (std::vector<double>{0, 50}));
  EXPECT_EQ(even_ticks(2, 2, 5), (std::vector<double>{2}));
  EXPECT_EQ(tick_text(0.1 + 0.2 - 0.3, 1), "0");
  EXPECT_EQ(tick_text(1.5e-7, 1e-6), "1.5e-07");
  EXPECT_EQ(tick_text(1000.25, 1), "1000.25");  // digits that tell values of this extent apart
}

TEST(Panel, OneDimensionInTimeHasTimeDownwards) {
  const SetDescription set = set_of(Geometry::grid, {5}, 1, {0, 1, 2});
  const ShownSample sample = sample_of(set, nodes({5}), [](std::size_t f, std::size_t p) {
    return f == 2 && p == 4 ? 1.0f : 0.0f;  // at the end of time and space
  });
  const PanelRows rows = judged_panels(set, sample, {}, 100);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].back().title, "Error against time");
  ASSERT_EQ(rows[1].size(), 3u);
  const Image& image = rows[1][0].image;
  const std::int64_t left = image.width - 10 - 100;
  EXPECT_EQ(pixel(image, left + 97, kRasterTop + 97), colour(ColourMap::field, 1));
  EXPECT_EQ(pixel(image, left + 2, kRasterTop + 97), colour(ColourMap::field, 0));
  EXPECT_EQ(pixel(image, left + 97, kRasterTop + 2), colour(ColourMap::field, 0));
}

TEST(Panel, TheErrorOfEachTimeIsRelative) {
  const SetDescription set = set_of(Geometry::grid, {2}, 1, {0, 4});
  ShownSample sample = sample_of(set, {0, 1}, [](std::size_t, std::size_t) { return 1.0f; });
  sample.truth = {3, 4, 3, 4};
  sample.prediction = {3, 4, 3, 5};  // none, then 1 of 5
  const Panel panel = error_in_time(set, sample);
  EXPECT_NEAR(panel.high, 0.2, 1e-12);
}

TEST(Panel, PlanesInTimeAreAStripOfFiveFrames) {
  const SetDescription set = set_of(Geometry::grid, {4, 4}, 2, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  const ShownSample sample =
      sample_of(set, nodes({4, 4}), [](std::size_t f, std::size_t) { return static_cast<float>(f); });
  const PanelRows rows = judged_panels(set, sample, {}, 100);
  ASSERT_EQ(rows.size(), 4u);
  const std::vector<std::string> words{"Truth", "Prediction", "Error"};
  for (std::size_t r = 1; r < 4; ++r) {
    ASSERT_EQ(rows[r].size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(rows[r][i].title, words[r - 1] + ", t = " + std::to_string(2 * i));
      EXPECT_EQ(rows[r][i].bar, i == 4);
    }
  }
  for (std::size_t i = 0; i < 5; ++i)  // one scale for all frames and both fields: 0 to 8.5
    EXPECT_EQ(pixel(rows[1][i].image, 50, 10), colour(ColourMap::field, 2.0 * static_cast<double>(i) / 8.5));
}

TEST(Panel, AVolumeIsThreeNamedSlices) {
  const SetDescription set = set_of(Geometry::grid, {3, 5, 7}, 3);
  // High only in the point in the middle of x and y, and at the upper end of z.
  const ShownSample sample = sample_of(
      set, nodes({3, 5, 7}), [](std::size_t, std::size_t p) { return p == (1 * 5 + 2) * 7 + 6 ? 1.0f : 0.0f; });
  const SamplePainter painter(set, sample.coordinates, {}, {}, 70);
  ASSERT_EQ(painter.parts(), 3u);
  const auto draw = [&](std::size_t part) {
    return painter.draw("Truth", set.output[0], sample.truth, {0, 1}, ColourMap::field, part);
  };
  EXPECT_EQ(draw(0).field, "u [m/s], x-y at z = 0.5");
  EXPECT_EQ(draw(1).field, "u [m/s], x-z at y = 0.5");
  EXPECT_EQ(draw(2).field, "u [m/s], y-z at x = 0.5");
  EXPECT_EQ(count(draw(0).image, colour(ColourMap::field, 1)), 0);
  const Image xz = draw(1).image;  // 3 x 7 points of 10 pixels: the upper end, in the middle
  EXPECT_EQ(xz.width, 30);
  EXPECT_EQ(xz.height, 70);
  EXPECT_EQ(pixel(xz, 15, 2), colour(ColourMap::field, 1));
  EXPECT_EQ(count(xz, colour(ColourMap::field, 1)), 100);
  EXPECT_EQ(judged_panels(set, sample, {}, 70).size(), 3u);  // a row per slice
}

TEST(Panel, ACloudInSpaceIsSeenAlongEachAxisWithTheNearestInFront) {
  const SetDescription set = set_of(Geometry::points, {4}, 3);
  // Two points above one another in the middle: the upper one is high.
  const std::vector<float> coordinates{0.5f, 0.5f, 0.1f, 0.5f, 0.5f, 0.9f, 0, 0, 0, 1, 1, 1};
  const SamplePainter painter(set, coordinates, {}, {}, 100);
  ASSERT_EQ(painter.parts(), 3u);
  const std::vector<float> values{0, 1, 0.5f, 0.5f};
  const Panel above = painter.draw("Truth", set.output[0], values, {0, 1}, ColourMap::field, 0);
  EXPECT_EQ(above.field, "u [m/s], seen along z");
  EXPECT_EQ(pixel(above.image, 50, 50), colour(ColourMap::field, 1));
}

// A square in two triangles of which one is given: the other half stays white.
TEST(Panel, KnownCellsAreFilledAndNothingElse) {
  const SetDescription set = set_of(Geometry::points, {4}, 2);
  const std::vector<float> square{0, 0, 1, 0, 1, 1, 0, 1}, values{1, 1, 1, 1};
  const std::vector<std::int64_t> cells{0, 1, 2};
  const Panel half = SamplePainter(set, square, CellKind::triangle, cells, 100)
                         .draw("Truth", set.output[0], values, {0, 1}, ColourMap::field);
  EXPECT_EQ(pixel(half.image, 80, 70), colour(ColourMap::field, 1));
  EXPECT_EQ(pixel(half.image, 20, 30), (Rgb{255, 255, 255}));
  const Panel whole =
      SamplePainter(set, square, {}, {}, 100).draw("Truth", set.output[0], values, {0, 1}, ColourMap::field);
  EXPECT_EQ(pixel(whole.image, 20, 30), colour(ColourMap::field, 1));
}

TEST(Panel, HasItsWordsAndAColourBar) {
  Panel panel{"Truth",         "u", Image{50, 80, std::vector<std::uint8_t>(3 * 50 * 80, 200)}, false, true, 0, 4,
              ColourMap::field};
  const Image image = draw_panel(panel);
  const std::int64_t above = image.height - 80, bar = 50 + 10 + 5;
  EXPECT_GT(above, 2 * kTextHeight);
  EXPECT_EQ(pixel(image, 10, above + 10), (Rgb{200, 200, 200}));
  for (std::size_t c = 0; c < 3; ++c) {  // a row from its ends
    EXPECT_NEAR(pixel(image, bar, above + 1)[c], colour(ColourMap::field, 1)[c], 8);
    EXPECT_NEAR(pixel(image, bar, image.height - 2)[c], colour(ColourMap::field, 0)[c], 8);
  }
  Canvas words(image.width, kTextHeight);
  words.text(0, 0, "Truth", kInk);
  const Image title = words.take();
  EXPECT_TRUE(std::equal(title.rgb.begin(), title.rgb.end(), image.rgb.begin()));
  panel.bar = false;
  EXPECT_LT(draw_panel(panel).width, image.width);
}

// A model that diverged: nothing to see, but nothing breaks.
TEST(Panel, ValuesThatAreNotFiniteAreDrawnSomehow) {
  for (const bool line : {true, false}) {
    const Shape shape = line ? Shape{6} : Shape{3, 2};
    SetDescription set = set_of(Geometry::grid, shape, shape.size());
    ShownSample sample = sample_of(set, nodes(shape), [](std::size_t, std::size_t p) { return static_cast<float>(p); });
    sample.prediction = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f, 0};
    EXPECT_GT(draw_sheet(judged_panels(set, sample, {}, 60)).width, 0);
    sample.prediction.assign(6, NAN);
    EXPECT_GT(draw_sheet(judged_panels(set, sample, {}, 60)).width, 0);
  }
}

TEST(Canvas, LettersOutsideTheFont) {
  EXPECT_EQ(text_width("m\u00b2"), text_width("m^2"));
  EXPECT_EQ(text_width("\u00e9"), text_width("?"));
  EXPECT_EQ(text_that_fits("temperature", 6 * kTextAdvance), "temp..");
  EXPECT_EQ(text_that_fits("u", 6 * kTextAdvance), "u");
  EXPECT_EQ(field_label({"x", ""}), "x");  // never "x []"
  EXPECT_EQ(field_label({"x", "1"}), "x");
  EXPECT_EQ(field_label({"x", "mm"}), "x [mm]");
}

TEST(Sheet, AnimationsAreSmallAndOfTimeOnly) {
  const Shape shape{64, 64};
  std::vector<double> times(40);
  for (std::size_t t = 0; t < times.size(); ++t) times[t] = 0.1 * static_cast<double>(t);
  ShownSamples shown;
  shown.set = set_of(Geometry::grid, shape, 2, times);
  const std::vector<float> at = nodes(shape);
  shown.samples = {sample_of(shown.set, at, [&](std::size_t f, std::size_t p) {
    return std::sin(9 * at[2 * p] + 0.1f * static_cast<float>(f)) * std::cos(7 * at[2 * p + 1]);
  })};
  const std::string moving = animate(shown, 0);
  EXPECT_EQ(moving.compare(1, 3, "PNG"), 0);
  EXPECT_NE(moving.find("acTL"), std::string::npos);
  EXPECT_LT(moving.size(), 300000u);
  EXPECT_EQ(moving, animate(shown, 0));
  shown.set.shape = {8, 40};  // a picture narrower than its words
  shown.samples = {sample_of(shown.set, nodes({8, 40}), [](std::size_t f, std::size_t) { return float(f); })};
  EXPECT_NE(animate(shown, 0), "");
  shown.set.time = {1};
  shown.samples = {sample_of(shown.set, at, [](std::size_t, std::size_t) { return 1.0f; })};
  EXPECT_EQ(animate(shown, 0), "");
}

}  // namespace
}  // namespace lano::panel_test
