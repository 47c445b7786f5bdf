#include "experiment/study_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "core/atomic_file.h"
#include "core/duration.h"
#include "core/version.h"
#include "data/dataset.h"
#include "experiment/seeds.h"
#include "report/curves.h"
#include "report/html_parts.h"
#include "report/log_chart.h"
#include "report/png_file.h"

namespace lano {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 7> kColours{"#1f5fa8", "#c8501e", "#2b8a3e", "#7b3fa0",
                                              "#a67c00", "#0b7285", "#5f5f5f"};
constexpr const char* kPaperColour = "#999999";
constexpr const char* kStepsAxis = "frame";  // of rows whose curve is their error at every step

std::vector<std::string> in_order(const std::vector<StudyRow>& rows, const auto& key) {
  std::vector<std::string> found;
  for (const StudyRow& row : rows) {
    if (std::find(found.begin(), found.end(), key(row)) == found.end()) found.push_back(key(row));
  }
  return found;
}

std::vector<StudyRow> only(const std::vector<StudyRow>& rows, const auto& wanted) {
  std::vector<StudyRow> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some), wanted);
  return some;
}

// The mean of the row that the others of its series are compared with; NaN where it is not finished.
double reference_of(const std::vector<StudyRow>& rows, const StudyRow& mine) {
  for (const StudyRow& row : rows) {
    if (row.benchmark == mine.benchmark && row.place.axis == mine.place.axis && row.place.reference &&
        (row.place.series == mine.place.series || mine.place.axis == kStepsAxis))
      return row.mean();
  }
  return std::nan("");
}

// As a reader looks for them: benchmark by benchmark, axis by axis, series by series, along the axis.
std::vector<StudyRow> sorted(std::vector<StudyRow> rows) {
  const auto benchmarks = in_order(rows, [](const StudyRow& row) { return row.benchmark; });
  const auto axes = in_order(rows, [](const StudyRow& row) { return row.place.axis; });
  const auto series = in_order(rows, [](const StudyRow& row) { return row.place.series; });
  const auto place = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) - all.begin();
  };
  const auto key = [&](const StudyRow& row) {
    return std::tuple(place(benchmarks, row.benchmark), place(axes, row.place.axis), place(series, row.place.series),
                      row.place.x);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const StudyRow& a, const StudyRow& b) { return key(a) < key(b); });
  return rows;
}

std::string error_text(double error) { return std::isfinite(error) ? fmt::format("{:.3e}", error) : "/"; }

std::string row_line(const std::vector<StudyRow>& rows, const StudyRow& row, bool with_paper) {
  const MeanAndDeviation spread = mean_and_deviation(row.errors);
  const double reference = reference_of(rows, row);
  const bool compared = std::isfinite(reference) && !row.errors.empty() && !row.place.reference;
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |{}\n", row.place.series, row.place.label,
                     row.errors.empty() ? "/" : error_text(spread.mean),
                     std::isfinite(spread.deviation) ? fmt::format("{:.1e}", spread.deviation) : "-",
                     compared              ? fmt::format("{:.3f}", spread.mean / reference)
                     : row.place.reference ? "1"
                                           : "-",
                     row.errors.empty() ? "" : std::to_string(row.parameters),
                     row.errors.empty() ? "" : fmt::format("{:.3g}", row.passes),
                     row.errors.empty() ? "" : duration_text(row.seconds),
                     with_paper ? fmt::format(" {} |", error_text(row.place.paper)) : "");
}

std::string set_line(const StudyPlan& plan, const std::string& benchmark) {
  for (const Variant& variant : plan.variants) {
    if (variant.benchmark != benchmark || !fs::exists(variant.recipe.data)) continue;
    return dataset_words(variant.recipe.data, variant.recipe.train_on);
  }
  return "the dataset is not there any more";
}

// A table of errors at single steps: the first, those of 1, 2, 5, 10, 20, ..., the last.
std::string steps_table(const std::vector<StudyRow>& rows) {
  std::size_t most = 0;
  for (const StudyRow& row : rows) most = std::max(most, row.step_l2.size());
  if (most == 0) return "";
  std::vector<std::size_t> steps;
  for (std::size_t decade = 1; decade <= most; decade *= 10) {
    for (const std::size_t factor : {1, 2, 5}) {
      if (factor * decade <= most) steps.push_back(factor * decade);
    }
  }
  if (steps.back() != most) steps.push_back(most);
  std::string text = "\n| relative L2 at step |", rule = "|---|";
  for (const std::size_t step : steps) {
    text += fmt::format(" {} |", step);
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const StudyRow& row : rows) {
    if (row.step_l2.empty()) continue;
    text += fmt::format("| {} |", row.place.label);
    for (const std::size_t step : steps)
      text += fmt::format(" {} |", step <= row.step_l2.size() ? error_text(row.step_l2[step - 1]) : "/");
    text += "\n";
  }
  return text;
}

