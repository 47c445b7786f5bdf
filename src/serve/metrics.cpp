#include "serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace lano::serve {
namespace {

void head(std::string& to, const char* name, const char* kind, const char* help) {
  to += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

template <class Value>
void one(std::string& to, const char* name, const char* kind, const char* help, Value value) {
  head(to, name, kind, help);
  to += fmt::format("{} {}\n", name, value);
}

// Of this process now; 0 where the system does not say.
std::int64_t resident_bytes() {
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGE_SIZE);
}

}  // namespace

void Histogram::add(double seconds) {
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  ++counts_[bucket];
  sum_ += seconds;
}

std::string Histogram::text(const std::string& name, const std::string& labels) const {
  std::string out;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i];
    const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
    out += fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, bound, total);
  }
  return out + fmt::format("{}_sum{{{}}} {}\n{}_count{{{}}} {}\n", name, labels, sum_, name, labels, total);
}

void Metrics::answered(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++answers_[{route, status}];
  request_seconds_[route].add(seconds);
}

void Metrics::predicted(const std::string& model, double seconds) {
  const std::lock_guard lock(mutex_);
  predict_seconds_[model].add(seconds);
}

std::string Metrics::text(std::size_t memory_held, std::size_t memory_most) const {
  std::string out;
  {
    const std::lock_guard lock(mutex_);
    head(out, "lano_requests_total", "counter", "Requests answered, by route and status.");
    for (const auto& [key, count] : answers_)
      out += fmt::format("lano_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
    head(out, "lano_request_seconds", "histogram", "From the last byte of a request to its answer, waiting included.");
    for (const auto& [route, seconds] : request_seconds_)
      out += seconds.text("lano_request_seconds", fmt::format("route=\"{}\"", route));
    head(out, "lano_predict_seconds", "histogram", "Computing of one batch of predictions.");
    for (const auto& [model, seconds] : predict_seconds_)
      out += seconds.text("lano_predict_seconds", fmt::format("model=\"{}\"", model));
  }
  one(out, "lano_connections", "gauge", "Open connections.", connections.load());
  one(out, "lano_waiting", "gauge", "Predictions accepted and not answered.", waiting.load());
  one(out, "lano_solves_waiting", "gauge", "Solver runs accepted and not answered.", solves_waiting.load());
  one(out, "lano_refused_connections_total", "counter", "Connections beyond the limit.", refused_connections.load());
  one(out, "lano_dropped_connections_total", "counter", "Connections too slow or broken off.",
      dropped_connections.load());
  one(out, "lano_samples_total", "counter", "Samples predicted.", samples.load());
  one(out, "lano_points_total", "counter", "Points predicted, over samples, times and steps.", points.load());
  one(out, "lano_batches_total", "counter", "Passes through a network.", batches.load());
  one(out, "lano_batched_requests_total", "counter", "Requests that had a part in those passes.",
      batched_requests.load());
  one(out, "lano_reloads_total", "counter", "Changed model files taken.", reloads.load());
  one(out, "lano_failed_reloads_total", "counter", "Changed model files that could not be read.",
      failed_reloads.load());
  one(out, "lano_held_bytes", "gauge", "Memory held for requests and answers.", memory_held);
  one(out, "lano_held_bytes_most", "gauge", "Its limit.", memory_most);
  one(out, "process_resident_memory_bytes", "gauge", "Resident memory of the process.", resident_bytes());
  return out;
}

}  // namespace lano::serve
