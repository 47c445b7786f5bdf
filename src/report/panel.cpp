#include "report/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/canvas.h"
#include "report/line_plot.h"

namespace lano {
namespace {

constexpr std::int64_t kBarWidth = 14;

std::vector<float> picked(std::span<const float> values, const std::vector<std::size_t>& points) {
  if (points.empty()) return {values.begin(), values.end()};
  std::vector<float> out;
  out.reserve(points.size());
  for (const std::size_t p : points) out.push_back(values[p]);
  return out;
}

// Bounds that a line can be drawn in: a twentieth of room at both ends.
PlotAxis roomy(std::string label, Bounds bounds) {
  const double extent = bounds.second - bounds.first;
  const double room = extent > 0 ? 0.05 * extent : std::max(0.5 * std::abs(bounds.first), 1e-12);
  return {std::move(label), bounds.first - room, bounds.second + room};
}

// Numbers of a colour bar; one where the field is constant.
std::vector<double> bar_ticks(const Panel& panel) {
  if (!(panel.high > panel.low)) return {panel.low};
  std::vector<double> ticks;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) ticks.push_back(panel.low + share * (panel.high - panel.low));
  return ticks;
}

std::string bar_number(double value, const Panel& panel) { return tick_text(value, panel.high - panel.low); }

Image draw_bar(const Panel& panel, std::int64_t height) {
  const std::vector<double> ticks = bar_ticks(panel);
  std::int64_t widest =
      9 * kTextAdvance;  // most numbers, so that the panels of several samples stand under one another
  for (const double tick : ticks) widest = std::max(widest, text_width(bar_number(tick, panel)));
  Canvas canvas(kBarWidth + 8 + widest, height);
  for (std::int64_t y = 0; y < height; ++y) {
    const double share = 1 - static_cast<double>(y) / static_cast<double>(std::max<std::int64_t>(1, height - 1));
    for (std::int64_t x = 0; x < kBarWidth; ++x)
      canvas.blend(x, y, colour(panel.map, ticks.size() == 1 ? 0.5 : share), 1);
  }
  canvas.frame(0, 0, kBarWidth - 1, static_cast<double>(height - 1), kQuietInk);
  // The labels of both ends come first; a low bar has no room for others.
  const auto count = static_cast<double>(ticks.size() - 1);
  std::vector<std::int64_t> tops;
  for (const std::size_t i :
       ticks.size() == 1 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 4, 2, 1, 3}) {
    const double share = ticks.size() == 1 ? 0.5 : static_cast<double>(i) / count;
    const auto top = std::clamp<std::int64_t>(
        std::lround((1 - share) * static_cast<double>(height - 1)) - kTextHeight / 2, 0, height - kTextHeight);
    const auto free = [&](std::int64_t other) { return std::abs(other - top) >= kTextHeight + 2; };
    if (!std::all_of(tops.begin(), tops.end(), free)) continue;
    canvas.text(kBarWidth + 8, top, bar_number(ticks[i], panel), kQuietInk);
    tops.push_back(top);
  }
  return canvas.take();
}

}  // namespace

std::string field_label(const FieldInfo& field) {
  return field.unit.empty() || field.unit == "1" ? field.name : fmt::format("{} [{}]", field.name, field.unit);
}

Bounds value_range(std::span<const float> a, std::span<const float> b) {
  double low = 1e300, high = -1e300;
  for (const auto values : {a, b}) {
    for (const float value : values) {
      low = std::min<double>(low, value);
      high = std::max<double>(high, value);
    }
  }
  return {low, high};
}

std::vector<float> absolute_error(std::span<const float> prediction, std::span<const float> truth) {
  std::vector<float> error(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) error[i] = std::abs(prediction[i] - truth[i]);
  return error;
}

