// A chart with two logarithmic axes as pixels, for PNG files: curves with markers, ticks, a legend, in a small built-in
// font.
#pragma once

#include <string>
#include <vector>

#include "report/curves.h"
#include "report/picture.h"

namespace lano {

struct LogChart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;  // colours as "#rrggbb"; points that are not positive and finite are left out
};

Image draw_log_chart(const LogChart& chart, std::int64_t width = 760, std::int64_t height = 520);

}  // namespace lano
