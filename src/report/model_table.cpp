#include "report/model_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/duration.h"
#include "model_spec/model_catalogue.h"
#include "report/html_parts.h"
#include "report/run_list.h"

namespace lano {
namespace {

constexpr const char* kOurs = "lano";
constexpr const char* kReasonsTitle = "Seeds without a number";
constexpr const char* kPaperTitle =
    "What the paper prints (the public datasets, 500 epochs, 1.1 M parameters for LANO):";

// How a text is set off: best, second best. Markdown has no underline; <ins> is what its readers know.
struct Emphasis {
  std::string_view bold_open, bold_close, under_open, under_close;
};
constexpr Emphasis kMarkdown{"**", "**", "<ins>", "</ins>"}, kHtml{"<b>", "</b>", "<u>", "</u>"};

// In units of 1e-2, as the paper prints them.
std::string error_cell(const ModelTable& table, std::size_t m, std::size_t b, const Emphasis& e) {
  const ModelCell& cell = table.cell(m, b);
  if (!std::isfinite(cell.error)) return cell.reason.empty() ? "" : "/";
  std::string text = fmt::format("{:.2f}", 100 * cell.error);
  if (std::isfinite(cell.deviation)) text += fmt::format(" ± {:.2f}", 100 * cell.deviation);
  if (!cell.complete()) return fmt::format("{} ({} of {} seeds)", text, cell.seeds, cell.asked);
  const auto [best, second] = best_two(table, b);
  if (m == best) return fmt::format("{}{}{}", e.bold_open, text, e.bold_close);
  if (m == second) return fmt::format("{}{}{}", e.under_open, text, e.under_close);
  return text;
}

std::string promotion_text(double value) { return std::isfinite(value) ? fmt::format("{:.1f} %", 100 * value) : "-"; }
std::string epochs_text(double epochs) {
  return epochs >= 10 || epochs == std::floor(epochs) ? fmt::format("{:.0f}", epochs) : fmt::format("{:.2g}", epochs);
}
std::string seconds_text(double seconds) { return std::isfinite(seconds) ? fmt::format("{:.3g} s", seconds) : "-"; }
std::string megabytes(std::int64_t bytes) {
  return bytes > 0 ? fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6) : "-";
}
std::string family_of(const std::string& model) {
  const ModelInfo* const info = find_model(model);
  return info == nullptr ? "" : std::string(info->family);
}

// Cells of the table of one benchmark after the model's name: error, parameters, seconds per epoch, epochs, training
// time, memory.
std::vector<std::string> cost_cells(const ModelTable& table, std::size_t m, std::size_t b, const Emphasis& e) {
  const ModelCell& c = table.cell(m, b);
  if (!std::isfinite(c.error)) return {"/", "", "", "", "", ""};
  return {error_cell(table, m, b, e), grouped_digits(c.parameters),      seconds_text(c.epoch_seconds),
          epochs_text(c.epochs),      duration_text(c.training_seconds), megabytes(c.peak_bytes)};
}

const std::vector<std::string>& cost_columns() {
  static const std::vector<std::string> columns{"relative L2 x 100", "parameters", "time per epoch", "epochs",
                                                "training time",     "peak memory"};
  return columns;
}

bool was_asked(const ModelTable& table, std::size_t m, std::size_t b) {
  return std::isfinite(table.cell(m, b).error) || !table.cell(m, b).reason.empty();
}

bool has_ours(const ModelTable& table) {
  return std::find(table.models.begin(), table.models.end(), kOurs) != table.models.end();
}

// Sentences on what the table cannot say in a cell.
std::vector<std::string> reasons(const ModelTable& table) {
  std::vector<std::string> lines;
  for (std::size_t b = 0; b < table.benchmarks.size(); ++b) {
    for (std::size_t m = 0; m < table.models.size(); ++m) {
      const ModelCell& cell = table.cell(m, b);
      if (!cell.reason.empty())
        lines.push_back(fmt::format("{} on {}: {}", model_label(table.models[m]), table.benchmarks[b], cell.reason));
    }
  }
  return lines;
}

std::string html_row(const std::vector<std::string>& cells, const char* tag) {
  std::string html = "<tr>";
  for (const std::string& cell : cells) html += fmt::format("<{0}>{1}</{0}>", tag, cell);
  return html + "</tr>";
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

// The rows of the first table: family, model, errors; the promotion last.
std::vector<std::vector<std::string>> error_rows(const ModelTable& table, const Emphasis& e) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t m = 0; m < table.models.size(); ++m) {
    rows.push_back({model_label(table.models[m]), family_of(table.models[m])});
    for (std::size_t b = 0; b < table.benchmarks.size(); ++b) rows.back().push_back(error_cell(table, m, b, e));
  }
  if (has_ours(table)) {
    rows.push_back({"relative promotion of LANO", ""});
    for (std::size_t b = 0; b < table.benchmarks.size(); ++b)
      rows.back().push_back(promotion_text(promotion(table, b)));
    if (const double mean = average_promotion(table); table.benchmarks.size() > 1 && std::isfinite(mean)) {
      rows.push_back({"average promotion", "", promotion_text(mean)});
      rows.back().resize(2 + table.benchmarks.size());
    }
  }
  return rows;
}

