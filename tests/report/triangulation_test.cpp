#include "report/triangulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace lano::triangulation_test {
namespace {

double area(const std::vector<double>& points, const Triangles& t, std::size_t at) {
  const auto x = [&](std::size_t k) { return points[static_cast<std::size_t>(2 * t[at + k])]; };
  const auto y = [&](std::size_t k) { return points[static_cast<std::size_t>(2 * t[at + k] + 1)]; };
  return ((x(1) - x(0)) * (y(2) - y(0)) - (y(1) - y(0)) * (x(2) - x(0))) / 2;
}

double total_area(const std::vector<double>& points, const Triangles& t) {
  double sum = 0;
  for (std::size_t at = 0; at < t.size(); at += 3) sum += area(points, t, at);
  return sum;
}

std::vector<double> cloud(std::size_t count) {
  std::mt19937 draw(3);
  std::uniform_real_distribution<double> number(0, 1);
  std::vector<double> points{0, 0, 1, 0, 0, 1, 1, 1};  // with the corners, the hull is the unit square
  while (points.size() < 2 * count) points.push_back(number(draw));
  return points;
}

TEST(Triangulation, EveryCircleIsEmptyAndTheHullIsFilled) {
  const std::vector<double> points = cloud(300);
  const Triangles t = delaunay(points);
  EXPECT_NEAR(total_area(points, t), 1, 1e-9);
  EXPECT_EQ(t.size() / 3, 2 * 300 - 2 - 4u);  // Euler: 2 n - 2 - corners of the hull
  for (std::size_t at = 0; at < t.size(); at += 3) {
    ASSERT_GT(area(points, t, at), 0);
    const auto p = [&](std::size_t k, std::size_t axis) {
      return points[static_cast<std::size_t>(2 * t[at + k]) + axis];
    };
    // The centre of the circle, from the first corner.
    const double bx = p(1, 0) - p(0, 0), by = p(1, 1) - p(0, 1), cx = p(2, 0) - p(0, 0), cy = p(2, 1) - p(0, 1);
    const double d = 2 * (bx * cy - by * cx), b = bx * bx + by * by, c = cx * cx + cy * cy;
    const double ux = (cy * b - by * c) / d, uy = (bx * c - cx * b) / d, radius = std::hypot(ux, uy);
    for (std::size_t q = 0; q < 300; ++q) {
      EXPECT_GE(std::hypot(points[2 * q] - p(0, 0) - ux, points[2 * q + 1] - p(0, 1) - uy), radius * (1 - 1e-6));
    }
  }
}

TEST(Triangulation, GridsWhereFourPointsLieOnEveryCircle) {
  std::vector<double> points;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 10; ++j) points.insert(points.end(), {i / 19.0, j / 19.0});
  }
  const Triangles t = delaunay(points);
  EXPECT_EQ(t.size() / 3, 2 * 19 * 9u);
  EXPECT_NEAR(total_area(points, t), 9.0 / 19, 1e-9);
  EXPECT_EQ(without_bridges(t, points).size(), t.size());
}

TEST(Triangulation, LinesHaveNoneAndEqualPointsCountOnce) {
  EXPECT_TRUE(delaunay(std::vector<double>{0, 0, 1, 1}).empty());
  EXPECT_TRUE(delaunay(std::vector<double>{0, 0, 1, 1, 2, 2, 3, 3}).empty());
  EXPECT_TRUE(delaunay(std::vector<double>{1, 1, 1, 1, 1, 1}).empty());
  const std::vector<double> points{0, 0, 1, 0, 0, 0, 1, 0, 0, 1};
  const Triangles one = delaunay(points);
  EXPECT_EQ(std::set<std::int64_t>(one.begin(), one.end()), (std::set<std::int64_t>{0, 1, 4}));
  EXPECT_EQ(one.size(), 3u);
}

TEST(Triangulation, AHoleIsNotBridged) {
  std::vector<double> points;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 8; ++j) {
      const double phi = 2 * M_PI * (i + 0.5 * (j % 2)) / 60, r = 1 + 0.12 * j;
      points.insert(points.end(), {r * std::cos(phi), r * std::sin(phi)});
    }
  }
  const Triangles all = delaunay(points), kept = without_bridges(all, points);
  const double inner = 30 * std::sin(2 * M_PI / 60), outer = 1.84 * 1.84 * inner;  // of the regular polygons
  EXPECT_NEAR(total_area(points, all), outer, 0.01);
  EXPECT_NEAR(total_area(points, kept), outer - inner, 0.04 * inner);  // a few shallow triangles along the rim
}

// Rings whose distance grows by half from one to the next, as around a body: no triangle is far above its neighbours.
TEST(Triangulation, AGradedMeshIsKept) {
  std::vector<double> points;
  double r = 1, step = 0.1;
  for (int j = 0; j < 9; ++j) {
    for (int i = 0; i < 60; ++i) {
      const double phi = 2 * M_PI * (i + 0.5 * (j % 2)) / 60;
      points.insert(points.end(), {r * std::cos(phi), r * std::sin(phi)});
    }
    r += step;
    step *= 1.5;
  }
  const Triangles kept = without_bridges(delaunay(points), points);
  const double polygon = 30 * std::sin(2 * M_PI / 60), last = std::hypot(points[points.size() - 2], points.back());
  EXPECT_NEAR(total_area(points, kept), (last * last - 1) * polygon, 0.04 * polygon);
}

TEST(Triangulation, CellsAreCutIntoTheirFaces) {
  const std::vector<std::int64_t> eight{0, 1, 2, 3, 4, 5, 6, 7};
  const std::span<const std::int64_t> cells(eight);
  EXPECT_EQ(triangles_of_cells(CellKind::triangle, cells.first(6)), (Triangles{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(triangles_of_cells(CellKind::quadrilateral, cells.first(4)), (Triangles{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(triangles_of_cells(CellKind::tetrahedron, cells.first(4)).size(), 4 * 3u);
  EXPECT_TRUE(triangles_of_cells(CellKind::line, cells).empty());
  const Triangles cube = triangles_of_cells(CellKind::hexahedron, cells);
  EXPECT_EQ(cube.size(), 12 * 3u);
  // Each corner belongs to three faces, so to three to six triangles.
  for (std::int64_t corner = 0; corner < 8; ++corner) {
    EXPECT_GE(std::count(cube.begin(), cube.end(), corner), 3);
    EXPECT_LE(std::count(cube.begin(), cube.end(), corner), 6);
  }
}

}  // namespace
}  // namespace lano::triangulation_test
