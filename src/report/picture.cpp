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

Image draw_scatter(std::span<const float> coordinates, std::int64_t dims, std::span<const float> values, double low,
                   double high, ColourMap map, std::int64_t pixels) {
  const auto n = values.size();
  const auto at = [&](std::size_t p, std::int64_t axis) {
    return axis < dims ? static_cast<double>(coordinates[p * static_cast<std::size_t>(dims) + static_cast<std::size_t>(axis)]) : 0.0;
  };
  double box[4] = {1e300, -1e300, 1e300, -1e300};
  for (std::size_t p = 0; p < n; ++p) {
    for (std::int64_t a = 0; a < 2; ++a) {
      box[2 * a] = std::min(box[2 * a], at(p, a));
      box[2 * a + 1] = std::max(box[2 * a + 1], at(p, a));
    }
  }
  const double span_x = std::max(box[1] - box[0], 1e-30), span_y = std::max(box[3] - box[2], 1e-30);
  const double scale = static_cast<double>(pixels) / std::max(span_x, span_y);
  Image image{std::max<std::int64_t>(24, std::llround(span_x * scale)), std::max<std::int64_t>(24, std::llround(span_y * scale)), {}};
  image.rgb.assign(static_cast<std::size_t>(3 * image.width * image.height), 255);
  std::vector<double> distance(static_cast<std::size_t>(image.width * image.height), std::numeric_limits<double>::max());
  // A point colours the pixels within about the mean distance between points, nearest point first.
  const double area = static_cast<double>(image.width * image.height);
  const auto reach = static_cast<std::int64_t>(std::ceil(1.2 * std::sqrt(area / static_cast<double>(std::max<std::size_t>(n, 1)))));
  for (std::size_t p = 0; p < n; ++p) {
    const double px = (at(p, 0) - box[0]) / span_x * static_cast<double>(image.width - 1);
    const double py = (1 - (at(p, 1) - box[2]) / span_y) * static_cast<double>(image.height - 1);
    const auto cx = std::llround(px), cy = std::llround(py);
    for (std::int64_t y = std::max<std::int64_t>(0, cy - reach); y <= std::min<std::int64_t>(image.height - 1, cy + reach); ++y) {
      for (std::int64_t x = std::max<std::int64_t>(0, cx - reach); x <= std::min<std::int64_t>(image.width - 1, cx + reach); ++x) {
        const double d = std::hypot(static_cast<double>(x) - px, static_cast<double>(y) - py);
        double& best = distance[static_cast<std::size_t>(y * image.width + x)];
        if (d <= static_cast<double>(reach) && d < best) {
          best = d;
          put(image, x, y, colour(map, share_of(values[p], low, high)));
        }
      }
    }
  }
  return image;
}

}  // namespace

Image draw_field(Geometry geometry, const Shape& shape, std::span<const float> coordinates, std::int64_t dims,
                 std::span<const float> values, double low, double high, ColourMap map, std::int64_t pixels) {
  if (geometry == Geometry::grid) return draw_grid(shape, values, low, high, map, pixels);
  return draw_scatter(coordinates, dims, values, low, high, map, pixels);
}

std::vector<float> channel(std::span<const float> values, std::int64_t channels, std::int64_t which) {
  std::vector<float> one;
  for (std::size_t i = static_cast<std::size_t>(which); i < values.size(); i += static_cast<std::size_t>(channels)) one.push_back(values[i]);
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
