#include "train/run_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>

#include "core/atomic_file.h"
#include "core/error.h"

namespace lano {
namespace {

using nlohmann::json;

// JSON has no NaN: absent validation is null.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double number_from(const json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

json history_json(const std::vector<EpochMetrics>& history) {
  json out = json::array();
  for (const EpochMetrics& m : history) {
    out.push_back({m.epoch, m.step, m.learning_rate, m.train_loss, number(m.validation_l2), m.seconds});
  }
  return out;
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path) : path_(std::move(path)) { make_folder(path_ / "checkpoint"); }

void RunFolder::write_metrics(const std::vector<EpochMetrics>& rows) const {
  std::string text = "epoch,step,learning_rate,train_loss,validation_l2,seconds\n";
  for (const EpochMetrics& m : rows) {
    text += fmt::format("{},{},{:.9g},{:.9g},{},{:.3f}\n", m.epoch, m.step, m.learning_rate, m.train_loss,
                        std::isfinite(m.validation_l2) ? fmt::format("{:.9g}", m.validation_l2) : "", m.seconds);
  }
  write_file_atomically(metrics(), text);
}

void RunFolder::event(const std::string& kind, json details) const {
  json line{{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(
                                                              std::chrono::system_clock::now())))},
            {"event", kind}};
  line.update(details);
  std::ofstream file(path_ / "events.jsonl", std::ios::app);
  file << line.dump() << "\n";
  if (!file.flush()) fail(fmt::format("writing '{}'", (path_ / "events.jsonl").string()), "space to write", "none",
                          "free space; the last checkpoint is kept");
}

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& c) {
  TensorFile file;
  const json state{{"epoch", c.epoch},
                   {"optimiser_steps", c.optimiser_steps},
                   {"best_epoch", c.best_epoch},
                   {"best_validation", number(c.best_validation)},
                   {"config", c.config},
                   {"history", history_json(c.history)}};
  file.metadata = {{"format", "lano-checkpoint"}, {"format_version", "1"}, {"state", state.dump()}};
  for (const auto& [name, tensor] : c.weights) file.tensors["weights/" + name] = tensor;
  for (const auto& [name, tensor] : c.best_weights) file.tensors["best/" + name] = tensor;
  const auto size = static_cast<std::int64_t>(c.first_moment.size());
  file.tensors["optimiser/first_moment"] = {{size}, c.first_moment};
  file.tensors["optimiser/second_moment"] = {{size}, c.second_moment};
  write_safetensors(path, file);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  const std::string doing = fmt::format("reading checkpoint '{}'", path.string());
  TensorFile file = read_safetensors(path);
  if (file.metadata["format"] != "lano-checkpoint") fail(doing, "a checkpoint of lano", "another file", "");
  Checkpoint c;
  try {
    const json state = json::parse(file.metadata["state"]);
    c.epoch = state.at("epoch");
    c.optimiser_steps = state.at("optimiser_steps");
    c.best_epoch = state.at("best_epoch");
    c.best_validation = number_from(state.at("best_validation"));
    c.config = state.at("config");
    for (const json& row : state.at("history")) {
      c.history.push_back({row.at(0), row.at(1), row.at(2), row.at(3), number_from(row.at(4)), row.at(5)});
    }
    c.first_moment = std::move(file.tensors.at("optimiser/first_moment").values);
    c.second_moment = std::move(file.tensors.at("optimiser/second_moment").values);
  } catch (const std::exception& error) {
    fail(doing, "a whole training state", error.what(), "the checkpoint is damaged");
  }
  for (auto& [name, tensor] : file.tensors) {
    if (name.starts_with("weights/")) c.weights[name.substr(8)] = std::move(tensor);
    if (name.starts_with("best/")) c.best_weights[name.substr(5)] = std::move(tensor);
  }
  return c;
}

}  // namespace lano
