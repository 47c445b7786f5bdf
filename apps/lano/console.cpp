#include "console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "core/ranks.h"
#include "progress.h"

namespace lano::cli {
namespace {

// Of several ranks only the first one prints.
class Console : public Listener {
 public:
  // A full disk or a closed pipe behind them costs the lines, not the work; lost output is reported at the end
  // (edge.cpp).
  void say(const std::string& line) override {
    if (!ranks().first()) return;
    if (progress_) progress_->make_room();
    std::fputs((line + "\n").c_str(), stdout);
    if (progress_) std::fflush(stdout);  // a line about work under way must not wait
  }
  void warn(const std::string& line) override {
    if (ranks().first()) std::fputs(("lano: " + line + "\n").c_str(), stderr);
  }
  void begin(const std::string& label, std::int64_t total, const std::string& unit) override {
    if (ranks().first()) progress_.emplace(label, total, unit);
  }
  void advance(std::int64_t count, const std::string& detail) override {
    if (progress_) progress_->advance(count, detail);
  }
  void end(bool complete) override {
    if (progress_ && complete) progress_->finish();
    progress_.reset();
  }

 private:
  std::optional<Progress> progress_;
};

}  // namespace

Listener& console() {
  static Console terminal;
  return terminal;
}

void print_baselines(const std::vector<BaselineError>& baselines, double error) {
  const BaselineError* const best = best_of(baselines);
  if (best == nullptr) return;
  fmt::print("for comparison         {}\n", baselines_text(baselines));
  if (!(best->relative_l2 < error)) return;
  const bool red = ::isatty(STDOUT_FILENO) == 1;  // no warning: nothing failed
  fmt::print("{}worse than '{}' ({:.2e}): train longer, or use that{}\n", red ? "\033[31m" : "", best->name,
             best->relative_l2, red ? "\033[0m" : "");
}

}  // namespace lano::cli
