#include "model_spec/lano_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace lano {
namespace {

// A periodic axis has n = n0 h0/h points on its one period; it may begin anywhere. One point has no spacing.
void wrap_axis(AxisLayout& axis, std::int64_t n, bool in_space, std::size_t number, double& first) {
  const auto trained = static_cast<double>(axis.trained), period = trained * axis.reach;
  if (in_space && (!std::isfinite(first) || (n > 1 && !(std::abs(static_cast<double>(n) - period) < 0.1)))) {
    fail("applying a LANO",
         fmt::format("a grid of one whole period on axis {}, {:g} points of its spacing", number, period),
         fmt::format("{} points", n), "leave out the last point where it repeats the first");
  }
  axis.reach = static_cast<double>(n) / trained;
  first = std::remainder(first, trained);  // exact, however many periods away
}

}  // namespace

double AxisLayout::cell(std::int64_t i, std::int64_t n) const {
  if (!held || !moved || (i > 0 && i + 1 < n)) return 1;
  const auto at = static_cast<double>(i);
  const double low = i == 0 ? std::max(-0.5, place(at) - 0.5) : place(at - 0.5),
               high = i + 1 == n ? std::min(static_cast<double>(trained), place(at) + 1) - 0.5 : place(at + 0.5);
  const double steps = (high - low) * reach;
  return std::abs(steps - 1) < 1e-6 ? 1 : std::max(steps, 1e-3);
}

Layout lano_layout(const LanoConfig& config, const LanoShape& shape, std::int64_t points, const Shape& mesh,
                   const std::vector<double>& spacing, const std::vector<double>& origin,
                   const std::vector<std::int64_t>& counts, const std::vector<double>& stretch) {
  Layout layout{mesh, {}, counts, {}};
  const bool physical = config.dwc_spacing == DwcSpacing::physical;
  if (shape.axes == 0) {
    // Along the Hilbert order the same distance in space spans N/N0 times as many points.
    const bool scaled = physical && config.order == Order::hilbert && shape.points > 0;
    const auto order_of = [&](std::int64_t size) {
      AxisLayout axis;
      if (!scaled || size == shape.points) return axis;
      axis.trained = shape.points;
      axis.reach = static_cast<double>(size) / static_cast<double>(shape.points);
      axis.moved = true;
      axis.first = 0.5 / axis.reach - 0.5;
      return axis;
    };
    layout.axes = {order_of(points)};
    for (const std::int64_t count : counts) layout.clouds.push_back(order_of(count));
    return layout;
  }
  if (mesh.size() != static_cast<std::size_t>(shape.axes)) {
    fail("applying a LANO", std::to_string(shape.axes) + " axes", shape_text(mesh));
  }
  for (std::size_t a = 0; a < mesh.size(); ++a) {
    AxisLayout axis;
    axis.trained = shape.mesh[a];
    axis.periodic = !shape.periodic.empty() && shape.periodic[a];
    axis.held = config.padding == Padding::edge && !axis.periodic;
    const std::int64_t n = mesh[a];
    double first = 0;
    const bool in_space = !shape.spacing.empty() && !spacing.empty();
    if (in_space) {
      axis.reach = shape.spacing[a] / spacing[a];
      first = ((origin.empty() ? 0 : origin[a]) - shape.origin[a]) / shape.spacing[a];
    } else if (axis.trained > 1 && n > 1) {
      axis.reach = static_cast<double>(n - 1) / static_cast<double>(axis.trained - 1);
      if (!stretch.empty()) axis.reach /= stretch[a];
    }
    if (axis.periodic && physical) wrap_axis(axis, n, in_space, a, first);
    const bool same = n == axis.trained && std::abs(axis.reach - 1) < 1e-3 && std::abs(first) < 1e-3;
    if (!physical || same) {
      axis.reach = 1;
    } else {
      axis.moved = true;
      axis.first = first;
    }
    layout.axes.push_back(std::move(axis));
  }
  return layout;
}

bool pools_on_grid(const LanoConfig& config, const std::vector<std::int64_t>& patches, const Shape& mesh) {
  return !mesh.empty() && patches.size() == mesh.size() && (patches.size() > 1 || config.pool == Pool::grid);
}

}  // namespace lano
