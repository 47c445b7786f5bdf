// Finished samples on disk, in the order they finished: one file that only grows, a record per sample with a checksum.
// A kill at any moment loses no finished sample; a cut last record is dropped. Synced to the disk at least every
// second.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace lano {

class SampleStore {
 public:
  // Opens or begins the store. header: what is being made; a store begun for another is refused, or with `replace`
  // started over. values: floats of a sample.
  SampleStore(std::filesystem::path path, const std::string& header, std::int64_t samples, std::int64_t values,
              bool replace);
  ~SampleStore();
  SampleStore(const SampleStore&) = delete;
  SampleStore& operator=(const SampleStore&) = delete;

  bool has(std::int64_t sample) const { return places_[static_cast<std::size_t>(sample)] >= 0; }
  std::int64_t found() const { return found_; }  // samples there on opening
  std::int64_t attempts(std::int64_t sample) const {
    return attempts_[static_cast<std::size_t>(sample)];
  }                                                                                     // draws before it
  void add(std::int64_t sample, std::int64_t attempts, std::span<const float> values);  // thread-safe
  void read(std::int64_t sample, std::span<float> values) const;
  void remove();  // the work is done

 private:
  void sync(bool now);

  std::filesystem::path path_;
  int file_ = -1;
  std::int64_t values_, end_ = 0, found_ = 0;
  std::vector<std::int64_t> places_, attempts_;  // of each sample: where its values begin, -1 where it is not there
  std::mutex mutex_;
  std::chrono::steady_clock::time_point synced_;
};

}  // namespace lano