Image draw_panel(const Panel& panel) {
  const bool bar = panel.bar && !panel.plot;
  const std::int64_t least = 2 * kTextHeight + 6, beside = panel.bar_height > 0 ? panel.bar_height : panel.image.height;
  const std::int64_t height = std::max(panel.image.height, bar ? least : 0);
  const Image scale = bar ? draw_bar(panel, std::max(beside, least)) : Image{};
  const std::int64_t width = panel.image.width + (bar ? 10 + scale.width : 0);
  const std::int64_t above = 2 * kTextHeight + 12;
  Canvas canvas(std::max(width, std::min(text_width(panel.title), panel.image.width + 120)), above + height);
  canvas.text(0, 0, text_that_fits(panel.title, canvas.width()), kInk);
  canvas.text(0, kTextHeight + 4, text_that_fits(panel.field, canvas.width()), kQuietInk);
  canvas.paste(panel.image, 0, above);
  if (bar) canvas.paste(scale, panel.image.width + 10, above + panel.bar_top);
  return canvas.take();
}

SamplePainter::SamplePainter(const SetDescription& set, std::span<const float> coordinates,
                             std::optional<CellKind> kind, std::span<const std::int64_t> cells, std::int64_t pixels)
    : set_(set), pixels_(pixels) {
  if (is_line()) {
    order_.resize(coordinates.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return coordinates[a] < coordinates[b]; });
    for (const std::size_t p : order_) x_.push_back(coordinates[p]);
    return;
  }
  if (set.geometry != Geometry::points && set.shape.size() == 3 && set.dims() == 3) {
    add_slices(coordinates);
    return;
  }
  const Triangles triangles = kind ? triangles_of_cells(*kind, cells) : Triangles();
  for (const std::size_t along : set.dims() == 3 ? std::vector<std::size_t>{2, 1, 0} : std::vector<std::size_t>{2}) {
    parts_.push_back({set.dims() == 3 ? "seen along " + set.coordinates[along].name : "",
                      {},
                      FieldView(set.geometry, set.shape, coordinates, set.dims(), triangles, pixels, along)});
  }
}

// The planes in the middle of each axis; for a curved mesh the middle of its index, drawn in the other two coordinates.
void SamplePainter::add_slices(std::span<const float> coordinates) {
  const auto name = [&](std::size_t axis) { return set_.coordinates[axis].name; };
  for (const std::size_t across : {2, 1, 0}) {
    const std::size_t a = across == 0 ? 1 : 0, b = across == 2 ? 1 : 2;
    std::vector<std::size_t> points;
    std::vector<float> plane;
    double at = 0;
    for (std::int64_t i = 0; i < set_.shape[a]; ++i) {
      for (std::int64_t j = 0; j < set_.shape[b]; ++j) {
        std::int64_t index[3];
        index[a] = i;
        index[b] = j;
        index[across] = set_.shape[across] / 2;
        const std::int64_t p = (index[0] * set_.shape[1] + index[1]) * set_.shape[2] + index[2];
        points.push_back(static_cast<std::size_t>(p));
        const auto first = static_cast<std::size_t>(3 * p);
        plane.insert(plane.end(), {coordinates[first + a], coordinates[first + b]});
        at = coordinates[first + across];
      }
    }
    const std::string where = set_.geometry == Geometry::grid ? fmt::format("{} = {:.3g}", name(across), at)
                                                              : fmt::format("the middle of axis {}", across + 1);
    parts_.push_back({fmt::format("{}-{} at {}", name(a), name(b), where), std::move(points),
                      FieldView(set_.geometry, {set_.shape[a], set_.shape[b]}, plane, 2, {}, pixels_)});
  }
}

Panel SamplePainter::draw(const std::string& title, const FieldInfo& field, std::span<const float> values,
                          Bounds bounds, ColourMap map, std::size_t part, std::span<const float> behind) const {
  Panel panel{title, field_label(field), {}, is_line(), true, bounds.first, bounds.second, map};
  if (!is_line()) {
    const Part& which = parts_.at(part);
    panel.image = which.view.draw(picked(values, which.points), bounds.first, bounds.second, map);
    if (!which.label.empty()) panel.field += ", " + which.label;
    return panel;
  }
  LinePlot plot{{field_label(set_.coordinates[0]), x_.front(), x_.back()}, roomy(field_label(field), bounds), {}};
  const auto add = [&](const char* name, const char* colour, std::span<const float> y) {
    Curve curve{name, colour, x_, {}};
    for (const std::size_t p : order_) curve.y.push_back(y[p]);
    plot.curves.push_back(std::move(curve));
  };
  if (!behind.empty()) add("truth", "#9aa7b2", behind);
  const bool input = title.starts_with("Input");
  add("prediction", map == ColourMap::error ? "#d55e00" : input ? "#009e73" : "#31688e", values);
  panel.image = draw_line_plot(plot, pixels_, pixels_ * 3 / 4);
  return panel;
}

