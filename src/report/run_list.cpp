#include "report/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/duration.h"
#include "core/error.h"
#include "core/nearest.h"
#include "model_spec/model_catalogue.h"

namespace lano {
namespace {

using Kind = RunTable::Kind;

struct Line {
  Kind kind = Kind::run;
  std::size_t index = 0;
};

double sum_of_seconds(const std::vector<RunSummary>& runs, const std::vector<std::size_t>& members) {
  double sum = RunSummary::kUnknown;
  for (const std::size_t r : members) {
    if (std::isfinite(runs[r].seconds)) sum = (std::isfinite(sum) ? sum : 0) + runs[r].seconds;
  }
  return sum;
}

double key_of(RunOrder order, double validation, double test, double seconds) {
  const double key = order == RunOrder::validation ? validation
                     : order == RunOrder::test     ? test
                     : order == RunOrder::time     ? seconds
                                                   : 0;
  return std::isfinite(key) ? key : std::numeric_limits<double>::infinity();
}

std::vector<std::vector<std::size_t>> members_of(const RunCollection& found) {
  std::vector<std::vector<std::size_t>> members(found.groups.size() + 1);  // the last: runs of no group
  for (std::size_t r = 0; r < found.runs.size(); ++r) members[group_of(found.runs[r], found.groups)].push_back(r);
  return members;
}

// Lines from the top: groups and runs of no group by their key, the members of a group under it by theirs.
std::vector<Line> ordered(const RunCollection& found, RunOrder order, std::vector<std::vector<std::size_t>> members) {
  struct Block {
    double key;
    std::string name;
    std::vector<Line> lines;
  };
  const auto run_key = [&](std::size_t r) {
    const RunSummary& run = found.runs[r];
    return key_of(order, run.validation_l2, run.test_l2, run.seconds);
  };
  std::vector<Block> blocks;
  for (const std::size_t r : members.back())
    blocks.push_back({run_key(r), run_name(found.runs[r].folder), {{Kind::run, r}}});
  for (std::size_t g = 0; g < found.groups.size(); ++g) {
    const SeedGroup& group = found.groups[g];
    Block block{key_of(order, group.validation_l2.mean, group.test_l2.mean, sum_of_seconds(found.runs, members[g])),
                run_name(group.folder),
                {{Kind::group, g}}};
    std::stable_sort(members[g].begin(), members[g].end(),
                     [&](std::size_t a, std::size_t b) { return run_key(a) < run_key(b); });
    for (const std::size_t r : members[g]) block.lines.push_back({Kind::member, r});
    blocks.push_back(std::move(block));
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const Block& a, const Block& b) { return a.key != b.key ? a.key < b.key : a.name < b.name; });
  std::vector<Line> lines;
  for (const Block& block : blocks) lines.insert(lines.end(), block.lines.begin(), block.lines.end());
  return lines;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

std::string state_word(RunState state) {
  return state == RunState::finished ? "finished" : state == RunState::running ? "running" : "stopped";
}

std::string total_text(const RunSummary& run) {
  return run.total_epochs > 0 ? fmt::format("{}", run.total_epochs) : "?";
}

std::string state_text(const RunSummary& run) {
  if (run.state != RunState::stopped) return state_word(run.state);
  return fmt::format("stopped at epoch {} of {}", run.epochs, total_text(run));
}

// What all members share; empty where they do not.
std::string shared(const RunCollection& found, const std::vector<std::size_t>& members, const auto& value_of) {
  for (const std::size_t r : members) {
    if (value_of(found.runs[r]) != value_of(found.runs[members[0]])) return "";
  }
  return members.empty() ? "" : value_of(found.runs[members[0]]);
}

std::string group_state(const RunCollection& found, const SeedGroup& group, const std::vector<std::size_t>& members) {
  const auto total = std::max<std::size_t>(members.size(), static_cast<std::size_t>(group.count));
  const auto finished = static_cast<std::size_t>(std::count_if(
      members.begin(), members.end(), [&](std::size_t r) { return found.runs[r].state == RunState::finished; }));
  return finished == total ? fmt::format("mean of {} seeds", total)
                           : fmt::format("{} of {} seeds finished", finished, total);
}

// "Text" or, with the csv marks in it, "\"Text\"".
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string csv_count(std::int64_t value) { return value > 0 ? fmt::format("{}", value) : ""; }

// Characters, not bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string error_text(double value) { return std::isfinite(value) ? fmt::format("{:.3e}", value) : "-"; }

std::string spread_text(const MeanAndDeviation& spread) {
  if (!std::isfinite(spread.deviation)) return error_text(spread.mean);
  return fmt::format("{} +- {:.1e}", error_text(spread.mean), spread.deviation);
}

std::string grouped_digits(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string config_value(const RunSummary& run, const std::string& key) {
  const auto at = run.config.find(key), name = run.config.find("model.name");
  const ModelInfo* const model = find_model(name == run.config.end() ? "lano" : name->second);
  return at == run.config.end() || (model != nullptr && !reads_key(*model, key)) ? "" : at->second;
}

std::vector<std::string> differing_keys(const std::vector<RunSummary>& runs, bool with_epochs) {
  std::map<std::string, std::set<std::string>> values;
  for (const RunSummary& run : runs) {
    for (const auto& [key, value] : run.config) {
      if (value.empty() || !config_value(run, key).empty()) values[key].insert(value);
    }
  }
  std::vector<std::string> keys;
  for (const auto& [key, different] : values) {
    const bool shown = key == "data.file" || key == "train.seed" || (key == "train.epochs" && !with_epochs);
    if (different.size() > 1 && !shown) keys.push_back(key);
  }
  return keys;
}

void check_keys(const std::vector<std::string>& keys, const std::vector<RunSummary>& runs) {
  std::set<std::string> known;
  for (const RunSummary& run : runs) {
    for (const auto& [key, value] : run.config) known.insert(key);
  }
  for (const std::string& key : keys) {
    if (known.empty() || known.contains(key)) continue;
    fail_usage("reading --keys", "a key of config.toml", fmt::format("'{}'", key),
               did_you_mean(key, std::vector<std::string>(known.begin(), known.end())));
  }
}

RunTable make_run_table(const RunCollection& found, RunOrder order, const std::vector<std::string>& keys) {
  RunTable table;
  table.columns = {"run", "state", "epochs", "validation", "at epoch", "test", "parameters", "time", "seed", "set"};
  const bool compared =
      std::any_of(found.runs.begin(), found.runs.end(), [](const RunSummary& run) { return !run.baseline.empty(); });
  if (compared) table.columns.push_back("best baseline");
  table.columns.insert(table.columns.end(), keys.begin(), keys.end());
  const auto time_text = [](double seconds) { return std::isfinite(seconds) ? duration_text(seconds) : "-"; };
  const auto members = members_of(found);
  for (const auto& [kind, index] : ordered(found, order, members)) {
    RunTable::Row row{kind, index, {}};
    if (kind == Kind::group) {
      const SeedGroup& group = found.groups[index];
      const std::vector<std::size_t>& own = members[index];  // clang 14 captures no structured binding
      const auto same = [&](const auto& value_of) { return or_dash(shared(found, own, value_of)); };
      row.cells = {run_name(group.folder),
                   group_state(found, group, members[index]),
                   "",
                   spread_text(group.validation_l2),
                   "",
                   spread_text(group.test_l2),
                   same([](const RunSummary& run) { return run.parameters > 0 ? grouped_digits(run.parameters) : ""; }),
                   time_text(sum_of_seconds(found.runs, members[index])),
                   "",
                   same([](const RunSummary& run) { return run.set; })};
      if (compared) row.cells.push_back(same([](const RunSummary& run) { return run.baseline; }));
      for (const std::string& key : keys)
        row.cells.push_back(same([&](const RunSummary& run) { return config_value(run, key); }));
    } else {
      const RunSummary& run = found.runs[index];
      row.cells = {(kind == Kind::member ? "  " : "") + run_name(run.folder),
                   state_text(run),
                   fmt::format("{}/{}", run.epochs, total_text(run)),
                   error_text(run.validation_l2),
                   run.best_epoch > 0 ? fmt::format("{}", run.best_epoch) : "-",
                   error_text(run.test_l2),
                   run.parameters > 0 ? grouped_digits(run.parameters) : "-",
                   time_text(run.seconds),
                   or_dash(run.seed),
                   or_dash(run.set)};
      if (compared) row.cells.push_back(or_dash(run.baseline));
      for (const std::string& key : keys) row.cells.push_back(or_dash(config_value(run, key)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string table_text(const RunTable& table) {
  // Cells come from files: what goes to a terminal is plain.
  std::vector<std::vector<std::string>> lines{table.columns};
  for (const auto& row : table.rows) lines.push_back(row.cells);
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (std::vector<std::string>& cells : lines) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      cells[c] = plain_text(cells[c], 400);
      widths[c] = std::max(widths[c], width_of(cells[c]));
    }
  }
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      line += cells[c] + std::string(widths[c] - width_of(cells[c]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  for (const std::vector<std::string>& cells : lines) add(cells);
  return text;
}

std::string table_csv(const RunCollection& found, RunOrder order, const std::vector<std::string>& keys) {
  std::string text =
      "run,kind,state,epochs,total_epochs,validation_l2,validation_deviation,best_epoch,weights,test_l2,test_deviation,"
      "parameters,seconds,seed,set";
  for (const std::string& key : keys) text += fmt::format(",{}", csv_cell(key));
  text += "\n";
  const auto members = members_of(found);
  for (const auto& [kind, index] : ordered(found, order, members)) {
    std::vector<std::string> cells;
    if (kind == Kind::group) {
      const SeedGroup& group = found.groups[index];
      const std::vector<std::size_t>& own = members[index];
      const auto same = [&](const auto& value_of) { return shared(found, own, value_of); };
      cells = {run_name(group.folder),
               "seeds",
               group_state(found, group, members[index]),
               "",
               "",
               csv_number(group.validation_l2.mean),
               csv_number(group.validation_l2.deviation),
               "",
               "",
               csv_number(group.test_l2.mean),
               csv_number(group.test_l2.deviation),
               same([](const RunSummary& run) { return csv_count(run.parameters); }),
               csv_number(sum_of_seconds(found.runs, members[index])),
               "",
               same([](const RunSummary& run) { return run.set; })};
      for (const std::string& key : keys)
        cells.push_back(same([&](const RunSummary& run) { return config_value(run, key); }));
    } else {
      const RunSummary& run = found.runs[index];
      cells = {run_name(run.folder),
               "run",
               state_word(run.state),
               fmt::format("{}", run.epochs),
               csv_count(run.total_epochs),
               csv_number(run.validation_l2),
               "",
               csv_count(run.best_epoch),
               run.weights,
               csv_number(run.test_l2),
               "",
               csv_count(run.parameters),
               csv_number(run.seconds),
               run.seed,
               run.set};
      for (const std::string& key : keys) cells.push_back(config_value(run, key));
    }
    for (std::string& cell : cells) cell = csv_cell(plain_text(cell, 4000));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace lano