std::vector<std::string> error_header(const ModelTable& table) {
  std::vector<std::string> header{"model", "family"};
  for (const std::string& benchmark : table.benchmarks) header.push_back(benchmark + " (x 100)");
  return header;
}

// What the paper prints for the same operators, in units of 1e-2; no rows where it has none of them.
std::vector<std::vector<std::string>> paper_rows(const ModelTable& table) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t m = 0; m < table.models.size(); ++m) {
    std::vector<std::string> row{model_label(table.models[m]), family_of(table.models[m])};
    bool any = false;
    for (std::size_t b = 0; b < table.benchmarks.size(); ++b) {
      const double printed = table.cell(m, b).paper;
      any = any || std::isfinite(printed);
      row.push_back(std::isfinite(printed) ? fmt::format("{:.2f}", 100 * printed) : "/");
    }
    if (any) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::pair<std::size_t, std::size_t> best_two(const ModelTable& table, std::size_t benchmark) {
  const std::size_t none = table.models.size();
  std::size_t best = none, second = none;
  const auto error = [&](std::size_t m) {
    return m == none ? std::numeric_limits<double>::infinity() : table.cell(m, benchmark).error;
  };
  for (std::size_t m = 0; m < none; ++m) {
    if (!std::isfinite(error(m)) || !table.cell(m, benchmark).complete())
      continue;  // the mean of the seeds that went well is no rival
    if (error(m) < error(best)) {
      second = best;
      best = m;
    } else if (error(m) < error(second)) {
      second = m;
    }
  }
  return {best, second};
}

std::size_t runner_up(const ModelTable& table, std::size_t benchmark) {
  const auto [best, second] = best_two(table, benchmark);
  return best < table.models.size() && table.models[best] == kOurs ? second : best;
}

double promotion(const ModelTable& table, std::size_t benchmark) {
  const auto ours =
      static_cast<std::size_t>(std::find(table.models.begin(), table.models.end(), kOurs) - table.models.begin());
  const std::size_t other = runner_up(table, benchmark);
  if (ours == table.models.size() || other == table.models.size() || !table.cell(ours, benchmark).complete())
    return std::nan("");
  return 1 - table.cell(ours, benchmark).error / table.cell(other, benchmark).error;
}

double average_promotion(const ModelTable& table) {
  double sum = 0;
  for (std::size_t b = 0; b < table.benchmarks.size(); ++b) sum += promotion(table, b);
  return sum / static_cast<double>(table.benchmarks.size());
}

std::string model_table_markdown(const ModelTable& table) {
  const auto rule = [](std::size_t columns) {
    std::string text = "|";
    for (std::size_t i = 0; i < columns; ++i) text += "---|";
    return text + "\n";
  };
  std::string text = markdown_row(error_header(table)) + rule(2 + table.benchmarks.size());
  for (const auto& row : error_rows(table, kMarkdown)) text += markdown_row(row);
  text +=
      "\nRelative L2 on test in units of 1e-2; best in bold, second best underlined; / where the model has no number. "
      "Where not every seed finished, the mean is of those that did, and has no rank. Promotion: 1 - LANO's error / "
      "the best other error.\n";
  if (const auto printed = paper_rows(table); !printed.empty()) {
    text +=
        fmt::format("\n{}\n\n", kPaperTitle) + markdown_row(error_header(table)) + rule(2 + table.benchmarks.size());
    for (const auto& row : printed) text += markdown_row(row);
  }
  for (std::size_t b = 0; b < table.benchmarks.size(); ++b) {
    std::vector<std::string> header{"model"};
    header.insert(header.end(), cost_columns().begin(), cost_columns().end());
    text +=
        fmt::format("\n{}: {}\n\n{}{}", table.benchmarks[b], table.sets[b], markdown_row(header), rule(header.size()));
    for (std::size_t m = 0; m < table.models.size(); ++m) {
      if (!was_asked(table, m, b)) continue;
      std::vector<std::string> row{model_label(table.models[m])};
      for (std::string& cell : cost_cells(table, m, b, kMarkdown)) row.push_back(std::move(cell));
      text += markdown_row(row);
    }
  }
  if (const auto lines = reasons(table); !lines.empty()) {
    text += fmt::format("\n{}:\n\n", kReasonsTitle);
    for (const std::string& line : lines) text += fmt::format("- {}\n", line);
  }
  text += "\n";
  for (const std::string& line : table.about) text += line + "\n";
  return text;
}

std::string model_table_csv(const ModelTable& table) {
  const auto number = [](double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : std::string(); };
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  };
  std::string text =
      "benchmark,model,relative_l2,deviation,seeds,seeds_asked,parameters,epoch_seconds,epochs,training_seconds,peak_"
      "bytes,rank,reason\n";
  for (std::size_t b = 0; b < table.benchmarks.size(); ++b) {
    const auto [best, second] = best_two(table, b);
    for (std::size_t m = 0; m < table.models.size(); ++m) {
      if (!was_asked(table, m, b)) continue;
      const ModelCell& c = table.cell(m, b);
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", table.benchmarks[b], table.models[m],
                          number(c.error), number(c.deviation), c.seeds, c.asked, c.parameters, number(c.epoch_seconds),
                          number(c.epochs), number(c.training_seconds), c.peak_bytes,
                          m == best     ? "1"
                          : m == second ? "2"
                                        : "",
                          c.reason.empty() ? "" : quoted(c.reason));
    }
    if (std::isfinite(promotion(table, b)))
      text += fmt::format("{},relative promotion,{},,,,,,,,,,\n", table.benchmarks[b], number(promotion(table, b)));
  }
  return text;
}

