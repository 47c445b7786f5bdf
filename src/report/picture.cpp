#include "report/picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lano {
namespace {

constexpr std::size_t kMostTriangulated = 60000;  // more points than that are as dense as the pixels

void put(Image& image, std::int64_t x, std::int64_t y, const Rgb& c) {
  const auto at = static_cast<std::size_t>(3 * (y * image.width + x));
  std::copy(c.begin(), c.end(), image.rgb.begin() + static_cast<std::ptrdiff_t>(at));
}

Image blank(std::int64_t width, std::int64_t height) {
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), 255)};
}

double share_of(double value, double low, double high) { return high > low ? (value - low) / (high - low) : 0.5; }

// The value below which a share of them lies.
double part(const std::vector<double>& sorted, double share) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// Calls see(x, y) for the pixels of a box that lie in the picture.
void each_pixel(const Image& image, double from_x, double to_x, double from_y, double to_y, const auto& see) {
  const auto first = [](double from) { return static_cast<std::int64_t>(std::ceil(std::max(0.0, from))); };
  const auto last = [](double to, std::int64_t size) {
    return static_cast<std::int64_t>(std::floor(std::min(to, static_cast<double>(size - 1))));
  };
  for (std::int64_t y = first(from_y); y <= last(to_y, image.height); ++y) {
    for (std::int64_t x = first(from_x); x <= last(to_x, image.width); ++x) see(x, y);
  }
}

// Two triangles for each cell of a structured mesh of two axes.
Triangles structured_triangles(const Shape& shape) {
  Triangles out;
  for (std::int64_t i = 0; i + 1 < shape[0]; ++i) {
    for (std::int64_t j = 0; j + 1 < shape[1]; ++j) {
      const std::int64_t p = i * shape[1] + j, q = p + shape[1];
      out.insert(out.end(), {p, q, p + 1, q + 1, p + 1, q});
    }
  }
  return out;
}

double area_of(const Triangles& t, const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t at = 0; at + 2 < t.size(); at += 3) {
    const auto a = static_cast<std::size_t>(t[at]), b = static_cast<std::size_t>(t[at + 1]),
               c = static_cast<std::size_t>(t[at + 2]);
    sum += std::abs((x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a])) / 2;
  }
  return sum;
}

}  // namespace

FieldView::FieldView(Geometry geometry, Shape shape, std::span<const float> coordinates, std::int64_t dims,
                     Triangles triangles, std::int64_t pixels, std::size_t seen_along)
    : grid_(geometry == Geometry::grid), shape_(std::move(shape)), pixels_(pixels), triangles_(std::move(triangles)) {
  if (grid_) return;
  place(coordinates, static_cast<std::size_t>(dims), seen_along);
  if (geometry == Geometry::mesh && shape_.size() == 2) {
    triangles_ = structured_triangles(shape_);
  } else if (triangles_.empty() && nearness_.empty() && x_.size() <= kMostTriangulated) {
    std::vector<double> points;
    for (std::size_t p = 0; p < x_.size(); ++p) points.insert(points.end(), {x_[p], y_[p]});
    triangles_ = without_bridges(delaunay(points), points);
    // Points along a curve have slivers at most: dots show them better.
    if (area_of(triangles_, x_, y_) < 0.02 * static_cast<double>(width_ * height_)) triangles_.clear();
  }
}

void FieldView::place(std::span<const float> coordinates, std::size_t dims, std::size_t seen_along) {
  const std::size_t points = dims == 0 ? 0 : coordinates.size() / dims;
  std::vector<std::vector<double>> sorted(std::max<std::size_t>(dims, 2), std::vector<double>(points, 0.0));
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t a = 0; a < dims; ++a) sorted[a][p] = static_cast<double>(coordinates[p * dims + a]);
  }
  for (auto& axis : sorted) std::sort(axis.begin(), axis.end());
  std::size_t shown[2] = {0, 1};
  if (dims == 3) {
    shown[0] = seen_along == 0 ? 1 : 0;
    shown[1] = seen_along == 2 ? 1 : 2;
  }
  double low[2], high[2], extent[2];
  bool crowded = false;
  for (std::size_t a = 0; a < 2; ++a) {
    const std::vector<double>& all = sorted[shown[a]];
    low[a] = part(all, 0);
    high[a] = part(all, 1);
    crowded = crowded || high[a] - low[a] > 8 * (part(all, 0.9) - part(all, 0.1));
  }
  // A far field of tens of chords would leave the body a dot: draw where most of the points are.
  for (std::size_t a = 0; crowded && a < 2; ++a) {
    const std::vector<double>& all = sorted[shown[a]];
    if (part(all, 0.9) <= part(all, 0.1)) continue;
    low[a] = part(all, 0.1);
    high[a] = part(all, 0.9);
  }
  for (std::size_t a = 0; a < 2; ++a) extent[a] = std::max(high[a] - low[a], 1e-30);
  const double scale = static_cast<double>(pixels_) / std::max(extent[0], extent[1]);
  width_ = std::max<std::int64_t>(24, std::llround(extent[0] * scale));
  height_ = std::max<std::int64_t>(24, std::llround(extent[1] * scale));
  for (std::size_t p = 0; p < points; ++p) {
    const auto at = [&](std::size_t axis) {
      return axis < dims ? static_cast<double>(coordinates[p * dims + axis]) : 0.0;
    };
    x_.push_back((at(shown[0]) - low[0]) / extent[0] * static_cast<double>(width_ - 1));
    y_.push_back((1 - (at(shown[1]) - low[1]) / extent[1]) * static_cast<double>(height_ - 1));
    // Right, up and towards the viewer are a right-handed system but for the view along y.
    if (dims == 3) nearness_.push_back((seen_along == 1 ? -1 : 1) * at(seen_along));
  }
}

