#include <fmt/format.h>
#include <png.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "core/atomic_file.h"
#include "report/html_report.h"
#include "report/picture.h"
#include "report/png_file.h"
#include "report/sheet.h"
#include "report/vtk.h"
#include "scratch.h"

namespace lano::report_test {
namespace {

std::vector<std::uint8_t> decode_png(const std::string& bytes, std::uint32_t& width, std::uint32_t& height) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()), 0);
  header.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(header));
  EXPECT_NE(png_image_finish_read(&header, nullptr, pixels.data(), 0, nullptr), 0);
  width = header.width;
  height = header.height;
  return pixels;
}

TEST(Picture, AGridHasXToTheRightAndYUp) {
  // Only the point (i=1, j=0) of a 2x2 grid is high: right, bottom.
  const std::vector<float> values{0, 0, 1, 0};
  const Image image = draw_field(Geometry::grid, {2, 2}, {}, 2, values, 0, 1, ColourMap::field, 10);
  std::uint32_t width = 0, height = 0;
  const auto pixels = decode_png(encode_png(image), width, height);
  ASSERT_EQ(width, 10u);
  ASSERT_EQ(height, 10u);
  const auto at = [&](std::size_t x, std::size_t y) {
    return Rgb{pixels[3 * (y * 10 + x)], pixels[3 * (y * 10 + x) + 1], pixels[3 * (y * 10 + x) + 2]};
  };
  EXPECT_EQ(at(9, 9), colour(ColourMap::field, 1));
  EXPECT_EQ(at(0, 9), colour(ColourMap::field, 0));
  EXPECT_EQ(at(9, 0), colour(ColourMap::field, 0));
  EXPECT_EQ(at(0, 0), colour(ColourMap::field, 0));
}

TEST(Picture, PointsColourTheirSurroundings) {
  const std::vector<float> coords{0, 0, 1, 1}, values{0, 1};
  const Image image = draw_field(Geometry::points, {2}, coords, 2, values, 0, 1, ColourMap::field, 50);
  const auto at = [&](std::int64_t x, std::int64_t y) {
    const auto p = static_cast<std::size_t>(3 * (y * image.width + x));
    return Rgb{image.rgb[p], image.rgb[p + 1], image.rgb[p + 2]};
  };
  EXPECT_EQ(at(0, image.height - 1), colour(ColourMap::field, 0));
  EXPECT_EQ(at(image.width - 1, 0), colour(ColourMap::field, 1));
}

// A ring of two cells' width: the hole stays white, the cells are filled, though points are far apart.
TEST(Picture, AMeshIsFilledCellByCell) {
  std::vector<float> coordinates, values;
  const std::int64_t around = 33, out = 3;
  for (std::int64_t i = 0; i < around; ++i) {
    for (std::int64_t j = 0; j < out; ++j) {
      const double phi = 2 * M_PI * static_cast<double>(i) / 32, r = 1 + 0.5 * static_cast<double>(j);
      coordinates.push_back(static_cast<float>(r * std::cos(phi)));
      coordinates.push_back(static_cast<float>(r * std::sin(phi)));
      values.push_back(static_cast<float>(r));
    }
  }
  const Image image = draw_field(Geometry::mesh, {around, out}, coordinates, 2, values, 1, 2, ColourMap::field, 201);
  const auto at = [&](double x, double y) {
    const auto px = std::llround((x / 4 + 0.5) * 200), py = std::llround((0.5 - y / 4) * 200);
    const auto first = image.rgb.begin() + 3 * (py * image.width + px);
    return Rgb{first[0], first[1], first[2]};
  };
  const Rgb white{255, 255, 255};
  EXPECT_EQ(at(0, 0), white);
  EXPECT_EQ(at(1.7, 1.7), white);  // beyond the outer circle
  for (const double phi : {0.1, 1.0, 2.5, 4.0, 5.9}) {
    for (const double r : {1.1, 1.3, 1.8}) {
      const Rgb found = at(r * std::cos(phi), r * std::sin(phi)), wanted = colour(ColourMap::field, r - 1);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(found[c], wanted[c], 12) << r << " " << phi;
    }
  }
}