std::vector<Curve> curves_of(const std::vector<StudyRow>& rows, const std::string& axis) {
  std::vector<Curve> curves;
  const auto colour = [&] { return kColours[curves.size() % kColours.size()]; };
  if (axis == kStepsAxis) {
    for (const StudyRow& row : rows) {
      Curve curve{row.place.label, colour(), {}, row.step_l2};
      for (std::size_t t = 0; t < row.step_l2.size(); ++t) curve.x.push_back(static_cast<double>(t + 1));
      if (!curve.x.empty()) curves.push_back(std::move(curve));
    }
    return curves;
  }
  std::map<double, double> printed;
  for (const std::string& series : in_order(rows, [](const StudyRow& row) { return row.place.series; })) {
    Curve curve{series, colour(), {}, {}};
    std::map<double, double> points;
    for (const StudyRow& row : rows) {
      if (row.place.series != series) continue;
      if (!row.errors.empty()) points[row.place.x] = row.mean();
      if (std::isfinite(row.place.paper) && (series == rows.front().place.series))
        printed[row.place.x] = row.place.paper;
    }
    for (const auto& [x, y] : points) {
      curve.x.push_back(x);
      curve.y.push_back(y);
    }
    if (!curve.x.empty()) curves.push_back(std::move(curve));
  }
  if (!printed.empty() && !curves.empty()) {
    Curve curve{"paper (1.1 M parameters, 500 epochs)", kPaperColour, {}, {}, false, "5 4"};
    for (const auto& [x, y] : printed) {
      curve.x.push_back(x);
      curve.y.push_back(y);
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::string file_word(std::string axis) {
  std::transform(axis.begin(), axis.end(), axis.begin(),
                 [](unsigned char c) { return std::isalnum(c) != 0 ? c : '-'; });
  return axis;
}

// Plots of every benchmark and axis with something to plot: written as PNG, returned as parts of the page.
std::string write_plots(const std::vector<StudyRow>& rows, const std::string& benchmark, const fs::path& folder) {
  std::string page;
  const auto mine = only(rows, [&](const StudyRow& row) { return row.benchmark == benchmark; });
  for (const std::string& axis : in_order(mine, [](const StudyRow& row) { return row.place.axis; })) {
    const auto curves = curves_of(only(mine, [&](const StudyRow& row) { return row.place.axis == axis; }), axis);
    if (axis.empty() || curves.empty()) continue;
    const std::string x_label = axis == kStepsAxis ? "steps from the given frames" : axis;
    const std::string png = encode_png(draw_log_chart({benchmark, x_label, "relative L2 on test", curves}));
    write_file_atomically(folder / fmt::format("{}-{}.png", benchmark, file_word(axis)), png);
    page += fmt::format("<img class=\"sheet\" alt=\"relative L2 on test against {}\" src=\"data:image/png;base64,{}\">",
                        escaped(x_label), base64(png));
  }
  return page;
}

std::string html_rows(const std::vector<StudyRow>& rows, const std::string& benchmark, bool with_paper) {
  std::string text = fmt::format(
      "<div class=\"scroll\"><table class=\"runs\"><tr><th>series</th><th>variant</th><th>relative "
      "L2</th><th>deviation</th><th>of the reference</th>"
      "<th>parameters</th>{}</tr>",
      with_paper ? "<th>paper</th>" : "");
  for (const StudyRow& row : rows) {
    if (row.benchmark != benchmark) continue;
    const MeanAndDeviation spread = mean_and_deviation(row.errors);
    const double reference = reference_of(rows, row);
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{}</tr>", escaped(row.place.series),
        escaped(row.place.label), row.errors.empty() ? "/" : error_text(spread.mean),
        std::isfinite(spread.deviation) ? fmt::format("{:.1e}", spread.deviation) : "-",
        std::isfinite(reference) && !row.errors.empty() ? fmt::format("{:.3f}", spread.mean / reference) : "-",
        row.parameters, with_paper ? fmt::format("<td>{}</td>", error_text(row.place.paper)) : "");
  }
  return text + "</table></div>";
}

bool any_paper(const std::vector<StudyRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const StudyRow& row) { return std::isfinite(row.place.paper); });
}

