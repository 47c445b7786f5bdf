#include "report/run_summary.h"

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

#include "core/atomic_file.h"
#include "core/config.h"
#include "core/error.h"

namespace lano {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

double number(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : RunSummary::kUnknown;
}

std::int64_t whole(const json& object, const char* key, std::int64_t otherwise) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<std::int64_t>() : otherwise;
}

std::string word(const json& object, const char* key, std::string otherwise = {}) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : otherwise;
}

// The object in a JSON file; null where there is none, with a note where the file is there and cannot be used.
json object_in(const fs::path& path, std::vector<std::string>& notes) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return nullptr;
  try {
    json object = json::parse(read_file(path, "reading"));
    if (object.is_object()) return object;
    notes.push_back(fmt::format("reading '{}': expected an object, found {}", path.string(), object.type_name()));
  } catch (const json::exception&) {
    notes.push_back(fmt::format("reading '{}': expected whole JSON, found a damaged file", path.string()));
  } catch (const Error& error) {
    notes.emplace_back(error.what());
  }
  return nullptr;
}

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
  const fs::path path = run.folder / "config.toml";
  try {
    for (auto& [key, value] : flat_toml(read_file(path, "reading"), fmt::format("reading '{}'", path.string())))
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
  const fs::path path = run.folder / "metrics.csv";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  try {
    run.metrics = parse_run_metrics(read_file(path, "reading"));
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
  const bool last = selection != run.config.end() && selection->second == "last";
  for (std::size_t i = last ? m.epoch.size() - 1 : 0; i < m.epoch.size(); ++i) {
    for (const auto& [values, weights] : {std::pair{&m.validation_l2, "raw"}, {&m.validation_ema_l2, "ema"}}) {
      const double value = (*values)[i];
      if (!std::isfinite(value) || value >= run.validation_l2) continue;  // false against NaN
      run.validation_l2 = value;
      run.best_epoch = counted(m.epoch[i]);
      run.weights = weights;
    }
  }
}

void read_evaluation(RunSummary& run) {
  const json evaluation = object_in(run.folder / "evaluation.json", run.notes);
  if (evaluation.is_null()) return;
  run.evaluated = true;
  run.state = RunState::finished;
  run.epochs = whole(evaluation, "epochs", run.epochs);
  run.parameters = whole(evaluation, "parameters", 0);
  run.set = word(evaluation, "set", run.set);
  if (const double seconds = number(evaluation, "training_seconds"); std::isfinite(seconds)) run.seconds = seconds;
  if (const double validation = number(evaluation, "validation_l2"); std::isfinite(validation))
    run.validation_l2 = validation;
  run.best_epoch = whole(evaluation, "best_epoch", run.best_epoch);
  run.weights = word(evaluation, "weights", run.weights);
  if (const auto test = evaluation.find("test"); test != evaluation.end() && test->is_object()) {
    if (const auto l2 = test->find("relative_l2"); l2 != test->end() && l2->is_object())
      run.test_l2 = number(*l2, "mean");
  }
}

// The number of parameters stands in the line of the start, long before the evaluation.
void read_events(RunSummary& run) {
  std::error_code ignored;
  if (run.parameters > 0 || !fs::exists(run.folder / "events.jsonl", ignored)) return;
  try {
    std::istringstream lines(read_file(run.folder / "events.jsonl", "reading"));
    for (std::string line; run.parameters == 0 && std::getline(lines, line);) {
      const json event = json::parse(line, nullptr, false);
      if (event.is_object()) run.parameters = whole(event, "parameters", 0);
    }
  } catch (const Error& error) {
    run.notes.emplace_back(error.what());
  }
}

// The name of a set is known when a run on it is finished, and before that only its file: runs on the same file get
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
  return fs::is_regular_file(folder / "config.toml", ignored) &&
         (fs::is_regular_file(folder / "metrics.csv", ignored) || fs::is_directory(folder / "checkpoint", ignored));
}

RunSummary read_run_summary(const fs::path& folder) {
  RunSummary run;
  run.folder = folder;
  read_config(run);
  read_metrics(run);
  read_evaluation(run);
  read_events(run);
  if (lock_is_held(folder / "lock")) run.state = RunState::running;
  return run;
}

SeedGroup read_seed_group(const fs::path& folder) {
  SeedGroup group;
  group.folder = folder;
  const json file = object_in(seed_group_file(folder), group.notes);
  if (file.is_null()) return group;
  group.selection = word(file, "selection");
  if (const auto seeds = file.find("seeds"); seeds != file.end() && seeds->is_array())
    group.count = static_cast<std::int64_t>(seeds->size());
  const auto spread = [&](const char* key) {
    const auto at = file.find(key);
    return at != file.end() && at->is_object() ? SeedGroup::Spread{number(*at, "mean"), number(*at, "deviation")}
                                               : SeedGroup::Spread{};
  };
  group.validation_l2 = spread("validation_l2");
  group.test_l2 = spread("test_l2");
  return group;
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