Panel SamplePainter::draw_in_time(const std::string& title, const FieldInfo& field, std::span<const float> values,
                                  Bounds bounds, ColourMap map) const {
  const std::size_t count = x_.size(), frames = values.size() / count;
  // Each pixel takes the nearest point and the nearest time.
  const auto nearest = [](const std::vector<double>& sorted, std::int64_t pixel, std::int64_t pixels) {
    const double share = pixels > 1 ? static_cast<double>(pixel) / static_cast<double>(pixels - 1) : 0;
    const double at = sorted.front() + share * (sorted.back() - sorted.front());
    const auto above = std::lower_bound(sorted.begin(), sorted.end(), at);
    if (above == sorted.begin()) return std::size_t{0};
    const auto i = static_cast<std::size_t>(above - sorted.begin());
    return i == sorted.size() || at - sorted[i - 1] <= sorted[i] - at ? i - 1 : i;
  };
  const std::vector<double> times(set_.time.begin(), set_.time.begin() + static_cast<std::ptrdiff_t>(frames));
  Image raster{pixels_, pixels_, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * pixels_ * pixels_), 255)};
  std::vector<std::size_t> column(static_cast<std::size_t>(pixels_));
  for (std::int64_t x = 0; x < pixels_; ++x) column[static_cast<std::size_t>(x)] = order_[nearest(x_, x, pixels_)];
  const double extent = bounds.second - bounds.first;
  for (std::int64_t y = 0; y < pixels_; ++y) {
    const std::size_t frame = nearest(times, y, pixels_);
    for (std::int64_t x = 0; x < pixels_; ++x) {
      const double value = values[frame * count + column[static_cast<std::size_t>(x)]];
      const Rgb c = colour(map, extent > 0 ? (value - bounds.first) / extent : 0.5);
      std::copy(c.begin(), c.end(), raster.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (y * pixels_ + x)));
    }
  }
  Panel panel{title, field_label(field), {}, false, true, bounds.first, bounds.second, map};
  panel.image = draw_raster(raster, {field_label(set_.coordinates[0]), x_.front(), x_.back()},
                            {"t", times.front(), times.back()});
  panel.bar_top = kRasterTop;
  panel.bar_height = pixels_;
  return panel;
}

Panel error_in_time(const SetDescription& set, const ShownSample& sample, std::int64_t pixels) {
  const std::size_t frames = set.time.size(), size = sample.truth.size() / std::max<std::size_t>(1, frames);
  Curve curve{"", "#d55e00", set.time, {}};
  double most = 0;
  for (std::size_t f = 0; f < frames; ++f) {
    double off = 0, scale = 0;
    for (std::size_t i = f * size; i < (f + 1) * size; ++i) {
      off += std::pow(static_cast<double>(sample.prediction[i]) - sample.truth[i], 2);
      scale += std::pow(static_cast<double>(sample.truth[i]), 2);
    }
    curve.y.push_back(scale > 0 ? std::sqrt(off / scale) : off > 0 ? NAN : 0.0);
    if (std::isfinite(curve.y.back())) most = std::max(most, curve.y.back());
  }
  Panel panel{"Error against time", "relative L2, all fields", {}, true, false, 0, most, ColourMap::error};
  panel.image = draw_line_plot(
      {{"t", set.time.front(), set.time.back()}, {"relative L2", 0, most > 0 ? 1.05 * most : 1}, {std::move(curve)}},
      pixels, pixels * 3 / 4);
  return panel;
}

}  // namespace lano
