// The folder of a run: config.toml, metrics.csv (a row an epoch), events.jsonl (a line an event, with times), the
// checkpoints, the model file, and evaluation.json / evaluation.h5 from which the report is drawn. One process at a
// time.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/folder_lock.h"
#include "train/checkpoint.h"

namespace lano {

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path);  // makes and locks it

  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.csv"; }
  CheckpointFolder checkpoints() const { return CheckpointFolder(path_ / "checkpoint"); }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  std::filesystem::path evaluation_json() const { return path_ / "evaluation.json"; }
  std::filesystem::path evaluation_data() const { return path_ / "evaluation.h5"; }
  const std::filesystem::path& path() const { return path_; }

  void write_metrics(const std::vector<EpochMetrics>& rows) const;
  void event(const std::string& kind, nlohmann::json details) const;  // appends one line with the present time

 private:
  std::filesystem::path path_;
  FolderLock lock_;
};

}  // namespace lano
