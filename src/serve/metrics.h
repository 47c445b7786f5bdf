// What a server counts about itself, in Prometheus' text form. All members are safe from many threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace lano::serve {

// Seconds by bucket, as Prometheus wants them: counts are cumulative when they are written.
class Histogram {
 public:
  static constexpr std::array<double, 12> kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30};
  void add(double seconds);
  std::string text(const std::string& name, const std::string& labels) const;

 private:
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0;
};

class Metrics {
 public:
  std::atomic<std::int64_t> connections = 0, waiting = 0, solves_waiting = 0;
  std::atomic<std::uint64_t> refused_connections = 0, dropped_connections = 0, samples = 0, points = 0, batches = 0,
                             batched_requests = 0, reloads = 0, failed_reloads = 0;

  void answered(const std::string& route, int status, double seconds);
  void predicted(const std::string& model, double seconds);  // computing alone
  std::string text(std::size_t memory_held, std::size_t memory_most) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> answers_;
  std::map<std::string, Histogram> request_seconds_, predict_seconds_;
};

}  // namespace lano::serve
