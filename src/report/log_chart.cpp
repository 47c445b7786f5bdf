// Lines are drawn by coverage: a pixel takes the colour by how far it lies inside half the width of the line. Text is
// set from glyphs of five by seven dots, drawn at twice their size.
#include "report/log_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lano {
namespace {

struct Glyph {
  char letter;
  std::uint64_t rows;  // seven rows of five dots from the top left, the first in the highest bits
};

constexpr Glyph kGlyphs[] = {
    {'%', 0x632222263}, {'(', 0x088842082}, {')', 0x208210888}, {'+', 0x0084f9080}, {',', 0x000003088},
    {'-', 0x000070000}, {'.', 0x00000018c}, {'/', 0x042222210}, {'0', 0x3a33ae62e}, {'1', 0x11842108e},
    {'2', 0x3a213221f}, {'3', 0x3a213062e}, {'4', 0x08ca97c42}, {'5', 0x7e1e0862e}, {'6', 0x3a10f462e},
    {'7', 0x7c2221108}, {'8', 0x3a317462e}, {'9', 0x3a317842e}, {':', 0x018c03180}, {'=', 0x001f07c00},
    {'A', 0x3a31fc631}, {'B', 0x7a31f463e}, {'C', 0x3e108420f}, {'D', 0x7a318c63e}, {'E', 0x7e10f421f},
    {'F', 0x7e10f4210}, {'G', 0x3e109c62e}, {'H', 0x4631fc631}, {'I', 0x38842108e}, {'J', 0x1c4210a4c},
    {'K', 0x4654c5251}, {'L', 0x42108421f}, {'M', 0x4775ac631}, {'N', 0x4739ace71}, {'O', 0x3a318c62e},
    {'P', 0x7a31f4210}, {'Q', 0x3a318d64d}, {'R', 0x7a31f5251}, {'S', 0x3e107043e}, {'T', 0x7c8421084},
    {'U', 0x46318c62e}, {'V', 0x46318a944}, {'W', 0x4631ad771}, {'X', 0x454a22951}, {'Y', 0x462a21084},
    {'Z', 0x7c222221f}, {'^', 0x115100000}, {'a', 0x000e0be2f}, {'b', 0x421e8c63e}, {'c', 0x000e8420e},
    {'d', 0x042f8c62f}, {'e', 0x000e8fe0e}, {'f', 0x191e42108}, {'g', 0x01f18bc2e}, {'h', 0x421e8c631},
    {'i', 0x100c2108e}, {'j', 0x080610a4c}, {'k', 0x4212a6292}, {'l', 0x30842108e}, {'m', 0x001aad6b5},
    {'n', 0x001e8c631}, {'o', 0x000e8c62e}, {'p', 0x03d18fa10}, {'q', 0x01f18bc21}, {'r', 0x0016c4210},
    {'s', 0x000f8383e}, {'t', 0x211e42106}, {'u', 0x00118c62f}, {'v', 0x00118c544}, {'w', 0x0011ad6aa},
    {'x', 0x001151151}, {'y', 0x02318bc2e}, {'z', 0x001f1111f}};

constexpr std::int64_t kDot = 2, kAdvance = 6 * kDot, kHeight = 7 * kDot;
constexpr Rgb kInk{27, 37, 48}, kQuiet{102, 114, 127}, kLine{223, 229, 234};

Rgb parsed(const std::string& colour) {
  Rgb rgb{0, 0, 0};
  for (std::size_t c = 0; c < 3 && colour.size() == 7; ++c)
    rgb[c] = static_cast<std::uint8_t>(std::stoi(colour.substr(1 + 2 * c, 2), nullptr, 16));
  return rgb;
}

class Canvas {
 public:
  Canvas(std::int64_t width, std::int64_t height)
      : image_{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), 255)} {}

  void blend(std::int64_t x, std::int64_t y, const Rgb& colour, double share) {
    if (x < 0 || y < 0 || x >= image_.width || y >= image_.height || share <= 0) return;
    for (std::size_t c = 0; c < 3; ++c) {
      std::uint8_t& value = image_.rgb[static_cast<std::size_t>(3 * (y * image_.width + x)) + c];
      value = static_cast<std::uint8_t>(std::lround(value + std::min(share, 1.0) * (colour[c] - value)));
    }
  }

  void line(double x0, double y0, double x1, double y1, const Rgb& colour, double thickness) {
    const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy, half = thickness / 2;
    for (auto y = static_cast<std::int64_t>(std::min(y0, y1) - half - 1);
         y <= static_cast<std::int64_t>(std::max(y0, y1) + half + 1); ++y) {
      for (auto x = static_cast<std::int64_t>(std::min(x0, x1) - half - 1);
           x <= static_cast<std::int64_t>(std::max(x0, x1) + half + 1); ++x) {
        const double px = static_cast<double>(x) - x0, py = static_cast<double>(y) - y0;
        const double along = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0, 1.0) : 0;
        blend(x, y, colour, half + 0.5 - std::hypot(px - along * dx, py - along * dy));
      }
    }
  }

  // Left upper corner at (x, y); turned: reading upwards from there.
  void text(std::int64_t x, std::int64_t y, const std::string& words, const Rgb& colour, bool turned = false) {
    for (const char letter : words) {
      const auto* const glyph =
          std::find_if(std::begin(kGlyphs), std::end(kGlyphs), [&](const Glyph& g) { return g.letter == letter; });
      for (std::int64_t dot = 0; glyph != std::end(kGlyphs) && dot < 35; ++dot) {
        if ((glyph->rows >> (34 - dot) & 1) == 0) continue;
        for (std::int64_t i = 0; i < kDot * kDot; ++i) {
          const std::int64_t right = dot % 5 * kDot + i % kDot, down = dot / 5 * kDot + i / kDot;
          blend(turned ? x + down : x + right, turned ? y - right : y + down, colour, 1);
        }
      }
      (turned ? y : x) += turned ? -kAdvance : kAdvance;
    }
  }

  Image take() { return std::move(image_); }

 private:
  Image image_;
};

