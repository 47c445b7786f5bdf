#include "report/picture.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace lano {
namespace {

void put(Image& image, std::int64_t x, std::int64_t y, const Rgb& c) {
  const auto at = static_cast<std::size_t>(3 * (y * image.width + x));
  std::copy(c.begin(), c.end(), image.rgb.begin() + static_cast<std::ptrdiff_t>(at));
}

double share_of(double value, double low, double high) { return high > low ? (value - low) / (high - low) : 0.5; }

// Axis 0 is x and runs to the right, axis 1 is y and runs up; a grid of one axis is a band.
Image draw_grid(const Shape& shape, std::span<const float> values, double low, double high, ColourMap map,
                std::int64_t pixels) {
  const std::int64_t nx = shape[0], ny = shape.size() > 1 ? shape[1] : 1;
  std::int64_t inner = 1;
  for (std::size_t a = 2; a < shape.size(); ++a) inner *= shape[a];
  // Whole pixels a cell where cells are fewer than pixels, so that every cell has the same size.
  const std::int64_t zoom = std::max<std::int64_t>(1, pixels / std::max(nx, ny));
  Image image{nx * zoom, std::max<std::int64_t>(ny * zoom, shape.size() == 1 ? 24 : 1), {}};
  image.rgb.resize(static_cast<std::size_t>(3 * image.width * image.height));
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const std::int64_t i = x / zoom, j = std::min(ny - 1, (image.height - 1 - y) / zoom);
      const double value = values[static_cast<std::size_t>((i * ny + j) * inner)];
      put(image, x, y, colour(map, share_of(value, low, high)));
    }
  }
  return image;
}

// The part of the plane that is drawn, and where its points fall in the picture.
class View {
 public:
  View(std::span<const float> coordinates, std::int64_t dims, std::int64_t pixels)
      : coordinates_(coordinates), dims_(static_cast<std::size_t>(dims)) {
    std::vector<double> all[2];
    for (std::size_t p = 0; p < points(); ++p) {
      for (std::size_t a = 0; a < 2; ++a) all[a].push_back(at(p, a));
    }
    bool crowded = false;
    for (std::size_t a = 0; a < 2; ++a) {
      std::sort(all[a].begin(), all[a].end());
      low_[a] = all[a].empty() ? 0 : all[a].front();
      high_[a] = all[a].empty() ? 0 : all[a].back();
      crowded = crowded || high_[a] - low_[a] > 8 * (part(all[a], 0.9) - part(all[a], 0.1));
    }
    // A far field of tens of chords would leave the body a dot: draw where most of the points are.
    for (std::size_t a = 0; crowded && a < 2; ++a) {
      if (part(all[a], 0.9) <= part(all[a], 0.1)) continue;
      low_[a] = part(all[a], 0.1);
      high_[a] = part(all[a], 0.9);
    }
    for (std::size_t a = 0; a < 2; ++a) span_[a] = std::max(high_[a] - low_[a], 1e-30);
    const double scale = static_cast<double>(pixels) / std::max(span_[0], span_[1]);
    width_ = std::max<std::int64_t>(24, std::llround(span_[0] * scale));
    height_ = std::max<std::int64_t>(24, std::llround(span_[1] * scale));
  }

  std::size_t points() const { return dims_ == 0 ? 0 : coordinates_.size() / dims_; }
  Image blank() const {
    Image image{width_, height_, {}};
    image.rgb.assign(static_cast<std::size_t>(3 * width_ * height_), 255);
    return image;
  }
  double x(std::size_t p) const { return (at(p, 0) - low_[0]) / span_[0] * static_cast<double>(width_ - 1); }
  double y(std::size_t p) const { return (1 - (at(p, 1) - low_[1]) / span_[1]) * static_cast<double>(height_ - 1); }

 private:
  double at(std::size_t p, std::size_t axis) const {
    return axis < dims_ ? static_cast<double>(coordinates_[p * dims_ + axis]) : 0.0;
  }
  static double part(const std::vector<double>& sorted, double share) {
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }

  std::span<const float> coordinates_;
  std::size_t dims_;
  double low_[2] = {}, high_[2] = {}, span_[2] = {};
  std::int64_t width_ = 0, height_ = 0;
};

