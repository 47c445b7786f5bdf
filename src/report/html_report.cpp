#include "report/html_report.h"

#include <fmt/format.h>

#include <cmath>

#include "report/html_parts.h"
#include "report/picture.h"

namespace lano {
namespace {

std::string render_sample(const SetDescription& set, const ShownSample& sample) {
  std::string html = fmt::format(
      "<section class=\"panel sample\"><h2><span class=\"tag\">{}</span>test sample {} "
      "<span class=\"quiet\">relative L2 {:.3e}</span></h2>",
      escaped(sample.label), sample.id, sample.relative_l2);
  for (std::int64_t c = 0; c < set.output_channels(); ++c) {
    const auto truth = channel(sample.truth, set.output_channels(), c);
    const auto prediction = channel(sample.prediction, set.output_channels(), c);
    std::vector<float> error(truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) error[i] = std::abs(prediction[i] - truth[i]);
    const auto shared = value_range(truth, prediction);
    const std::string& name = set.output[static_cast<std::size_t>(c)].name;
    html += "<div class=\"row\">";
    for (std::int64_t a = 0; a < (c == 0 ? set.input_channels() : 0); ++a) {
      const auto input = channel(sample.input, set.input_channels(), a);
      html += field_figure("Input", set.input[static_cast<std::size_t>(a)].name, set, sample.coordinates, input,
                           value_range(input), ColourMap::field);
    }
    html += field_figure("Truth", name, set, sample.coordinates, truth, shared, ColourMap::field);
    html += field_figure("Prediction", name, set, sample.coordinates, prediction, shared, ColourMap::field);
    html += field_figure("Absolute error", name, set, sample.coordinates, error, {0.0, value_range(error).second},
                         ColourMap::error);
    html += "</div>";
  }
  return html + "</section>";
}

}  // namespace

std::string render_report(const ReportContent& r) {
  std::string html = page_opening(r.title, r.subtitle) + render_cards(r.headline);
  if (!r.note.empty()) html += fmt::format("<p class=\"quiet\">{}</p>", escaped(r.note));
  html += "<div class=\"two\">";
  html += "<section class=\"panel\"><h2>Learning curves</h2>" + draw_curves(r.curves, "epoch", "relative error") +
          "</section>";
  html += "<section class=\"panel\"><h2>Test errors</h2>" + draw_histogram(r.errors, "relative L2 of a test sample") +
          "</section>";
  html += "</div>";
  if (!r.steps.empty()) {
    html += "<div class=\"two\"><section class=\"panel\"><h2>Error in time</h2>" +
            draw_curves(r.steps, "frame", "relative L2") + "</section></div>";
  }
  html += "<section class=\"panel\"><h2>Summary</h2>" + render_table(r.summary) + "</section>";
  for (const ShownSample& sample : r.samples) html += render_sample(r.set, sample);
  if (!r.config.empty()) {
    html += fmt::format("<details class=\"panel\"><summary>Configuration</summary><pre>{}</pre></details>",
                        escaped(r.config));
  }
  return html + page_ending(r.footer);
}

}  // namespace lano
