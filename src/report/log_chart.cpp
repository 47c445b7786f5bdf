#include "report/log_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/canvas.h"

namespace lano {
namespace {

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
  constexpr std::int64_t kLeft = 100, kRight = 20, kLegend = 36, kLegendLine = kTextHeight + 8, kBottom = 64;
  const auto is_drawn = [](const Curve& curve) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (drawable(curve.x[i], curve.y[i])) return true;
    }
    return false;
  };
  // The legend stands above the plot: inside, it would hide what it explains.
  const std::int64_t top_margin =
      kLegend + 8 + kLegendLine * std::count_if(chart.curves.begin(), chart.curves.end(), is_drawn);
  x.at = static_cast<double>(kLeft);
  x.extent = static_cast<double>(width - kLeft - kRight);
  y.at = static_cast<double>(height - kBottom);
  y.extent = -static_cast<double>(height - top_margin - kBottom);
  const double right = x.at + x.extent, top = y.at + y.extent;
  for (const double tick : x.ticks()) {
    const double at = x.pixel(tick);
    canvas.line(at, top, at, y.at, kGridInk, 1);
    const std::string words = tick_text(tick);
    canvas.text(std::lround(at) - text_width(words) / 2, height - kBottom + 8, words, kQuietInk);
  }
  for (const double tick : y.ticks()) {
    const double at = y.pixel(tick);
    canvas.line(x.at, at, right, at, kGridInk, 1);
    const std::string words = tick_text(tick);
    canvas.text(kLeft - 8 - text_width(words), std::lround(at) - kTextHeight / 2, words, kQuietInk);
  }
  for (const auto& [x0, y0, x1, y1] : {std::tuple(x.at, top, right, top), std::tuple(x.at, y.at, right, y.at),
                                       std::tuple(x.at, top, x.at, y.at), std::tuple(right, top, right, y.at)}) {
    canvas.line(x0, y0, x1, y1, kQuietInk, 1);
  }
  canvas.text(kLeft + (width - kLeft - kRight - text_width(chart.x_label)) / 2, height - kTextHeight - 12,
              chart.x_label, kInk);
  canvas.text(10, height / 2 + text_width(chart.y_label) / 2, chart.y_label, kInk, true);
  std::int64_t legend = kLegend;
  for (const Curve& curve : chart.curves) {
    const Rgb colour = parsed_colour(curve.colour);
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
    canvas.line(kLeft, static_cast<double>(legend) + kTextHeight / 2, kLeft + 26,
                static_cast<double>(legend) + kTextHeight / 2, colour, 4);
    canvas.text(kLeft + 36, legend, curve.name, kInk);
    legend += kLegendLine;
  }
  return canvas.take();
}

}  // namespace lano
