// Progress on stderr: a bar with rate and time left on a terminal, a plain line from time to time anywhere else (a log
// file, CI). Calls are cheap enough for every sample; `advance` may be called from several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace lano::cli {

class Progress {
 public:
  // `unit` names what is counted ("samples"); total 0 means unknown.
  Progress(std::string label, std::int64_t total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t count = 1, const std::string& detail = {});
  void finish();     // the last line; also called by the destructor
  void make_room();  // on a terminal: for a line of text in the bar's place

 private:
  void draw(bool last);
  std::string label_, unit_, detail_;
  std::int64_t total_, done_ = 0;
  bool terminal_, finished_ = false;
  std::chrono::steady_clock::time_point start_, last_draw_;
  std::mutex mutex_;
};

}  // namespace lano::cli
