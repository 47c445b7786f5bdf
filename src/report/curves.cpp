#include "report/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html_parts.h"
#include "report/line_plot.h"

namespace lano {
namespace {

constexpr double kLeft = 62, kRight = 14, kTop = 14, kBottom = 46;
double plot_width(ChartSize size) { return size.width - kLeft - kRight; }
double plot_height(ChartSize size) { return size.height - kTop - kBottom; }

std::string frame(ChartSize size, const std::string& x_label, const std::string& y_label) {
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" class=\"chart\" role=\"img\" aria-label=\"{} against {}\">"
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"plot\"/>"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>"
      "<text transform=\"translate(14,{}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
      size.width, size.height, y_label, x_label, kLeft, kTop, plot_width(size), plot_height(size),
      kLeft + plot_width(size) / 2, size.height - 8, x_label, kTop + plot_height(size) / 2, y_label);
}

// A step of 1, 2 or 5 times a power of ten that gives about six ticks.
double nice_step(double range) {
  const double raw = std::max(range, 1e-300) / 6, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

std::string x_ticks(ChartSize size, double low, double high, double least_step, const auto& to_x) {
  std::string out;
  const double step = std::max(least_step, nice_step(high - low));
  for (double tick = std::ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step) {
    out += fmt::format("<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"middle\" class=\"tick\">{2:.4g}</text>",
                       to_x(tick), kTop + plot_height(size) + 15, tick);
  }
  return out;
}

// 1, 2 and 5 times powers of ten between two logarithms; where they are close, round numbers at even distances.
std::vector<double> log_ticks(double low, double high) {
  std::vector<double> ticks;
  for (int decade = static_cast<int>(std::floor(low)); decade <= static_cast<int>(std::ceil(high)); ++decade) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, decade);
      if (std::log10(tick) >= low && std::log10(tick) <= high) ticks.push_back(tick);
    }
  }
  constexpr std::size_t kTelling = 3;
  return ticks.size() < kTelling ? even_ticks(std::pow(10, low), std::pow(10, high), 4) : ticks;
}

bool drawable(double x, double y, bool logarithmic_x = false) {
  return std::isfinite(x) && std::isfinite(y) && y > 0 && (x > 0 || !logarithmic_x);
}

}  // namespace

