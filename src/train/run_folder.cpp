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

std::filesystem::path made(const std::filesystem::path& path) {
  make_folder(path / "checkpoint");
  return path;
}

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

}  // namespace

RunFolder::RunFolder(std::filesystem::path path)
    : path_(made(path)), lock_(path_, fmt::format("training into '{}'", path_.string())) {
  // What a process that was killed in the middle of a write left behind.
  for (const auto& folder : {path_, path_ / "checkpoint"}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".part" || entry.path().filename() == "best.new")
        std::filesystem::remove(entry.path(), ignored);
    }
  }
}

void RunFolder::write_metrics(const std::vector<EpochMetrics>& rows) const {
  std::string text = "epoch,step,learning_rate,train_loss,validation_l2,validation_ema_l2,seconds\n";
  for (const EpochMetrics& m : rows) {
    text += fmt::format("{},{},{:.9g},{:.9g},{},{},{:.3f}\n", m.epoch, m.step, m.learning_rate, m.train_loss,
                        cell(m.validation_l2), cell(m.validation_ema_l2), m.seconds);
  }
  write_file_atomically(metrics(), text);
}

void RunFolder::event(const std::string& kind, nlohmann::json details) const {
  nlohmann::json line{
      {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                           fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())))},
      {"event", kind}};
  line.update(details);
  std::ofstream file(path_ / "events.jsonl", std::ios::app);
  file << line.dump() << "\n";
  if (!file.flush())
    fail(fmt::format("writing '{}'", (path_ / "events.jsonl").string()), "space to write", "none",
         "free space; the last checkpoint is kept");
}

}  // namespace lano