std::vector<std::string> about_of(const StudyPlan& plan, const StudyWords& words) {
  std::vector<std::string> about = words.about;
  about.push_back(
      plan.minutes > 0
          ? fmt::format("Budget: {:g} minutes of training per seed for each variant that does not share another's "
                        "epochs, fixed beforehand from its measured pace.",
                        plan.minutes)
          : "The epochs of the recipes.");
  about.push_back(
      fmt::format("{} seed{}, {} thread{}, lano {}. Weights as the recipe chooses them, by validation or the "
                  "last ones; each test split is evaluated once per seed.",
                  plan.seeds, plan.seeds == 1 ? "" : "s", threads_of(plan.threads),
                  threads_of(plan.threads) == 1 ? "" : "s", kVersion));
  return about;
}

}  // namespace

std::string study_markdown(const StudyPlan& plan, const StudyWords& words, const std::vector<StudyRow>& rows) {
  std::string text = fmt::format("# {}\n", words.title);
  for (const std::string& benchmark : in_order(rows, [](const StudyRow& row) { return row.benchmark; })) {
    const auto mine = only(rows, [&](const StudyRow& row) { return row.benchmark == benchmark; });
    const bool with_paper = any_paper(mine);
    text += fmt::format(
        "\n{}: {}\n\n| series | variant | relative L2 on test | deviation | of the reference | parameters "
        "| passes | training |{}\n|---|---|---|---|---|---|---|---|{}\n",
        benchmark, set_line(plan, benchmark), with_paper ? " paper |" : "", with_paper ? "---|" : "");
    for (const StudyRow& row : mine) text += row_line(mine, row, with_paper);
    if (mine.front().place.axis == kStepsAxis) text += steps_table(mine);
    for (const StudyRow& row : mine) {
      if (!row.reason.empty()) text += fmt::format("\n{}: {}\n", row.place.label, row.reason);
    }
  }
  text += "\n";
  for (const std::string& line : about_of(plan, words)) text += line + "\n";
  return text;
}

std::string study_csv(const std::vector<StudyRow>& rows) {
  std::string text =
      "benchmark,axis,series,variant,x,seed_number,relative_l2,parameters,passes,training_seconds,paper\n";
  for (const StudyRow& row : rows) {
    for (std::size_t i = 0; i < row.errors.size(); ++i) {
      text += fmt::format("{},{},\"{}\",\"{}\",{:g},{},{:.9g},{},{:.6g},{:.1f},{}\n", row.benchmark, row.place.axis,
                          row.place.series, row.place.label, row.place.x, i, row.errors[i], row.parameters, row.passes,
                          row.seconds, std::isfinite(row.place.paper) ? fmt::format("{:g}", row.place.paper) : "");
    }
  }
  return text;
}

std::string study_steps_csv(const std::vector<StudyRow>& rows) {
  std::string text = "benchmark,variant,step,frame,relative_l2\n";
  for (const StudyRow& row : rows) {
    for (std::size_t t = 0; t < row.step_l2.size(); ++t) {
      text += fmt::format("{},\"{}\",{},{},{:.9g}\n", row.benchmark, row.place.label, t + 1,
                          row.first_frame + static_cast<std::int64_t>(t), row.step_l2[t]);
    }
  }
  return text;
}

std::string write_study(const StudyPlan& plan, const StudyWords& words, const fs::path& folder) {
  const std::vector<StudyRow> rows = sorted(read_study(plan, folder));
  const std::string text = study_markdown(plan, words, rows);
  write_file_atomically(folder / (plan.name + ".md"), text);
  write_file_atomically(folder / (plan.name + ".csv"), study_csv(rows));
  if (std::any_of(rows.begin(), rows.end(), [](const StudyRow& row) { return row.place.axis == kStepsAxis; }))
    write_file_atomically(folder / "steps.csv", study_steps_csv(rows));
  std::string page = page_opening(words.title, fmt::format("{}", fmt::join(about_of(plan, words), " ")));
  for (const std::string& benchmark : in_order(rows, [](const StudyRow& row) { return row.benchmark; })) {
    const auto mine = only(rows, [&](const StudyRow& row) { return row.benchmark == benchmark; });
    page += fmt::format("<section class=\"panel wide-panel\"><h2>{}</h2><p class=\"quiet\">{}</p>", escaped(benchmark),
                        escaped(set_line(plan, benchmark)));
    page += write_plots(rows, benchmark, folder);
    page += html_rows(mine, benchmark, any_paper(mine)) + "</section>";
  }
  write_file_atomically(folder / "index.html", page + page_ending(fmt::format("lano {}", kVersion)));
  return text;
}

}  // namespace lano
