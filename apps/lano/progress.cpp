#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/duration.h"

namespace lano::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kPlainInterval = std::chrono::seconds(10);
constexpr int kBarWidth = 28;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Progress::Progress(std::string label, std::int64_t total, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_draw_(start_) {}

Progress::~Progress() {
  // A Progress left by an exception ends its line without claiming to be complete.
  if (!finished_ && terminal_) std::fputc('\n', stderr);
}

void Progress::advance(std::int64_t count, const std::string& detail) {
  const std::lock_guard lock(mutex_);
  done_ += count;
  if (!detail.empty()) detail_ = detail;
  const auto now = Clock::now();
  if (terminal_ ? now - last_draw_ >= kTerminalInterval : now - last_draw_ >= kPlainInterval) {
    last_draw_ = now;
    draw(false);
  }
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  draw(true);
}

void Progress::make_room() {
  const std::lock_guard lock(mutex_);
  if (!terminal_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

void Progress::draw(bool last) {
  const double elapsed = seconds_between(start_, Clock::now());
  const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  const std::string time =
      last ? "in " + duration_text(elapsed)
           : (rate > 0 && total_ > 0 ? duration_text(static_cast<double>(total_ - done_) / rate) + " left" : "...");
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 0;
  const std::string count = total_ > 0 ? fmt::format("{}/{}", done_, total_) : fmt::format("{}", done_);
  const std::string tail =
      fmt::format("{} {}  {:.3g} {}/s  {}{}{}", count, unit_, rate, unit_, time, detail_.empty() ? "" : "  ", detail_);
  std::string line;
  if (terminal_) {
    const int filled = std::clamp(static_cast<int>(share * kBarWidth), 0, kBarWidth);
    std::string bar;
    for (int i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
    line = fmt::format("\r\033[K{} {} {:3.0f}% {}{}", label_, bar, 100 * share, tail, last ? "\n" : "");
  } else {
    line = fmt::format("{} {:3.0f}% {}\n", label_, 100 * share, tail);
  }
  std::fputs(line.c_str(), stderr);  // if it cannot be written, nothing is lost
  std::fflush(stderr);
}

}  // namespace lano::cli
