// A line chart as inline SVG: several named curves over counted x (epochs, frames) or logarithmic x, y on a logarithmic
// scale, axis labels and ticks.
#pragma once

#include <string>
#include <vector>

#include "run/run_metrics.h"

namespace lano {

struct Curve {
  std::string name, colour;
  std::vector<double> x, y;  // entries that are not positive and finite are left out
  bool faint = false;        // thin and half transparent
  std::string dash = {};     // stroke-dasharray; empty: a whole line
};

struct ChartSize {
  double width = 560, height = 280;
  bool logarithmic_x = false;
  double least_step = 1;  // between ticks of x: 1 where it counts something
};

// With `legend` the names stand in the chart; they are shown on hovering anyway.
std::string draw_curves(const std::vector<Curve>& curves, const std::string& x_label, const std::string& y_label,
                        ChartSize size = {}, bool legend = true);

// A histogram of positive values in equal bins, as inline SVG.
std::string draw_histogram(const std::vector<double>& values, const std::string& x_label);

// Of a run: training loss, validation, and the validation of the averaged weights where there is any.
std::vector<Curve> learning_curves(const RunMetrics& metrics);

}  // namespace lano
