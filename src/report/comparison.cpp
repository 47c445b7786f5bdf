#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/duration.h"
#include "model_spec/model_catalogue.h"
#include "report/html_parts.h"

namespace lano {
namespace {

// Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow, which paper swallows.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#000000", "#e69f00", "#56b4e9", "#7f3c8d"};
constexpr const char* kDashes[] = {"", "8 4", "2 3"};

std::string colour_of(std::size_t run) { return kColours[run % std::size(kColours)]; }
std::string dash_of(std::size_t run) { return kDashes[run / std::size(kColours) % std::size(kDashes)]; }

std::string with_sign(std::string text) {
  if (const auto at = text.find("+-"); at != std::string::npos) text.replace(at, 2, "\u00b1");
  return text;
}

std::string mark(std::size_t run) {
  return fmt::format(
      "<svg class=\"mark\" viewBox=\"0 0 26 10\"><line x1=\"0\" x2=\"26\" y1=\"5\" y2=\"5\" stroke=\"{}\" "
      "stroke-width=\"3\" "
      "stroke-dasharray=\"{}\"/></svg>",
      colour_of(run), dash_of(run).empty() ? "none" : dash_of(run));
}

std::string legend(const std::vector<RunSummary>& runs) {
  std::string html = "<div class=\"legend\">";
  for (std::size_t r = 0; r < runs.size(); ++r) {
    html += fmt::format("<span>{}{}{}</span>", mark(r), escaped(run_name(runs[r].folder)),
                        runs[r].weights == "ema" ? " <small class=\"quiet\">averaged weights</small>" : "");
  }
  return html + "</div><p class=\"quiet\">Thick: relative L2 on validation. Thin: training loss.</p>";
}

// As in the text, but members by their place in the group, and with a sign for +-.
std::string cell_text(const RunCollection& found, const RunTable::Row& row, std::size_t column) {
  if (column == 0 && row.kind == RunTable::Kind::member) {
    const RunSummary& run = found.runs[row.index];
    return run.folder.lexically_relative(found.groups[group_of(run, found.groups)].folder).generic_string();
  }
  return row.kind == RunTable::Kind::group && column > 0 ? with_sign(row.cells[column]) : row.cells[column];
}

std::string render_runs(const RunCollection& found) {
  const RunTable table = make_run_table(found, RunOrder::name, {});
  std::string html = "<div class=\"scroll\"><table class=\"runs\"><tr>";
  for (const std::string& column : table.columns) html += fmt::format("<th>{}</th>", escaped(column));
  html += "</tr>";
  for (const auto& row : table.rows) {
    const bool group = row.kind == RunTable::Kind::group;
    html += group ? "<tr class=\"group\">" : row.kind == RunTable::Kind::member ? "<tr class=\"member\">" : "<tr>";
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      html += fmt::format("<td>{}{}</td>", c == 0 && !group ? mark(row.index) : "", escaped(cell_text(found, row, c)));
    }
    html += "</tr>";
  }
  return html + "</table></div>";
}

std::string render_differences(const std::vector<RunSummary>& runs) {
  const std::vector<std::string> keys = differing_keys(runs, true);
  if (keys.empty()) return "<p class=\"quiet\">Nothing but seed or data file.</p>";
  std::string html = "<div class=\"scroll\"><table class=\"runs wide\"><tr><th></th>";
  for (std::size_t r = 0; r < runs.size(); ++r)
    html += fmt::format("<th>{}{}</th>", mark(r), escaped(run_name(runs[r].folder)));
  html += "</tr>";
  for (const std::string& key : keys) {
    html += fmt::format("<tr><td>{}</td>", escaped(key));
    for (const RunSummary& run : runs) {
      const std::string value = config_value(run, key);
      html += fmt::format("<td>{}</td>", value.empty() ? "-" : escaped(value));
    }
    html += "</tr>";
  }
  return html + "</table></div>";
}

// Errors share one scale over the runs, so that a darker picture is a better one; fields share theirs where the runs
// show the same sample.
std::string render_samples(const ComparisonContent& content) {
  const std::int64_t du = content.set.output_channels();
  const bool same = std::all_of(content.samples.begin(), content.samples.end(),
                                [&](const ComparedSample& s) { return s.sample.id == content.samples[0].sample.id; });
  std::vector<std::pair<double, double>> fields(static_cast<std::size_t>(du), {1e300, -1e300});
  std::vector<double> errors(static_cast<std::size_t>(du), 0.0);
  for (const ComparedSample& compared : content.samples) {
    for (std::int64_t c = 0; c < du; ++c) {
      const auto truth = channel(compared.sample.truth, du, c), prediction = channel(compared.sample.prediction, du, c);
      const auto range = value_range(truth, prediction);
      auto& field = fields[static_cast<std::size_t>(c)];
      field = {std::min(field.first, range.first), std::max(field.second, range.second)};
      double& error = errors[static_cast<std::size_t>(c)];
      error = std::max(error, value_range(absolute_error(prediction, truth)).second);
    }
  }
  std::string html =
      "<section class=\"panel wide-panel\"><h2>The median test sample of each run</h2>"
      "<p class=\"quiet\">Errors are on one colour scale: the darker, the better.</p>";
  for (const ComparedSample& compared : content.samples) {
    const ShownSample& sample = compared.sample;
    const SamplePainter painter(content.set, sample.coordinates, content.cell_kind, sample.cells);
    html +=
        fmt::format("<h3>{}{} <span class=\"quiet\">test sample {}, relative L2 {:.3e}</span></h3>", mark(compared.run),
                    escaped(run_name(content.found.runs[compared.run].folder)), sample.id, sample.relative_l2);
    for (std::int64_t c = 0; c < du; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const auto truth = channel(sample.truth, du, c), prediction = channel(sample.prediction, du, c);
      const auto bounds = same ? fields[at] : value_range(truth, prediction);
      const FieldInfo& field = content.set.output[at];
      for (std::size_t part = 0; part < painter.parts(); ++part) {
        html += "<div class=\"three\">";
        html += panel_figure(painter.draw("Truth", field, truth, bounds, ColourMap::field, part));
        html += panel_figure(painter.draw("Prediction", field, prediction, bounds, ColourMap::field, part, truth));
        html += panel_figure(painter.draw("Absolute error", field, absolute_error(prediction, truth), {0.0, errors[at]},
                                          ColourMap::error, part));
        html += "</div>";
      }
    }
  }
  return html + "</section>";
}

std::set<std::string> sets_of(const std::vector<RunSummary>& runs) {
  std::set<std::string> sets;
  for (const RunSummary& run : runs) {
    if (!run.set.empty()) sets.insert(run.set);
  }
  return sets;
}

// The operator all runs share, "Operators" where there are several.
std::string operator_of(const std::vector<RunSummary>& runs) {
  std::set<std::string> names;
  for (const RunSummary& run : runs) {
    const auto at = run.config.find("model.name");
    names.insert(at == run.config.end() ? "lano" : at->second);
  }
  return names.size() > 1 ? "Operators" : names.empty() ? "LANO" : model_label(*names.begin());
}

LabelledValues group_cards(const RunCollection& found) {
  const SeedGroup& group = found.groups[0];
  double seconds = 0;
  for (const RunSummary& run : found.runs) seconds += std::isfinite(run.seconds) ? run.seconds : 0;
  LabelledValues cards{
      {fmt::format("relative L2 on test, mean of {} seeds", found.runs.size()), with_sign(spread_text(group.test_l2))},
      {"relative L2 on validation", with_sign(spread_text(group.validation_l2))}};
  if (!found.runs.empty() && found.runs[0].parameters > 0)
    cards.emplace_back("parameters", grouped_digits(found.runs[0].parameters));
  cards.emplace_back("training time, in total", duration_text(seconds));
  return cards;
}

// The lowest on validation, never on test: the test error is shown for the one so chosen. A group counts by its mean.
LabelledValues comparison_cards(const RunCollection& found) {
  LabelledValues cards;
  if (sets_of(found.runs).size() > 1) return cards;
  double lowest = std::numeric_limits<double>::infinity();
  std::string name, validation, test;
  for (const RunSummary& run : found.runs) {
    if (group_of(run, found.groups) < found.groups.size() || !(run.validation_l2 < lowest)) continue;
    lowest = run.validation_l2;
    name = run_name(run.folder);
    validation = error_text(run.validation_l2);
    test = error_text(run.test_l2);
  }
  for (const SeedGroup& group : found.groups) {
    if (!(group.validation_l2.mean < lowest)) continue;
    lowest = group.validation_l2.mean;
    name = run_name(group.folder);
    validation = with_sign(spread_text(group.validation_l2));
    test = with_sign(spread_text(group.test_l2));
  }
  if (name.empty()) return cards;
  cards.emplace_back("lowest relative L2 on validation: " + name, validation);
  cards.emplace_back("relative L2 on test of the same", test == "-" ? "none yet" : test);
  return cards;
}

}  // namespace

