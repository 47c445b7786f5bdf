#include "report/html_report.h"

#include <fmt/format.h>

#include "report/html_parts.h"
#include "report/png_file.h"
#include "report/sheet.h"

namespace lano {
namespace {

std::string render_sample(const ReportContent& r, std::size_t which) {
  const ShownSample& sample = r.samples[which];
  std::string html = fmt::format(
      "<section class=\"panel sample\"><h2><span class=\"tag\">{}</span>test sample {} "
      "<span class=\"quiet\">relative L2 {:.3e}</span></h2>",
      escaped(sample.label), sample.id, sample.relative_l2);
  html += panel_rows(judged_panels(r.set, sample, r.cell_kind), r.set.time.size() > 1);
  // One movement per page is enough: of the sample in the middle.
  if (which == r.samples.size() / 2) {
    const std::string moving = animate({r.set, r.samples, r.cell_kind, {}}, which);
    if (!moving.empty()) {
      html += fmt::format(
          "<h3>In time</h3><img class=\"sheet\" alt=\"truth, prediction and error, animated\" "
          "src=\"data:image/png;base64,{}\">",
          base64(moving));
    }
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
  if (!r.errors.empty()) {
    html += "<section class=\"panel\"><h2>Test errors</h2>" + draw_histogram(r.errors, "relative L2 of a test sample") +
            "</section>";
  }
  html += "</div>";
  if (!r.steps.empty()) {
    html += "<div class=\"two\"><section class=\"panel\"><h2>Error in time</h2>" +
            draw_curves(r.steps, r.steps_over, "relative L2", {.least_step = r.steps_over == "frame" ? 1.0 : 0.0}) +
            "</section></div>";
  }
  if (!r.summary.empty()) html += "<section class=\"panel\"><h2>Summary</h2>" + render_table(r.summary) + "</section>";
  for (std::size_t i = 0; i < r.samples.size(); ++i) html += render_sample(r, i);
  if (!r.config.empty()) {
    html += fmt::format("<details class=\"panel\"><summary>Configuration</summary><pre>{}</pre></details>",
                        escaped(r.config));
  }
  return html + page_ending(r.footer);
}

}  // namespace lano
