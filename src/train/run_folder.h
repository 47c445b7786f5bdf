// The folder of a run: config.toml, metrics.csv (a row an epoch), events.jsonl (a line an event, with times), the
// checkpoint, the model file, and evaluation.json / evaluation.h5 from which the report is drawn.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/safetensors.h"

namespace lano {

struct EpochMetrics {
  std::int64_t epoch = 0, step = 0;                 // counted from 1; steps done so far
  double learning_rate = 0, train_loss = 0, validation_l2 = 0, seconds = 0;  // validation NaN where there is none
};

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path);

  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.csv"; }
  std::filesystem::path checkpoint() const { return path_ / "checkpoint" / "last.safetensors"; }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  std::filesystem::path evaluation_json() const { return path_ / "evaluation.json"; }
  std::filesystem::path evaluation_data() const { return path_ / "evaluation.h5"; }
  const std::filesystem::path& path() const { return path_; }

  void write_metrics(const std::vector<EpochMetrics>& rows) const;
  void event(const std::string& kind, nlohmann::json details) const;  // appends one line with the present time

 private:
  std::filesystem::path path_;
};

// All that a stopped run needs to go on. Written atomically after every epoch.
struct Checkpoint {
  std::int64_t epoch = 0, optimiser_steps = 0, best_epoch = 0;
  double best_validation = 0;
  std::string config;                                // the run's TOML: another config may not resume it
  std::vector<EpochMetrics> history;
  std::map<std::string, Tensor> weights, best_weights;
  std::vector<float> first_moment, second_moment;
};

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace lano
