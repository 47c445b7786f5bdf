#include "report/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/atomic_file.h"
#include "core/error.h"

namespace lano {
namespace {

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t from = 0;;) {
    const std::size_t to = text.find(mark, from);
    parts.emplace_back(text.substr(from, to - from));
    if (to == std::string_view::npos) return parts;
    from = to + 1;
  }
}

// False where the cell holds anything but a number or nothing.
bool read_cell(const std::string& cell, double& value) {
  value = std::numeric_limits<double>::quiet_NaN();
  if (cell.empty()) return true;
  char* end = nullptr;
  value = std::strtod(cell.c_str(), &end);
  return *end == '\0';
}

}  // namespace

RunMetrics parse_run_metrics(std::string_view text) {
  RunMetrics m;
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  if (lines.back().empty()) lines.pop_back();
  const std::vector<std::string> header = lines.empty() ? std::vector<std::string>{} : split(lines[0], ',');
  if (std::find(header.begin(), header.end(), "epoch") == header.end()) {
    m.damage = fmt::format("expected a header with the column epoch, found '{}'",
                           lines.empty() ? "" : plain_text(lines[0], 200));
    return m;
  }
  const std::pair<const char*, std::vector<double>*> wanted[] = {{"epoch", &m.epoch},
                                                                 {"train_loss", &m.train_loss},
                                                                 {"validation_l2", &m.validation_l2},
                                                                 {"validation_ema_l2", &m.validation_ema_l2},
                                                                 {"seconds", &m.seconds}};
  for (std::size_t l = 1; l < lines.size(); ++l) {
    const std::vector<std::string> cells = split(lines[l], ',');
    std::vector<double> values(cells.size());
    bool whole = cells.size() == header.size();
    for (std::size_t c = 0; c < cells.size(); ++c) whole = read_cell(cells[c], values[c]) && whole;
    if (!whole) {
      m.damage =
          fmt::format("expected {} numbers in line {}, found '{}'", header.size(), l + 1, plain_text(lines[l], 200));
      return m;
    }
    for (const auto& [name, column] : wanted) {
      const auto at = std::find(header.begin(), header.end(), name);
      column->push_back(at == header.end() ? std::numeric_limits<double>::quiet_NaN()
                                           : values[static_cast<std::size_t>(at - header.begin())]);
    }
  }
  return m;
}

RunMetrics read_run_metrics(const std::filesystem::path& path) {
  RunMetrics metrics = parse_run_metrics(read_file(path, "reading"));
  if (!metrics.damage.empty()) throw Error(fmt::format("reading '{}': {}", path.string(), metrics.damage));
  return metrics;
}

std::vector<Curve> learning_curves(const RunMetrics& m) {
  std::vector<Curve> curves{{"training loss", "#9aa7b2", m.epoch, m.train_loss},
                            {"validation relative L2", "#31688e", m.epoch, m.validation_l2}};
  if (std::any_of(m.validation_ema_l2.begin(), m.validation_ema_l2.end(),
                  [](double value) { return std::isfinite(value); })) {
    curves.push_back({"validation relative L2, averaged weights", "#d55e00", m.epoch, m.validation_ema_l2});
  }
  return curves;
}

}  // namespace lano