std::string render_model_table(const ModelTable& table, const std::vector<SideBySide>& samples,
                               const std::string& footer) {
  std::string html = page_opening("Operators on benchmarks", fmt::format("{}", fmt::join(table.about, " ")));
  LabelledValues cards;
  for (std::size_t b = 0; b < table.benchmarks.size(); ++b) {
    const auto [best, second] = best_two(table, b);
    if (best == table.models.size()) continue;
    cards.emplace_back(fmt::format("lowest on {}: {}", table.benchmarks[b], model_label(table.models[best])),
                       error_text(table.cell(best, b).error));
  }
  html += render_cards(cards);
  html +=
      "<section class=\"panel wide-panel\"><h2>Relative L2 on test, in units of 1e-2</h2><div class=\"scroll\"><table "
      "class=\"runs\">" +
      html_row(error_header(table), "th");
  for (const auto& row : error_rows(table, kHtml)) html += html_row(row, "td");
  html +=
      "</table></div><p class=\"quiet\">Best in bold, second best underlined; / where the model has no number. Where "
      "not every seed finished, the mean is of those that did, and has no rank. "
      "Promotion: 1 - LANO's error / the best other error.</p></section>";
  if (const auto printed = paper_rows(table); !printed.empty()) {
    html += fmt::format(
        "<section class=\"panel wide-panel\"><h2>The paper's table</h2><p class=\"quiet\">{}</p><div "
        "class=\"scroll\"><table class=\"runs\">",
        kPaperTitle);
    html += html_row(error_header(table), "th");
    for (const auto& row : printed) html += html_row(row, "td");
    html += "</table></div></section>";
  }
  for (const SideBySide& sample : samples) {
    html += "<section class=\"panel wide-panel\"><h2>Side by side: " + escaped(sample.benchmark) + "</h2>" +
            render_side_by_side(sample) + "</section>";
  }
  for (std::size_t b = 0; b < table.benchmarks.size(); ++b) {
    std::vector<std::string> header{"model"};
    header.insert(header.end(), cost_columns().begin(), cost_columns().end());
    html += fmt::format(
        "<section class=\"panel wide-panel\"><h2>{}</h2><p class=\"quiet\">{}</p><div class=\"scroll\"><table "
        "class=\"runs\">",
        escaped(table.benchmarks[b]), escaped(table.sets[b]));
    html += html_row(header, "th");
    for (std::size_t m = 0; m < table.models.size(); ++m) {
      if (!was_asked(table, m, b)) continue;
      std::vector<std::string> row{escaped(model_label(table.models[m]))};
      for (std::string& cell : cost_cells(table, m, b, kHtml)) row.push_back(std::move(cell));
      html += html_row(row, "td");
    }
    html += "</table></div></section>";
  }
  if (const auto lines = reasons(table); !lines.empty()) {
    html += "<section class=\"panel wide-panel\"><h2>" + std::string(kReasonsTitle) + "</h2>";
    for (const std::string& line : lines) html += fmt::format("<p>{}</p>", escaped(line));
    html += "</section>";
  }
  return html + page_ending(footer);
}

}  // namespace lano