std::int64_t text_width(const std::string& words) { return kAdvance * static_cast<std::int64_t>(words.size()) - kDot; }

struct Axis {
  double low = 1e300, high = -1e300;  // logarithms to base ten
  double at = 0, extent = 1;          // in pixels; a negative extent runs up
  void take(double value) {
    low = std::min(low, std::log10(value));
    high = std::max(high, std::log10(value));
  }
  void widen() {
    const double margin = std::max(0.06, 0.05 * (high - low));
    low -= margin;
    high += margin;
  }
  double pixel(double value) const { return at + (std::log10(value) - low) / (high - low) * extent; }
  // 1, 2 and 5 times powers of ten where they are few, else powers of ten alone.
  std::vector<double> ticks() const {
    std::vector<double> found;
    for (int decade = static_cast<int>(std::floor(low)); decade <= static_cast<int>(std::ceil(high)); ++decade) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double tick = factor * std::pow(10, decade);
        if ((factor == 1 || high - low < 2.2) && std::log10(tick) >= low && std::log10(tick) <= high)
          found.push_back(tick);
      }
    }
    return found;
  }
};

bool drawable(double x, double y) { return std::isfinite(x) && std::isfinite(y) && x > 0 && y > 0; }

std::string tick_text(double value) {
  return value >= 1e6 || value < 1e-3 ? fmt::format("{:.0e}", value) : fmt::format("{:g}", value);
}

}  // namespace

Image draw_log_chart(const LogChart& chart, std::int64_t width, std::int64_t height) {
  Canvas canvas(width, height);
  Axis x, y;
  for (const Curve& curve : chart.curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!drawable(curve.x[i], curve.y[i])) continue;
      x.take(curve.x[i]);
      y.take(curve.y[i]);
    }
  }
  canvas.text((width - text_width(chart.title)) / 2, 12, chart.title, kInk);
  if (x.low > x.high) return canvas.take();
  x.widen();
  y.widen();
  constexpr std::int64_t kLeft = 100, kRight = 20, kTop = 44, kBottom = 64;
  x.at = static_cast<double>(kLeft);
  x.extent = static_cast<double>(width - kLeft - kRight);
  y.at = static_cast<double>(height - kBottom);
  y.extent = -static_cast<double>(height - kTop - kBottom);
  const double right = x.at + x.extent, top = y.at + y.extent;
  for (const double tick : x.ticks()) {
    const double at = x.pixel(tick);
    canvas.line(at, top, at, y.at, kLine, 1);
    const std::string words = tick_text(tick);
    canvas.text(std::lround(at) - text_width(words) / 2, height - kBottom + 8, words, kQuiet);
  }
  for (const double tick : y.ticks()) {
    const double at = y.pixel(tick);
    canvas.line(x.at, at, right, at, kLine, 1);
    const std::string words = tick_text(tick);
    canvas.text(kLeft - 8 - text_width(words), std::lround(at) - kHeight / 2, words, kQuiet);
  }
  for (const auto& [x0, y0, x1, y1] : {std::tuple(x.at, top, right, top), std::tuple(x.at, y.at, right, y.at),
                                       std::tuple(x.at, top, x.at, y.at), std::tuple(right, top, right, y.at)}) {
    canvas.line(x0, y0, x1, y1, kQuiet, 1);
  }
  canvas.text(kLeft + (width - kLeft - kRight - text_width(chart.x_label)) / 2, height - kHeight - 12, chart.x_label,
              kInk);
  canvas.text(10, height / 2 + text_width(chart.y_label) / 2, chart.y_label, kInk, true);
  std::int64_t legend = kTop + 12;
  for (const Curve& curve : chart.curves) {
    const Rgb colour = parsed(curve.colour);
    double last_x = 0, last_y = 0;
    bool first = true;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!drawable(curve.x[i], curve.y[i])) continue;
      const double px = x.pixel(curve.x[i]), py = y.pixel(curve.y[i]);
      if (!first) canvas.line(last_x, last_y, px, py, colour, 2.5);
      canvas.line(px, py, px, py, colour, 8);
      last_x = px;
      last_y = py;
      first = false;
    }
    if (first) continue;
    canvas.line(kLeft + 14, static_cast<double>(legend) + kHeight / 2, kLeft + 40,
                static_cast<double>(legend) + kHeight / 2, colour, 4);
    canvas.text(kLeft + 50, legend, curve.name, kInk);
    legend += kHeight + 8;
  }
  return canvas.take();
}

}  // namespace lano
