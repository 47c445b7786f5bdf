// Layout: "lano-samples 1\n", header length and header (JSON text), then records: sample, attempts, checksum (64 bits
// each, this machine's byte order: the store never travels) and the floats.
#include "data/sample_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace lano {
namespace {

constexpr std::string_view kMagic = "lano-samples 1\n";
constexpr std::size_t kHead = 3 * sizeof(std::int64_t);

std::uint64_t check_sum(std::int64_t sample, std::int64_t attempts, std::span<const float> values) {
  std::uint64_t sum = 14695981039346656037ull;
  const auto add = [&](std::uint64_t word) { sum = (sum ^ word) * 1099511628211ull; };
  add(static_cast<std::uint64_t>(sample));
  add(static_cast<std::uint64_t>(attempts));
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    add(bits);
  }
  return sum;
}

}  // namespace

SampleStore::SampleStore(std::filesystem::path path, const std::string& header, std::int64_t samples,
                         std::int64_t values, bool replace)
    : path_(std::move(path)),
      values_(values),
      places_(static_cast<std::size_t>(samples), -1),
      attempts_(static_cast<std::size_t>(samples), 0),
      synced_(std::chrono::steady_clock::now()) {
  const std::string doing = fmt::format("opening the side store '{}'", path_.string());
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) fail(doing, "a file to write", errno_text(errno));
  // Two generations would write their records over each other's. The kernel gives the lock back, however this one ends.
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    fail_plainly(doing, "another process is generating this dataset", "wait for it, or choose another --out");
  }
  const std::uint64_t length = header.size();
  std::string start(kMagic);
  start.append(reinterpret_cast<const char*>(&length), sizeof length);
  start += header;
  std::string found(start.size(), '\0');
  const ssize_t got = ::pread(file_, found.data(), found.size(), 0);
  found.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  const bool unfinished_start = found.size() < start.size() && start.starts_with(found);  // new, or killed at once
  if (found != start && !unfinished_start && !replace) {
    ::close(file_);
    fail(doing, "the samples of this generation", "those of another",
         "give the same options to resume it, or --force to start over");
  }
  if (found != start) {
    if (::ftruncate(file_, 0) != 0 ||
        ::pwrite(file_, start.data(), start.size(), 0) != static_cast<ssize_t>(start.size())) {
      const int error = errno;
      ::close(file_);
      fail(doing, "room to write", errno_text(error));
    }
  }
  end_ = static_cast<std::int64_t>(start.size());
  std::vector<float> record(static_cast<std::size_t>(values_));
  const auto bytes = static_cast<ssize_t>(record.size() * sizeof(float));
  for (;;) {
    std::array<std::int64_t, 3> head{};
    if (::pread(file_, head.data(), kHead, end_) != static_cast<ssize_t>(kHead)) break;
    if (head[0] < 0 || head[0] >= samples) break;
    if (::pread(file_, record.data(), static_cast<std::size_t>(bytes), end_ + static_cast<std::int64_t>(kHead)) !=
        bytes)
      break;
    if (check_sum(head[0], head[1], record) != static_cast<std::uint64_t>(head[2])) break;
    const auto at = static_cast<std::size_t>(head[0]);
    if (places_[at] < 0) ++found_;
    places_[at] = end_ + static_cast<std::int64_t>(kHead);
    attempts_[at] = head[1];
    end_ += static_cast<std::int64_t>(kHead) + bytes;
  }
  if (::ftruncate(file_, end_) != 0) {  // what a kill left half-written
    const int error = errno;
    ::close(file_);
    fail(doing, "a file to write", errno_text(error));
  }
}

SampleStore::~SampleStore() {
  if (file_ >= 0) {
    sync(true);
    ::close(file_);
  }
}

void SampleStore::sync(bool now) {
  if (!now && std::chrono::steady_clock::now() - synced_ < std::chrono::seconds(1)) return;
  ::fdatasync(file_);
  synced_ = std::chrono::steady_clock::now();
}

void SampleStore::add(std::int64_t sample, std::int64_t attempts, std::span<const float> values) {
  std::vector<char> record(kHead + values.size_bytes());
  const std::array<std::int64_t, 3> head{sample, attempts,
                                         static_cast<std::int64_t>(check_sum(sample, attempts, values))};
  std::memcpy(record.data(), head.data(), kHead);
  if (!values.empty()) std::memcpy(record.data() + kHead, values.data(), values.size_bytes());
  const std::lock_guard lock(mutex_);
  std::size_t done = 0;
  while (done < record.size()) {
    const ssize_t written =
        ::pwrite(file_, record.data() + done, record.size() - done, end_ + static_cast<std::int64_t>(done));
    if (written <= 0)
      fail(fmt::format("writing '{}'", path_.string()), "room for a sample", errno_text(errno),
           "finished samples are kept: free space and give the command again");
    done += static_cast<std::size_t>(written);
  }
  places_[static_cast<std::size_t>(sample)] = end_ + static_cast<std::int64_t>(kHead);
  attempts_[static_cast<std::size_t>(sample)] = attempts;
  end_ += static_cast<std::int64_t>(record.size());
  sync(false);
}

void SampleStore::read(std::int64_t sample, std::span<float> values) const {
  const std::int64_t place = places_[static_cast<std::size_t>(sample)];
  std::size_t done = 0;
  auto* const to = reinterpret_cast<char*>(values.data());
  while (place >= 0 && done < values.size_bytes()) {
    const ssize_t got = ::pread(file_, to + done, values.size_bytes() - done, place + static_cast<std::int64_t>(done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  if (place < 0 || done < values.size_bytes()) {
    fail_plainly(fmt::format("reading '{}'", path_.string()), fmt::format("the file ends before sample {}", sample),
                 "generate the dataset again");
  }
}

void SampleStore::remove() {
  ::close(file_);
  file_ = -1;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace lano