std::vector<Curve> compared_curves(const std::vector<RunSummary>& runs) {
  std::vector<Curve> faint, curves;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const RunMetrics& m = runs[r].metrics;
    const std::string name = run_name(runs[r].folder);
    const bool averaged = runs[r].weights == "ema";
    faint.push_back({name + ", training loss", colour_of(r), m.epoch, m.train_loss, true, dash_of(r)});
    curves.push_back({name + (averaged ? ", validation of averaged weights" : ", validation"), colour_of(r), m.epoch,
                      averaged ? m.validation_ema_l2 : m.validation_l2, false, dash_of(r)});
  }
  curves.insert(curves.begin(), faint.begin(), faint.end());
  return curves;
}

std::string render_comparison(const ComparisonContent& content) {
  const RunCollection& found = content.found;
  const std::set<std::string> sets = sets_of(found.runs);
  const bool one_set = sets.size() == 1;
  const bool one_group =
      found.groups.size() == 1 && std::all_of(found.runs.begin(), found.runs.end(),
                                              [&](const RunSummary& run) { return group_of(run, found.groups) == 0; });
  const std::string what =
      one_group ? fmt::format("{} seeds", found.runs.size()) : fmt::format("{} runs", found.runs.size());
  const std::string what_kind = operator_of(found.runs);
  const std::string opening = what_kind == "LANO" ? "Linear Attention Neural Operator: " : "";
  std::string subtitle = opening + "comparison of training runs";
  if (one_group) {
    subtitle =
        fmt::format("{}{}, trained with {} seeds{}", opening, run_name(found.groups[0].folder), found.runs.size(),
                    found.groups[0].selection.empty() ? "" : "; weights kept: " + found.groups[0].selection);
  }
  std::string html = page_opening(
      one_set ? fmt::format("{} on {}: {}", what_kind, *sets.begin(), what) : fmt::format("{}: {}", what_kind, what),
      subtitle);
  html += render_cards(one_group ? group_cards(found) : comparison_cards(found));
  if (sets.size() > 1)
    html += "<p class=\"quiet\">The runs use different datasets: their errors are not comparable.</p>";
  html += "<section class=\"panel wide-panel\"><h2>Learning curves</h2>" +
          draw_curves(compared_curves(found.runs), "epoch", "relative error", {1150, 400}, false) + legend(found.runs) +
          "</section>";
  html += "<section class=\"panel wide-panel\"><h2>Runs</h2>" + render_runs(found) + "</section>";
  html += "<section class=\"panel wide-panel\"><h2>Configuration: what differs</h2>" + render_differences(found.runs) +
          "</section>";
  if (!content.samples.empty()) html += render_samples(content);
  std::vector<std::string> notes = content.notes;
  for (const RunSummary& run : found.runs) notes.insert(notes.end(), run.notes.begin(), run.notes.end());
  for (const SeedGroup& group : found.groups) notes.insert(notes.end(), group.notes.begin(), group.notes.end());
  if (!notes.empty()) html += "<section class=\"panel wide-panel\"><h2>Notes</h2>";
  for (const std::string& note : notes) html += fmt::format("<p>{}</p>", escaped(note));
  if (!notes.empty()) html += "</section>";
  return html + page_ending(content.footer);
}

}  // namespace lano