TEST(Picture, AFarFieldIsLeftOut) {
  std::vector<float> coordinates, values;
  for (int i = 0; i < 200; ++i) {  // a hundred points in the unit square's diagonal, some at 100
    const float x = i < 190 ? static_cast<float>(i) / 190 : (i % 2 == 0 ? 100.0f : -100.0f);
    coordinates.insert(coordinates.end(), {x, x});
    values.push_back(x);
  }
  const Image image = draw_field(Geometry::points, {200}, coordinates, 2, values, 0, 1, ColourMap::field, 100);
  // The diagonal crosses the whole picture, not a pixel in its middle.
  const auto first = image.rgb.begin() + 3 * (75 * image.width + 25);
  EXPECT_NE((Rgb{first[0], first[1], first[2]}), (Rgb{255, 255, 255}));
}

TEST(Picture, ColoursAreClamped) {
  EXPECT_EQ(colour(ColourMap::error, -1), colour(ColourMap::error, 0));
  EXPECT_EQ(colour(ColourMap::error, 2), colour(ColourMap::error, 1));
  EXPECT_EQ(colour(ColourMap::error, NAN), colour(ColourMap::error, 0));
}

TEST(Picture, Base64OfTheStandard) {  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

ReportContent content() {
  ReportContent c;
  c.title = "LANO on <darcy>";
  c.headline = {{"relative L2 on test", "3.0e-02"}};
  c.summary = {{"Parameters", "82481"}};
  c.curves = {{"training loss", "#000", {1, 2, 3}, {1, 0.1, 0.01}}, {"validation", "#111", {1, 2, 3}, {1, NAN, 0.02}}};
  c.errors = {0.01, 0.02, 0.03, 0.04};
  c.set.shape = {2, 2};
  c.set.coordinates = {{"x", "1"}, {"y", "1"}};
  c.set.input = {{"coefficient", "1"}};
  c.set.output = {{"pressure", "1"}};
  c.samples = {{"best", 7, 0.01, {0, 0, 0, 1, 1, 0, 1, 1}, {1, 2, 3, 4}, {1, 1, 1, 2}, {1, 1, 1, 2.5f}}};
  return c;
}

TEST(Report, IsSelfContainedAndComplete) {
  const std::string html = render_report(content());
  for (const char* part :
       {"LANO on &lt;darcy&gt;", "3.0e-02", "82481", "Learning curves", "Input", "Truth", "Prediction",
        "Absolute error", "test sample 7", "data:image/png;base64,", "linear-gradient", "<polyline"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  for (const char* part : {"http://", "https://", "<script", "<link", "nan", "<darcy>"}) {
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  }
}

TEST(Report, ShowsTheErrorInTime) {
  ReportContent c = content();
  EXPECT_EQ(render_report(c).find("Error in time"), std::string::npos);
  c.steps = {{"mean over test samples", "#000", {1, 2, 3}, {0.01, 0.02, 0.03}}};
  EXPECT_NE(render_report(c).find("Error in time"), std::string::npos);
  EXPECT_NE(render_report(c).find(">frame</text>"), std::string::npos);
  c.steps_over = "t";
  EXPECT_NE(render_report(c).find(">t</text>"), std::string::npos);
}

TEST(Report, SamplesInTimeAreAStripAndMove) {
  ReportContent c = content();
  c.set.time = {0, 1};
  c.samples[0].truth = {1, 1, 1, 2, 1, 1, 1, 3};
  c.samples[0].prediction = {1, 1, 1, 2, 1, 1, 1, 2.5f};
  const std::string html = render_report(c);
  EXPECT_NE(html.find("input, truth, prediction and error at several times"), std::string::npos);
  EXPECT_NE(html.find("truth, prediction and error, animated"), std::string::npos);
  EXPECT_EQ(render_report(content()).find("animated"), std::string::npos);
}

TEST(Report, SaysHowTheNumberWasPicked) {
  ReportContent c = content();
  c.note = "Best of 3 epochs & read once.";
  EXPECT_NE(render_report(c).find("<p class=\"quiet\">Best of 3 epochs &amp; read once.</p>"), std::string::npos);
}

TEST(Report, SurvivesEmptyAndConstantContent) {
  ReportContent c;
  EXPECT_NE(render_report(c).find("no curve yet"), std::string::npos);
  c = content();
  c.samples[0].truth = c.samples[0].prediction = {2, 2, 2, 2};
  c.samples[0].input = {7.25f, 7.25f, 7.25f, 7.25f};
  c.errors = {0.5};
  c.curves = {{"one point", "#000", {1}, {0.5}}};
  const std::string html = render_report(c);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_NE(html.find("<span></span><span>7.25</span><span></span>"), std::string::npos);  // one number next to its bar
}

TEST(Vtk, StructuredGridKeepsTheOrderOfPoints) {
  test::Scratch scratch;
  SetDescription set = content().set;
  set.shape = {2, 3};
  const std::vector<float> coords{0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2}, values{1, 2, 3, 4, 5, 6};
  write_vtk(scratch / "a.vts", set, coords, {{"pressure", values}});
  const std::string text = read_file(scratch / "a.vts", "r");
  EXPECT_NE(text.find("WholeExtent=\"0 2 0 1 0 0\""), std::string::npos);  // the last axis is VTK's first
  const auto data = text.find("<AppendedData encoding=\"raw\">\n_") + 31;
  std::uint64_t size = 0;
  std::memcpy(&size, text.data() + data, 8);
  EXPECT_EQ(size, 24u);
  float third = 0;
  std::memcpy(&third, text.data() + data + 8 + 8, 4);
  EXPECT_EQ(third, 3);
}

TEST(Vtk, UnstructuredCellsAndPointClouds) {
  test::Scratch scratch;
  SetDescription set = content().set;
  set.shape = {3, 2};
  const std::vector<float> coords(12, 0.0f), values(6, 1.0f);
  write_vtk(scratch / "a.vtu", set, coords, {{"u", values}});
  EXPECT_NE(read_file(scratch / "a.vtu", "r").find("NumberOfPoints=\"6\" NumberOfCells=\"2\""), std::string::npos);
  set.geometry = Geometry::points;
  set.shape = {6};
  write_vtk(scratch / "b.vtu", set, coords, {{"u", values}});
  EXPECT_NE(read_file(scratch / "b.vtu", "r").find("NumberOfCells=\"6\""), std::string::npos);
  EXPECT_ERROR_WITH(write_vtk(scratch / "c.vts", set, coords, {}), "write .vtu");
}

TEST(Vtk, GivenCellsStandInPlaceOfVertices) {
  test::Scratch scratch;
  SetDescription set = content().set;
  set.geometry = Geometry::points;
  set.shape = {5};
  const std::vector<float> coords(10, 0.0f), values(5, 1.0f);
  const std::vector<std::int64_t> corners{0, 1, 2, 3, 1, 2, 3, 4};
  for (const auto& [kind, type, count] : {std::tuple{CellKind::quadrilateral, 9, 2},
                                          {CellKind::tetrahedron, 10, 2},
                                          {CellKind::line, 3, 4},
                                          {CellKind::hexahedron, 12, 1}}) {
    write_vtk(scratch / "a.vtu", set, coords, {{"u", values}}, VtkCells{kind, corners});
    const std::string text = read_file(scratch / "a.vtu", "r");
    EXPECT_NE(text.find(fmt::format("NumberOfPoints=\"5\" NumberOfCells=\"{}\"", count)), std::string::npos);
    const std::string end = "\n</AppendedData>";  // the types are the last array
    EXPECT_EQ(text[text.find(end) - 1], static_cast<char>(type));
  }
}

TEST(Vtk, ASeriesNamesTimesAndFiles) {
  test::Scratch scratch;
  write_vtk_series(scratch / "a.pvd", {{0, "a-t000.vtu"}, {0.1, "b<&\".vtu"}});
  const std::string text = read_file(scratch / "a.pvd", "r");
  EXPECT_NE(text.find("<DataSet timestep=\"0\" group=\"\" part=\"0\" file=\"a-t000.vtu\"/>"), std::string::npos)
      << text;
  EXPECT_NE(text.find("timestep=\"0.1\" group=\"\" part=\"0\" file=\"b&lt;&amp;&quot;.vtu\"/>"), std::string::npos)
      << text;
}

TEST(Sheet, JoinsImagesWithAGap) {
  const auto plain = [](std::int64_t width, std::int64_t height, std::uint8_t grey) {
    return Image{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), grey)};
  };
  const Image sheet = join_images({{plain(3, 2, 10), plain(2, 4, 20)}, {plain(1, 1, 30)}}, 1);
  EXPECT_EQ(sheet.width, 6);
  EXPECT_EQ(sheet.height, 6);
  const auto at = [&](std::int64_t x, std::int64_t y) {
    return static_cast<int>(sheet.rgb[static_cast<std::size_t>(3 * (y * sheet.width + x))]);
  };
  EXPECT_EQ(at(0, 0), 10);
  EXPECT_EQ(at(3, 0), 255);
  EXPECT_EQ(at(4, 3), 20);
  EXPECT_EQ(at(0, 3), 255);
  EXPECT_EQ(at(0, 5), 30);
}

TEST(Sheet, JudgedSamplesAreInputTruthPredictionError) {
  SetDescription set;
  set.geometry = Geometry::grid;
  set.shape = {2, 2};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}, {"v", "1"}};
  ShownSample sample;
  sample.coordinates = {0, 0, 0, 1, 1, 0, 1, 1};
  sample.input = {0, 1, 2, 3};
  sample.truth = {0, 5, 1, 5, 2, 5, 4, 5};
  sample.prediction = {0, 5, 1, 5, 2, 5, 3, 5};
  const PanelRows rows = judged_panels(set, sample, {}, 2);
  ASSERT_EQ(rows.size(), 2u);  // two channels
  for (const auto& row : rows) ASSERT_EQ(row.size(), 4u);
  const auto pixel = [](const Panel& panel, std::size_t at) {
    const auto& rgb = panel.image.rgb;
    return Rgb{rgb[3 * at], rgb[3 * at + 1], rgb[3 * at + 2]};
  };
  // Point (1, 1) is the upper right pixel: truth 4 of [0, 4], prediction 3 of the same range, error 1 of [0, 1].
  EXPECT_EQ(pixel(rows[0][1], 1), colour(ColourMap::field, 1));
  EXPECT_EQ(pixel(rows[0][2], 1), colour(ColourMap::field, 0.75));
  EXPECT_EQ(pixel(rows[0][3], 1), colour(ColourMap::error, 1));
  EXPECT_EQ(pixel(rows[0][3], 0), colour(ColourMap::error, 0));
  EXPECT_EQ(pixel(rows[1][0], 0), (Rgb{255, 255, 255}));  // the input stands in the first row only
  ShownSamples shown;
  shown.set = set;
  shown.samples = {sample, sample};
  const Image one = draw_sheet(rows), both = draw_judged(shown, 2);
  EXPECT_GT(both.height, 2 * one.height);  // under one another, each with a headline
}

