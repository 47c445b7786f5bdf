#include "run/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "run/run_folder.h"

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

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

}  // namespace

std::string metrics_csv(const std::vector<EpochMetrics>& rows) {
  std::string text = "epoch,step,learning_rate,train_loss,validation_l2,validation_ema_l2,seconds\n";
  for (const EpochMetrics& m : rows) {
    text += fmt::format("{},{},{:.9g},{:.9g},{},{},{:.3f}\n", m.epoch, m.step, m.learning_rate, m.train_loss,
                        cell(m.validation_l2), cell(m.validation_ema_l2), m.seconds);
  }
  return text;
}

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
  RunMetrics metrics = parse_run_metrics(read_own_file(path));
  if (!metrics.damage.empty()) throw Error(fmt::format("reading '{}': {}", path.string(), metrics.damage));
  return metrics;
}

}  // namespace lano
