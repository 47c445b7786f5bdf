#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/fnv.h"
#include "runtime/safetensors.h"

namespace lano {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kVersion = "4";  // 4: gradients are added up sample by sample
constexpr std::size_t kKept = 2;

// JSON has no NaN: absent numbers are null.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double number_from(const json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

json history_json(const std::vector<EpochMetrics>& history) {
  json out = json::array();
  for (const EpochMetrics& m : history) {
    out.push_back({m.epoch, m.step, m.learning_rate, m.train_loss, number(m.validation_l2), number(m.validation_ema_l2),
                   m.seconds});
  }
  return out;
}

std::string checksum(const std::string& state, const std::map<std::string, Tensor>& tensors) {
  Fnv hash;
  hash.add(state);
  for (const auto& [name, tensor] : tensors) {
    hash.add(name);
    hash.add(tensor.values);
  }
  return fmt::format("{:016x}", hash.value());
}

std::vector<std::pair<const char*, std::vector<float> Checkpoint::*>> arrays() {
  return {{"weights", &Checkpoint::weights},
          {"average", &Checkpoint::average},
          {"best_weights", &Checkpoint::best_weights},
          {"first_moment", &Checkpoint::first_moment},
          {"second_moment", &Checkpoint::second_moment},
          {"buffers", &Checkpoint::buffers},
          {"best_buffers", &Checkpoint::best_buffers}};
}

}  // namespace

void write_checkpoint(const fs::path& path, const Checkpoint& c) {
  const json state{{"epoch", c.epoch},
                   {"steps", c.steps},
                   {"epoch_loss", c.epoch_loss},
                   {"epoch_seconds", c.epoch_seconds},
                   {"best_epoch", c.best.epoch},
                   {"best_validation", number(c.best.error)},
                   {"best_is_average", c.best.average},
                   {"ended", c.ended},
                   {"config", c.config},
                   {"data", c.data},
                   {"threads", c.threads},
                   {"history", history_json(c.history)}};
  TensorFile file;
  for (const auto& [name, array] : arrays())
    file.tensors[name] = {{static_cast<std::int64_t>((c.*array).size())}, c.*array};
  const std::string text = state.dump();
  file.metadata = {{"format", "lano-checkpoint"},
                   {"format_version", kVersion},
                   {"state", text},
                   {"checksum", checksum(text, file.tensors)}};
  write_safetensors(path, file);
}

Checkpoint read_checkpoint(const fs::path& path) {
  const std::string doing = fmt::format("reading checkpoint '{}'", path.string());
  TensorFile file = read_safetensors(path);
  if (file.metadata["format"] != "lano-checkpoint") fail_plainly(doing, "it is not a checkpoint of lano");
  if (file.metadata["format_version"] != kVersion) {
    throw OtherVersionError(error_message(doing, fmt::format("format version {}", kVersion),
                                          file.metadata["format_version"],
                                          "finish the run with the lano that began it, or start a new one"));
  }
  if (file.metadata["checksum"] != checksum(file.metadata["state"], file.tensors))
    fail_plainly(doing, "its checksum does not match: it is damaged");
  Checkpoint c;
  try {
    const json state = json::parse(file.metadata["state"]);
    c.epoch = state.at("epoch");
    c.steps = state.at("steps");
    c.epoch_loss = state.at("epoch_loss");
    c.epoch_seconds = state.at("epoch_seconds");
    c.best.epoch = state.at("best_epoch");
    c.best.error = number_from(state.at("best_validation"));
    c.best.average = state.at("best_is_average");
    c.ended = state.at("ended");
    c.config = state.at("config");
    c.data = state.at("data");
    c.threads = state.at("threads");
    for (const json& row : state.at("history")) {
      c.history.push_back(
          {row.at(0), row.at(1), row.at(2), row.at(3), number_from(row.at(4)), number_from(row.at(5)), row.at(6)});
    }
    for (const auto& [name, array] : arrays()) {
      c.*array = std::move(file.tensors.at(name).values);
    }
  } catch (const std::exception& error) {
    fail(doing, "a complete training state", error.what());
  }
  return c;
}

std::vector<fs::path> CheckpointFolder::files() const {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step-") && name.ends_with(".safetensors")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());  // steps are written with leading zeros
  return found;
}

fs::path CheckpointFolder::save(const Checkpoint& checkpoint, bool best) const {
  const fs::path path = path_ / fmt::format("step-{:010}.safetensors", checkpoint.steps);
  write_checkpoint(path, checkpoint);
  if (best) keep_as_best(path);
  remove_old();
  return path;
}

void CheckpointFolder::remove_old() const {
  std::error_code ignored;
  const auto all = files();
  for (std::size_t i = 0; i + kKept < all.size(); ++i) fs::remove(all[i], ignored);
}

void CheckpointFolder::keep_as_best(const fs::path& path) const {
  // The same file under a second name: costs no space while both live. Where links are unknown, a copy.
  const fs::path link = path_ / "best.new";
  std::error_code error, ignored;
  fs::remove(link, ignored);
  fs::create_hard_link(path, link, error);
  if (error) fs::copy_file(path, link, error);
  if (!error) fs::rename(link, best(), error);
  fs::remove(link, ignored);  // of two names of one file a rename leaves both
  if (error) {
    fail(fmt::format("writing '{}'", best().string()), "space and permission to write", error.message());
  }
}

std::optional<CheckpointFolder::Found> CheckpointFolder::newest(std::vector<std::string>& said) const {
  const auto all = files();
  if (all.empty()) return {};
  for (std::size_t left = all.size(); left > 0; --left) {
    try {
      Found found{read_checkpoint(all[left - 1]), all[left - 1]};
      std::error_code ignored;
      for (std::size_t i = left; i < all.size(); ++i) fs::rename(all[i], all[i].string() + ".damaged", ignored);
      remove_old();  // a kill may have come between the newest and this
      return found;
    } catch (const OtherVersionError&) {
      throw;  // complete, but not of this build
    } catch (const Error& error) {
      said.push_back(error.what());
    }
  }
  fail_plainly(fmt::format("resuming from '{}'", path_.string()),
               fmt::format("all checkpoints ({}) are damaged; the first: {}", all.size(), said.front()),
               "train again into another folder");
}

}  // namespace lano
