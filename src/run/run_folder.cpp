#include "run/run_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "core/atomic_file.h"
#include "core/error.h"

namespace lano {
namespace {

std::filesystem::path made(const std::filesystem::path& path) {
  make_folder(path / "checkpoint");
  return path;
}

}  // namespace

void check_own_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return;
  const auto folder = std::filesystem::weakly_canonical(path.parent_path(), error);
  const auto target = std::filesystem::weakly_canonical(path, error);
  const auto inside = std::mismatch(folder.begin(), folder.end(), target.begin(), target.end());
  if (error || inside.first != folder.end())
    fail(fmt::format("reading '{}'", path.string()), "a file inside the folder of the run", "a link out of it",
         "copy the file itself into the folder");
}

std::string read_own_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
  check_own_file(path);
  return read_file(path, "reading", kLargest);
}

RunFolder::RunFolder(std::filesystem::path path, bool writes) : path_(writes ? made(path) : std::move(path)) {
  if (!writes) return;
  lock_.emplace(path_, fmt::format("training into '{}'", path_.string()));
  // Leftovers of a process that was killed in the middle of a write.
  for (const auto& folder : {path_, path_ / "checkpoint"}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".part" || entry.path().filename() == "best.new")
        std::filesystem::remove(entry.path(), ignored);
    }
  }
}

void RunFolder::write_metrics(const std::vector<EpochMetrics>& rows) const {
  if (writes()) write_file_atomically(metrics(), metrics_csv(rows));
}

void RunFolder::event(const std::string& kind, nlohmann::json details) const {
  if (!writes()) return;
  nlohmann::json line{
      {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                           fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())))},
      {"event", kind}};
  line.update(details);
  std::ofstream file(path_ / "events.jsonl", std::ios::app);
  file << line.dump() << "\n";
  if (!file.flush())
    fail_plainly(fmt::format("writing '{}'", (path_ / "events.jsonl").string()), "it could not be written",
                 "free space; the last checkpoint is kept");
}

}  // namespace lano
