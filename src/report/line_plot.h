// Plots with linear axes as pixels: curves over one coordinate, and a raster (space-time) with its axes.
#pragma once

#include <string>
#include <vector>

#include "report/curves.h"
#include "report/picture.h"

namespace lano {

struct PlotAxis {
  std::string label;
  double low = 0, high = 1;
};

struct LinePlot {
  PlotAxis x, y;              // the ranges that are shown
  std::vector<Curve> curves;  // colours as "#rrggbb"; points that are not finite are left out; more than one: a legend
};

constexpr std::int64_t kPlotTop = 22;  // where a plot begins, in pixels: the legend stands above
// Width and height of the plot without its labels.
Image draw_line_plot(const LinePlot& plot, std::int64_t width, std::int64_t height);

constexpr std::int64_t kRasterTop = 7;  // where the raster begins, in pixels
// x runs to the right, y downwards from its low end.
Image draw_raster(const Image& raster, const PlotAxis& x, const PlotAxis& y);

// Multiples of 1, 2 or 5 times a power of ten, about `count` of them, in the range.
std::vector<double> even_ticks(double low, double high, int count);
// As short as three digits allow; 0 where the value is negligible against the extent.
std::string tick_text(double value, double extent);

}  // namespace lano