// Axis 0 is x and runs to the right, axis 1 is y and runs up; a grid of one axis is a band.
Image FieldView::draw_grid(std::span<const float> values, double low, double high, ColourMap map) const {
  const std::int64_t nx = shape_[0], ny = shape_.size() > 1 ? shape_[1] : 1;
  std::int64_t inner = 1;
  for (std::size_t a = 2; a < shape_.size(); ++a) inner *= shape_[a];
  // Whole pixels per cell where cells are fewer than pixels, so that every cell has the same size; else every k-th
  // cell.
  const std::int64_t most = std::max(nx, ny), zoom = std::max<std::int64_t>(1, pixels_ / most);
  const std::int64_t stride = std::max<std::int64_t>(1, most / std::max<std::int64_t>(1, 2 * pixels_));
  const std::int64_t least = shape_.size() == 1 ? 24 : 1;
  Image image = blank((nx + stride - 1) / stride * zoom, std::max((ny + stride - 1) / stride * zoom, least));
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const std::int64_t i = x / zoom * stride, j = std::min(ny - 1, (image.height - 1 - y) / zoom * stride);
      const double value = values[static_cast<std::size_t>((i * ny + j) * inner)];
      put(image, x, y, colour(map, share_of(value, low, high)));
    }
  }
  return image;
}

// A point colours the pixels within about the mean distance between points: the nearest to the pixel, and where points
// are seen along an axis the nearest to the viewer.
Image FieldView::draw_points(std::span<const float> values, double low, double high, ColourMap map) const {
  Image image = blank(width_, height_);
  std::vector<double> best(static_cast<std::size_t>(width_ * height_), std::numeric_limits<double>::max());
  const double area = static_cast<double>(width_ * height_), wide = nearness_.empty() ? 1.2 : 1.7;  // half is behind
  const double reach =
      std::min(20.0, std::ceil(wide * std::sqrt(area / static_cast<double>(std::max<std::size_t>(values.size(), 1)))));
  for (std::size_t p = 0; p < x_.size(); ++p) {
    each_pixel(image, x_[p] - reach, x_[p] + reach, y_[p] - reach, y_[p] + reach, [&](std::int64_t x, std::int64_t y) {
      const double distance = std::hypot(static_cast<double>(x) - x_[p], static_cast<double>(y) - y_[p]);
      if (distance > reach) return;
      const double rank = nearness_.empty() ? distance : -nearness_[p];
      double& least = best[static_cast<std::size_t>(y * width_ + x)];
      if (rank >= least) return;
      least = rank;
      put(image, x, y, colour(map, share_of(values[p], low, high)));
    });
  }
  return image;
}

Image FieldView::draw_triangles(std::span<const float> values, double low, double high, ColourMap map) const {
  Image image = blank(width_, height_);
  std::vector<double> front(nearness_.empty() ? 0 : static_cast<std::size_t>(width_ * height_), -1e300);
  for (std::size_t at = 0; at + 2 < triangles_.size(); at += 3) {
    const auto a = static_cast<std::size_t>(triangles_[at]), b = static_cast<std::size_t>(triangles_[at + 1]),
               c = static_cast<std::size_t>(triangles_[at + 2]);
    const double ax = x_[a], ay = y_[a], ux = x_[b] - ax, uy = y_[b] - ay, vx = x_[c] - ax, vy = y_[c] - ay;
    const double area = ux * vy - uy * vx;
    if (area == 0) continue;
    constexpr double kEdge = -1e-6;  // pixels on an edge belong to both sides
    each_pixel(image, ax + std::min({0.0, ux, vx}), ax + std::max({0.0, ux, vx}), ay + std::min({0.0, uy, vy}),
               ay + std::max({0.0, uy, vy}), [&](std::int64_t x, std::int64_t y) {
                 const double dx = static_cast<double>(x) - ax, dy = static_cast<double>(y) - ay;
                 const double s = (dx * vy - dy * vx) / area, t = (ux * dy - uy * dx) / area;
                 if (s < kEdge || t < kEdge || s + t > 1 - kEdge) return;
                 const auto mixed = [&](const auto& of) { return (1 - s - t) * of[a] + s * of[b] + t * of[c]; };
                 if (!front.empty()) {
                   double& nearest = front[static_cast<std::size_t>(y * width_ + x)];
                   if (mixed(nearness_) <= nearest) return;
                   nearest = mixed(nearness_);
                 }
                 put(image, x, y, colour(map, share_of(mixed(values), low, high)));
               });
  }
  return image;
}

Image FieldView::draw(std::span<const float> values, double low, double high, ColourMap map) const {
  if (grid_) return draw_grid(values, low, high, map);
  return triangles_.empty() ? draw_points(values, low, high, map) : draw_triangles(values, low, high, map);
}

Image draw_field(Geometry geometry, const Shape& shape, std::span<const float> coordinates, std::int64_t dims,
                 std::span<const float> values, double low, double high, ColourMap map, std::int64_t pixels) {
  return FieldView(geometry, shape, coordinates, dims, {}, pixels).draw(values, low, high, map);
}

std::vector<float> channel(std::span<const float> values, std::int64_t channels, std::int64_t which) {
  std::vector<float> one;
  for (std::size_t i = static_cast<std::size_t>(which); i < values.size(); i += static_cast<std::size_t>(channels))
    one.push_back(values[i]);
  return one;
}

}  // namespace lano