std::string draw_curves(const std::vector<Curve>& curves, const std::string& x_label, const std::string& y_label,
                        ChartSize size, bool legend) {
  const bool log_x = size.logarithmic_x;
  const auto place = [&](double x) { return log_x ? std::log10(x) : x; };
  double x_low = 1e300, x_high = -1e300, y_low = 1e300, y_high = -1e300;
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!drawable(curve.x[i], curve.y[i], log_x)) continue;
      x_low = std::min(x_low, place(curve.x[i]));
      x_high = std::max(x_high, place(curve.x[i]));
      y_low = std::min(y_low, std::log10(curve.y[i]));
      y_high = std::max(y_high, std::log10(curve.y[i]));
    }
  }
  if (x_low > x_high) return "<p class=\"quiet\">no curve yet</p>";
  if (x_high - x_low < 1e-12) x_high = x_low + 1;
  const double margin = std::max(0.05, 0.05 * (y_high - y_low));
  y_low -= margin;
  y_high += margin;
  const auto to_x = [&](double x) { return kLeft + (place(x) - x_low) / (x_high - x_low) * plot_width(size); };
  const auto to_y = [&](double y) {
    return kTop + (1 - (std::log10(y) - y_low) / (y_high - y_low)) * plot_height(size);
  };
  std::string svg = frame(size, x_label, y_label);
  if (!log_x) svg += x_ticks(size, x_low, x_high, size.least_step, to_x);
  for (const double tick : log_x ? log_ticks(x_low, x_high) : std::vector<double>()) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" class=\"tick\">{:g}</text>", to_x(tick),
                       kTop + plot_height(size) + 15, tick);
  }
  for (const double tick : log_ticks(y_low, y_high)) {
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\" class=\"tick\">{5:.3g}</text>",
        kLeft, kLeft + plot_width(size), to_y(tick), kLeft - 6, to_y(tick) + 4, tick);
  }
  double legend_y = kTop + 18;
  for (const Curve& curve : curves) {
    std::string points;
    std::size_t count = 0, last = 0;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!drawable(curve.x[i], curve.y[i], log_x)) continue;
      points += fmt::format("{:.1f},{:.1f} ", to_x(curve.x[i]), to_y(curve.y[i]));
      ++count;
      last = i;
    }
    if (count == 0) continue;
    if (count == 1) {  // a line of one point cannot be seen
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>", to_x(curve.x[last]),
                         to_y(curve.y[last]), curve.faint ? 2 : 4, curve.colour);
    }
    svg +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}{}><title>{}</title></polyline>", points,
                    curve.colour, curve.faint ? " stroke-width=\"1\" stroke-opacity=\"0.5\"" : " stroke-width=\"2\"",
                    curve.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", curve.dash), escaped(curve.name));
    if (!legend) continue;
    // Curves over epochs fall to the right, those over logarithms rise: the names stand where the curves are not.
    const double key = log_x ? kLeft + 10 : size.width - kRight - 32;
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"3\"/>"
        "<text x=\"{4}\" y=\"{5}\" text-anchor=\"{6}\">{7}</text>",
        key, key + 22, legend_y - 4, curve.colour, log_x ? key + 28 : key - 6, legend_y, log_x ? "start" : "end",
        escaped(curve.name));
    legend_y += 18;
  }
  return svg + "</svg>";
}

std::string draw_histogram(const std::vector<double>& values, const std::string& x_label) {
  const ChartSize size;
  if (values.empty()) return "<p class=\"quiet\">no samples</p>";
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least, high = *most > *least ? *most : *least + std::max(1e-12, std::abs(*least));
  const std::size_t bins = std::clamp<std::size_t>(values.size() / 4, 5, 24);
  std::vector<int> counts(bins);
  for (const double value : values) {
    ++counts[std::min(bins - 1, static_cast<std::size_t>((value - low) / (high - low) * static_cast<double>(bins)))];
  }
  const double top = *std::max_element(counts.begin(), counts.end());
  const auto to_x = [&](double x) { return kLeft + (x - low) / (high - low) * plot_width(size); };
  std::string svg = frame(size, x_label, "samples") + x_ticks(size, low, high, 0, to_x);
  const double step = std::max(1.0, nice_step(top));
  for (double tick = 0; tick <= top; tick += step) {
    const double y = kTop + (1 - tick / (1.05 * top)) * plot_height(size);
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\" class=\"tick\">{5:.0f}</text>",
        kLeft, kLeft + plot_width(size), y, kLeft - 6, y + 4, tick);
  }
  for (std::size_t b = 0; b < bins; ++b) {
    const double height = counts[b] / (1.05 * top) * plot_height(size),
                 width = plot_width(size) / static_cast<double>(bins);
    svg +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"bar\"/>",
                    kLeft + width * static_cast<double>(b) + 1, kTop + plot_height(size) - height, width - 2, height);
  }
  return svg + "</svg>";
}

std::vector<Curve> learning_curves(const RunMetrics& m) {
  std::vector<Curve> curves{{"training loss", "#9aa7b2", m.epoch, m.train_loss},
                            {"validation relative L2", "#31688e", m.epoch, m.validation_l2}};
  if (std::any_of(m.validation_ema_l2.begin(), m.validation_ema_l2.end(),
                  [](double value) { return std::isfinite(value); })) {
    curves.push_back({"validation relative L2, averaged weights", "#d55e00", m.epoch, m.validation_ema_l2});
  }
  return curves;
}

}  // namespace lano
