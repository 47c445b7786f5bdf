#include "report/line_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/canvas.h"

namespace lano {
namespace {

constexpr std::int64_t kBelow = 2 * kTextHeight + 16;

// Room for the numbers and the turned label at the left.
std::int64_t room_left(const std::vector<double>& ticks, double extent) {
  std::int64_t widest = 5 * kTextAdvance;  // most numbers, so that plots stand under one another
  for (const double tick : ticks) widest = std::max(widest, text_width(tick_text(tick, extent)));
  return kTextHeight + 8 + widest + 8;
}

struct Scale {
  double low, high, from, to;  // values, and the pixels they fall on
  double operator()(double value) const {
    const double at = from + (value - low) / (high - low) * (to - from);
    return std::isfinite(at) ? at : (from + to) / 2;
  }
};

void draw_axes(Canvas& canvas, const PlotAxis& x, const PlotAxis& y, const Scale& to_x, const Scale& to_y, bool lines) {
  const double top = std::min(to_y.from, to_y.to), bottom = std::max(to_y.from, to_y.to);
  std::int64_t free_from = 0;
  for (const double tick : even_ticks(x.low, x.high, static_cast<int>((to_x.to - to_x.from) / 70))) {
    const std::string words = tick_text(tick, x.high - x.low);
    const auto left =
        std::min<std::int64_t>(std::lround(to_x(tick)) - text_width(words) / 2, canvas.width() - text_width(words) - 1);
    canvas.line(to_x(tick), lines ? top : bottom, to_x(tick), bottom + (lines ? 0 : 4), lines ? kGridInk : kQuietInk,
                1);
    if (left < free_from) continue;
    canvas.text(left, std::lround(bottom) + 6, words, kQuietInk);
    free_from = left + text_width(words) + kTextAdvance / 2;
  }
  const std::vector<double> ticks = even_ticks(y.low, y.high, static_cast<int>((bottom - top) / 40));
  for (const double tick : ticks) {
    const std::string words = tick_text(tick, y.high - y.low);
    canvas.line(lines ? to_x.from : to_x.from - 4, to_y(tick), lines ? to_x.to : to_x.from, to_y(tick),
                lines ? kGridInk : kQuietInk, 1);
    canvas.text(std::lround(to_x.from) - 7 - text_width(words),
                std::clamp<std::int64_t>(std::lround(to_y(tick)) - kTextHeight / 2, 0, canvas.height() - kTextHeight),
                words, kQuietInk);
  }
  const auto middle = static_cast<std::int64_t>((to_x.from + to_x.to) / 2);
  const std::string across = text_that_fits(x.label, std::lround(to_x.to - to_x.from)),
                    down = text_that_fits(y.label, std::lround(bottom - top));
  canvas.text(middle - text_width(across) / 2, std::lround(bottom) + kTextHeight + 10, across, kInk);
  canvas.text(1, static_cast<std::int64_t>((top + bottom) / 2) + text_width(down) / 2, down, kInk, true);
}

}  // namespace

std::vector<double> even_ticks(double low, double high, int count) {
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double raw = (high - low) / std::max(count, 2), power = std::pow(10, std::floor(std::log10(raw)));
  const double step = power * (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10);
  std::vector<double> ticks;
  const auto first = static_cast<std::int64_t>(std::ceil(low / step - 1e-9));
  for (std::int64_t k = first; static_cast<double>(k) * step <= high + 1e-9 * step; ++k)
    ticks.push_back(static_cast<double>(k) * step);
  return ticks;
}

std::string tick_text(double value, double extent) {
  if (std::abs(value) < 1e-12 * extent || value == 0) return "0";
  if (!std::isfinite(value) || !std::isfinite(extent)) return fmt::format("{:.3g}", value);
  // As many digits as tell values of that extent apart, but not beyond what a float has.
  const double ratio = extent > 0 ? std::abs(value) / extent : 1;
  return fmt::format("{:.{}g}", value,
                     std::clamp(3 + static_cast<int>(std::floor(std::log10(std::max(ratio, 1.0)))), 3, 7));
}

Image draw_line_plot(const LinePlot& plot, std::int64_t width, std::int64_t height) {
  const bool legend = plot.curves.size() > 1;
  const std::int64_t left =
      room_left(even_ticks(plot.y.low, plot.y.high, static_cast<int>(height / 40)), plot.y.high - plot.y.low);
  Canvas canvas(left + width + 10, kPlotTop + height + kBelow);
  const double x0 = static_cast<double>(left), y0 = static_cast<double>(kPlotTop);
  const Scale to_x{plot.x.low, plot.x.high, x0, x0 + static_cast<double>(width)},
      to_y{plot.y.low, plot.y.high, y0 + static_cast<double>(height), y0};
  draw_axes(canvas, plot.x, plot.y, to_x, to_y, true);
  canvas.frame(to_x.from, to_y.to, to_x.to, to_y.from, kQuietInk);
  std::int64_t at = left;
  for (const Curve& curve : plot.curves) {
    const Rgb colour = parsed_colour(curve.colour);
    const double thickness = curve.faint ? 1.5 : 2.5;
    std::vector<std::pair<double, double>> piece;
    const auto draw = [&] {
      canvas.path(piece, colour, piece.size() == 1 ? 7 : thickness);
      piece.clear();
    };
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (std::isfinite(curve.x[i]) && std::isfinite(curve.y[i])) {
        piece.emplace_back(to_x(curve.x[i]), to_y(curve.y[i]));
      } else {
        draw();
      }
    }
    draw();
    if (!legend) continue;
    canvas.line(static_cast<double>(at), kTextHeight / 2.0, static_cast<double>(at + 16), kTextHeight / 2.0, colour, 4);
    canvas.text(at + 22, 0, curve.name, kInk);
    at += 22 + text_width(curve.name) + 2 * kTextAdvance;
  }
  return canvas.take();
}

Image draw_raster(const Image& raster, const PlotAxis& x, const PlotAxis& y) {
  const std::int64_t left = room_left(even_ticks(y.low, y.high, static_cast<int>(raster.height / 40)), y.high - y.low),
                     above = kRasterTop;
  Canvas canvas(left + raster.width + 10, above + raster.height + kBelow);
  canvas.paste(raster, left, above);
  const double x0 = static_cast<double>(left), y0 = static_cast<double>(above);
  const Scale to_x{x.low, x.high, x0, x0 + static_cast<double>(raster.width - 1)},
      to_y{y.low, y.high, y0, y0 + static_cast<double>(raster.height - 1)};
  draw_axes(canvas, x, y, to_x, to_y, false);
  canvas.frame(to_x.from - 1, y0 - 1, to_x.to + 1, to_y.to + 1, kQuietInk);
  return canvas.take();
}

}  // namespace lano
