#include "run/run_summary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "core/config.h"
#include "core/error.h"
#include "run/run_folder.h"
#include "run/run_record.h"
#include "run/selection.h"

namespace lano {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A training holds the lock of its folder for as long as it lives. The probe is a shared lock, so that two listings at
// once do not take each other for a training; the file is never created.
bool lock_is_held(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const bool held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);  // releases the lock
  return held;
}

void read_config(RunSummary& run) {
  const fs::path path = config_file(run.folder);
  try {
    for (auto& [key, value] : flat_toml(read_own_file(path), fmt::format("reading '{}'", path.string())))
      run.config[key] = value;
  } catch (const Error& error) {
    run.notes.emplace_back(error.what());
  }
  const auto value = [&](const char* key) {
    const auto at = run.config.find(key);
    return at == run.config.end() ? std::string() : at->second;
  };
  run.total_epochs = std::strtoll(value("train.epochs").c_str(), nullptr, 10);
  run.seed = value("train.seed");
  run.set = fs::path(value("data.file")).stem().string();
}

// The kept weights as far as the metrics tell: the best epoch of both kinds of weights, or the last.
void read_metrics(RunSummary& run) {
  const fs::path path = metrics_file(run.folder);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  try {
    run.metrics = parse_run_metrics(read_own_file(path));
    if (!run.metrics.damage.empty())
      run.notes.push_back(fmt::format("reading '{}': {}", path.string(), run.metrics.damage));
  } catch (const Error& error) {
    run.notes.emplace_back(error.what());
  }
  const RunMetrics& m = run.metrics;
  if (m.epoch.empty()) return;
  const auto counted = [](double value) { return std::abs(value) < 1e15 ? std::llround(value) : 0; };
  run.epochs = counted(m.epoch.back());
  run.seconds = std::accumulate(m.seconds.begin(), m.seconds.end(), 0.0,
                                [](double sum, double s) { return std::isfinite(s) ? sum + s : sum; });
  const auto selection = run.config.find("train.selection");
  const Selection rule =
      selection != run.config.end() && selection->second == "last" ? Selection::last : Selection::best;
  KeptWeights kept;
  for (std::size_t i = 0; i < m.epoch.size(); ++i) {
    const double average = m.validation_ema_l2[i];
    offer(kept, rule, counted(m.epoch[i]), m.validation_l2[i],
          std::isfinite(average) ? std::optional(average) : std::nullopt);
  }
  if (!std::isfinite(kept.error)) return;  // nothing was validated
  run.validation_l2 = kept.error;
  run.best_epoch = kept.epoch;
  run.weights = kept.average ? "ema" : "raw";
}

void read_record(RunSummary& run) {
  if (!is_finished(run.folder)) return;
  try {
    const RunRecord record = read_run_record(run.folder);
    run.evaluated = true;
    run.state = RunState::finished;
    run.epochs = record.epochs;
    run.parameters = record.parameters;
    if (!record.set.empty()) run.set = record.set;
    run.seconds = record.training_seconds;
    if (std::isfinite(record.validation_l2)) run.validation_l2 = record.validation_l2;
    run.best_epoch = record.best_epoch;
    run.weights = record.averaged ? "ema" : "raw";
    run.test_l2 = record.test_l2();
    const auto& baselines = record.test_baselines.empty() ? record.validation_baselines : record.test_baselines;
    if (const BaselineError* best = best_of(baselines)) run.baseline = baselines_text({*best});
  } catch (const Error& error) {
    run.notes.emplace_back(error.what());
  }
}

// The number of parameters and the name of the dataset are in the start event, long before the evaluation.
void read_events(RunSummary& run) {
  std::error_code ignored;
  if (run.evaluated || !fs::exists(run.folder / "events.jsonl", ignored)) return;
  try {
    std::istringstream lines(read_own_file(run.folder / "events.jsonl"));
    for (std::string line; run.parameters == 0 && std::getline(lines, line);) {
      const json event = json::parse(line, nullptr, false);
      if (!event.is_object()) continue;
      const auto count = event.find("parameters"), set = event.find("set");
      if (count != event.end() && count->is_number_integer()) run.parameters = count->get<std::int64_t>();
      if (set != event.end() && set->is_string() && !set->get_ref<const std::string&>().empty())
        run.set = set->get<std::string>();
    }
  } catch (const Error& error) {
    run.notes.emplace_back(error.what());
  }
}

// The name of a dataset is known when a run on it is finished, and before that only its file: runs on the same file get
// the same name, so that they compare.
void share_set_names(std::vector<RunSummary>& runs) {
  std::map<std::string, std::string> names;
  const auto file_of = [](const RunSummary& run) {
    const auto at = run.config.find("data.file");
    return at == run.config.end() ? std::string() : at->second;
  };
  for (const RunSummary& run : runs) {
    if (run.evaluated) names[file_of(run)] = run.set;
  }
  for (RunSummary& run : runs) {
    const auto at = names.find(file_of(run));
    if (!run.evaluated && at != names.end() && !at->first.empty()) run.set = at->second;
  }
}

void walk(const fs::path& folder, int depth, std::set<fs::path>& seen, RunCollection& found) {
  std::error_code error;
  const fs::path unique = fs::weakly_canonical(folder, error);
  if (!seen.insert(unique.empty() ? folder : unique).second) return;
  if (is_seed_group(folder)) found.groups.push_back(read_seed_group(folder));
  if (is_run_folder(folder)) found.runs.push_back(read_run_summary(folder));
  if (depth == 0) return;
  std::vector<fs::path> below;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) below.push_back(at->path());
  }
  for (const fs::path& next : below) walk(next, depth - 1, seen, found);
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(config_file(folder), ignored) &&
         (fs::is_regular_file(metrics_file(folder), ignored) || fs::is_directory(folder / "checkpoint", ignored));
}

RunSummary read_run_summary(const fs::path& folder) {
  RunSummary run;
  run.folder = folder;
  read_config(run);
  read_metrics(run);
  read_record(run);
  read_events(run);
  if (lock_is_held(folder / "lock")) run.state = RunState::running;
  return run;
}

RunCollection collect_runs(const std::vector<fs::path>& folders, int depth) {
  RunCollection found;
  std::set<fs::path> seen;
  for (fs::path folder : folders) {
    folder = folder.lexically_normal();
    if (!folder.has_filename() && folder.has_relative_path()) folder = folder.parent_path();  // "runs/" is "runs"
    walk(folder, depth, seen, found);
  }
  share_set_names(found.runs);
  const auto by_name = [](const auto& a, const auto& b) { return a.folder < b.folder; };
  std::sort(found.runs.begin(), found.runs.end(), by_name);
  std::sort(found.groups.begin(), found.groups.end(), by_name);
  return found;
}

std::string run_name(const fs::path& folder) { return folder.lexically_normal().generic_string(); }

std::size_t group_of(const RunSummary& run, const std::vector<SeedGroup>& groups) {
  for (fs::path above = run.folder.parent_path();; above = above.parent_path()) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].folder == above) return g;
    }
    if (!above.has_relative_path()) return groups.size();
  }
}

}  // namespace lano