TEST(Sheet, OnePanelPerFieldOfASample) {
  SetDescription set;
  set.geometry = Geometry::grid;
  set.shape = {2, 2};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}, {"v", "1"}};
  set.kept = {{"p", "Pa"}};
  const std::vector<float> xy{0, 0, 0, 1, 1, 0, 1, 1}, a(4, 1.0f), kept(4, 0.0f), output{0, 4, 1, 5, 2, 6, 3, 7};
  const PanelRows rows = sample_panels(set, {xy, a, output, kept, {}}, {}, 8);
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows[0].size(), 4u);
  EXPECT_EQ(rows[0][3].field, "p [Pa]");
  EXPECT_NE(rows[0][1].image.rgb, rows[0][0].image.rgb);  // the output varies, the input does not
  EXPECT_EQ(rows[0][1].image.rgb, rows[0][2].image.rgb);  // the same pattern in its own range
  set.time = {0, 1};
  std::vector<float> frames = output;
  frames.insert(frames.end(), output.begin(), output.end());
  const PanelRows moving = sample_panels(set, {xy, a, frames, kept, {}}, {}, 8);
  ASSERT_EQ(moving.size(), 3u);  // input and kept, then a strip per output
  EXPECT_EQ(moving[1][1].title, "t = 1");
}

}  // namespace
}  // namespace lano::report_test