// Calls see(x, y) for the pixels of a box that lie in the picture.
void each_pixel(const Image& image, double from_x, double to_x, double from_y, double to_y, auto see) {
  const auto first = [](double from) { return static_cast<std::int64_t>(std::ceil(std::max(0.0, from))); };
  const auto last = [](double to, std::int64_t size) {
    return static_cast<std::int64_t>(std::floor(std::min(to, static_cast<double>(size - 1))));
  };
  for (std::int64_t y = first(from_y); y <= last(to_y, image.height); ++y) {
    for (std::int64_t x = first(from_x); x <= last(to_x, image.width); ++x) see(x, y);
  }
}

Image draw_scatter(const View& view, std::span<const float> values, double low, double high, ColourMap map) {
  Image image = view.blank();
  std::vector<double> distance(static_cast<std::size_t>(image.width * image.height),
                               std::numeric_limits<double>::max());
  // A point colours the pixels within about the mean distance between points, nearest point first.
  const double area = static_cast<double>(image.width * image.height);
  const double reach = std::ceil(1.2 * std::sqrt(area / static_cast<double>(std::max<std::size_t>(values.size(), 1))));
  for (std::size_t p = 0; p < values.size(); ++p) {
    const double px = view.x(p), py = view.y(p);
    each_pixel(image, px - reach, px + reach, py - reach, py + reach, [&](std::int64_t x, std::int64_t y) {
      const double d = std::hypot(static_cast<double>(x) - px, static_cast<double>(y) - py);
      double& best = distance[static_cast<std::size_t>(y * image.width + x)];
      if (d <= reach && d < best) {
        best = d;
        put(image, x, y, colour(map, share_of(values[p], low, high)));
      }
    });
  }
  return image;
}

// A structured mesh of two axes, cell by cell: two triangles each, values linear in them.
Image draw_mesh(const View& view, const Shape& shape, std::span<const float> values, double low, double high,
                ColourMap map) {
  Image image = view.blank();
  const auto triangle = [&](std::size_t a, std::size_t b, std::size_t c) {
    const double ax = view.x(a), ay = view.y(a), ux = view.x(b) - ax, uy = view.y(b) - ay, vx = view.x(c) - ax,
                 vy = view.y(c) - ay;
    const double area = ux * vy - uy * vx;
    if (area == 0) return;
    constexpr double kEdge = -1e-6;  // pixels on an edge belong to both sides
    each_pixel(image, ax + std::min({0.0, ux, vx}), ax + std::max({0.0, ux, vx}), ay + std::min({0.0, uy, vy}),
               ay + std::max({0.0, uy, vy}), [&](std::int64_t x, std::int64_t y) {
                 const double dx = static_cast<double>(x) - ax, dy = static_cast<double>(y) - ay;
                 const double s = (dx * vy - dy * vx) / area, t = (ux * dy - uy * dx) / area;
                 if (s < kEdge || t < kEdge || s + t > 1 - kEdge) return;
                 put(image, x, y,
                     colour(map, share_of((1 - s - t) * values[a] + s * values[b] + t * values[c], low, high)));
               });
  };
  const auto n1 = static_cast<std::size_t>(shape[0]), n2 = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 0; i + 1 < n1; ++i) {
    for (std::size_t j = 0; j + 1 < n2; ++j) {
      const std::size_t p = i * n2 + j;
      triangle(p, p + n2, p + 1);
      triangle(p + n2 + 1, p + 1, p + n2);
    }
  }
  return image;
}

}  // namespace

Image draw_field(Geometry geometry, const Shape& shape, std::span<const float> coordinates, std::int64_t dims,
                 std::span<const float> values, double low, double high, ColourMap map, std::int64_t pixels) {
  if (geometry == Geometry::grid) return draw_grid(shape, values, low, high, map, pixels);
  const View view(coordinates, dims, pixels);
  const bool cells = geometry == Geometry::mesh && shape.size() == 2 && dims == 2 && shape[0] > 1 && shape[1] > 1;
  return cells ? draw_mesh(view, shape, values, low, high, map) : draw_scatter(view, values, low, high, map);
}

std::vector<float> channel(std::span<const float> values, std::int64_t channels, std::int64_t which) {
  std::vector<float> one;
  for (std::size_t i = static_cast<std::size_t>(which); i < values.size(); i += static_cast<std::size_t>(channels))
    one.push_back(values[i]);
  return one;
}

std::string encode_png(const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&header, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr) == 0) {
    fail("encoding a picture", "a PNG", header.message);
  }
  bytes.resize(size);
  return bytes;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t block = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t b = 0; b < 3; ++b) {
      block = block << 8 | (b < count ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    }
    for (std::size_t d = 0; d < 4; ++d) out += d <= count ? kDigits[block >> (18 - 6 * d) & 63] : '=';
  }
  return out;
}

}  // namespace lano
