// What is known about a run from its folder (config.toml, metrics.csv, events.jsonl, evaluation.json) in one struct,
// also while it trains, when it was stopped, and where files are missing or damaged. Reads only; safe during a
// training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "run/run_metrics.h"
#include "run/seed_group.h"

namespace lano {

enum class RunState { finished, stopped, running };

struct RunSummary {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::filesystem::path folder;
  RunState state = RunState::stopped;
  bool evaluated = false;                     // has a whole evaluation.json, though it may be running again
  std::int64_t epochs = 0, total_epochs = 0;  // done, and planned; 0 if unknown
  double validation_l2 = kUnknown;  // of the weights kept: the best epoch, or the last where the config says so
  std::int64_t best_epoch = 0;      // the epoch of those weights
  std::string weights = "raw";      // "raw" or "ema"
  double test_l2 = kUnknown;        // mean over samples; finished runs only
  std::string baseline;             // the best simple baseline, "ridge 6.50e-02", on the split the run was judged by
  std::int64_t parameters = 0;
  double seconds = kUnknown;  // of training
  std::string seed, set;      // empty if unknown; set is the stem of its file in runs begun by older versions
  std::map<std::string, std::string> config;  // every key of config.toml as text
  RunMetrics metrics;
  std::vector<std::string> notes;  // one sentence per file that is damaged
};

struct RunCollection {
  std::vector<RunSummary> runs;
  std::vector<SeedGroup> groups;
};

// A folder with config.toml, and metrics.csv or checkpoint/.
bool is_run_folder(const std::filesystem::path& folder);

// Never throws on what the folder holds.
RunSummary read_run_summary(const std::filesystem::path& folder);

// Every run and group in the folders and down to `depth` folders below them, each once, by name.
RunCollection collect_runs(const std::vector<std::filesystem::path>& folders, int depth = 4);

// The path as it was given, for people.
std::string run_name(const std::filesystem::path& folder);

// The group that holds the run, or none: groups.size().
std::size_t group_of(const RunSummary& run, const std::vector<SeedGroup>& groups);

}  // namespace lano
