#include "report/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html_parts.h"

namespace lano {

PanelRows side_by_side_panels(const SideBySide& side, std::int64_t pixels) {
  const ShownSample& ours = side.seen.front().sample;
  const SamplePainter painter(side.set, ours.coordinates, side.cell_kind, ours.cells, pixels);
  const std::int64_t du = side.set.output_channels(), da = side.set.input_channels();
  PanelRows rows;
  for (std::int64_t c = 0; c < du; ++c) {
    const FieldInfo& field = side.set.output[static_cast<std::size_t>(c)];
    const auto truth = channel(ours.truth, du, c);
    const Bounds shown = value_range(truth);
    std::vector<Panel> fields, errors;
    for (std::int64_t i = 0; c == 0 && i < da; ++i) {
      const auto input = channel(ours.input, da, i);
      fields.push_back(painter.draw("Input", side.set.input[static_cast<std::size_t>(i)], input, value_range(input),
                                    ColourMap::field));
    }
    fields.push_back(painter.draw("Truth", field, truth, shown, ColourMap::field));
    double largest = 0;
    for (const SeenBy& one : side.seen) {
      const auto error = absolute_error(channel(one.sample.prediction, du, c), truth);
      largest = std::max(largest, value_range(error).second);
    }
    for (const SeenBy& one : side.seen) {
      const auto prediction = channel(one.sample.prediction, du, c);
      fields.push_back(painter.draw(one.label, field, prediction, shown, ColourMap::field));
      errors.push_back(painter.draw(one.label + ", error", field, absolute_error(prediction, truth), {0, largest},
                                    ColourMap::error));
    }
    rows.push_back(std::move(fields));
    rows.push_back(std::move(errors));
  }
  return rows;
}

std::string render_side_by_side(const SideBySide& side) {
  const SeenBy& ours = side.seen.front();
  std::string errors;
  for (const SeenBy& one : side.seen)
    errors += fmt::format("{}{:.3e} of {}", errors.empty() ? "" : ", ", one.sample.relative_l2, escaped(one.label));
  std::string html = fmt::format(
      "<p class=\"quiet\">Test sample {}, the median of {}: relative L2 {}. Errors are on one colour scale: the "
      "darker, "
      "the better.</p>",
      ours.sample.id, escaped(ours.label), errors);
  for (const std::vector<Panel>& row : side_by_side_panels(side)) {
    html += "<div class=\"five\">";
    for (const Panel& panel : row) html += panel_figure(panel);
    html += "</div>";
  }
  return html;
}

}  // namespace lano
