// The folder of a run: config.toml, metrics.csv (a row per epoch), events.jsonl (a line per event, with times), the
// checkpoints, the model file, and evaluation.json / evaluation.h5 from which the report is drawn. One process at a
// time.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/folder_lock.h"
#include "run/run_metrics.h"

namespace lano {

// Best, median and worst test sample of a finished run (evaluate/shown_samples.h).
inline std::filesystem::path shown_samples_file(const std::filesystem::path& run) { return run / "evaluation.h5"; }
inline std::filesystem::path config_file(const std::filesystem::path& run) { return run / "config.toml"; }
inline std::filesystem::path metrics_file(const std::filesystem::path& run) { return run / "metrics.csv"; }
// What a fine-tuned run began with.
inline std::filesystem::path start_file(const std::filesystem::path& run) { return run / "start.safetensors"; }
inline std::filesystem::path model_file(const std::filesystem::path& run) { return run / "model.safetensors"; }

// A run folder is not trusted: a link that leads out of it is refused, and so is what is not a file or is larger than
// such a file can be.
void check_own_file(const std::filesystem::path& path);
std::string read_own_file(const std::filesystem::path& path);

class RunFolder {
 public:
  // Makes and locks it. writes: false on those of several ranks that only look on: what they would write is left.
  explicit RunFolder(std::filesystem::path path, bool writes = true);

  std::filesystem::path config() const { return config_file(path_); }
  std::filesystem::path metrics() const { return metrics_file(path_); }
  std::filesystem::path checkpoints() const { return path_ / "checkpoint"; }
  std::filesystem::path model() const { return model_file(path_); }
  std::filesystem::path shown_samples() const { return shown_samples_file(path_); }
  const std::filesystem::path& path() const { return path_; }
  bool writes() const { return lock_.has_value(); }

  void write_metrics(const std::vector<EpochMetrics>& rows) const;
  void event(const std::string& kind, nlohmann::json details) const;  // appends one line with the present time

 private:
  std::filesystem::path path_;
  std::optional<FolderLock> lock_;  // none on a rank that does not write
};

}  // namespace lano
