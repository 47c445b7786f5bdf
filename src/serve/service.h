// What the server answers: models, predictions, exact solutions, samples, the page, its own health. Between HTTP
// (http_server.h) and the computing (predict_queue.h); every failure becomes a status and a sentence here.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/listener.h"
#include "serve/http_server.h"
#include "serve/limits.h"
#include "serve/metrics.h"
#include "serve/model_table.h"
#include "serve/predict_queue.h"
#include "serve/sample_source.h"
#include "serve/work_threads.h"

namespace lano::serve {

struct ServiceOptions {
  std::vector<std::string> models;  // FILE or NAME=FILE
  std::vector<std::string> data;    // datasets whose test samples the page may show
  std::string token;                // asked of every request for /v1 and /metrics; empty: none
  bool loopback = true;             // only names of this machine are taken as Host
  std::int64_t pass_points = 2048;  // of several requests in one pass (docs/serve.md has the measurement)
  double look_seconds = 0.5;        // between two looks at the model files
  Limits limits;
};

class Service {
 public:
  Service(const ServiceOptions& options, MemoryBudget& memory, Metrics& metrics, Listener& listener);

  HttpHandler handler();
  const ModelTable& models() const { return models_; }

 private:
  enum class Route;
  struct Place;  // where a request goes
  static const char* route_name(Route route);
  Place place_of(const Request& request) const;
  void check(const Request& request, const Place& place) const;
  void answer(const std::shared_ptr<Request>& request, const Place& place, const Reply& reply);
  void predict(const std::shared_ptr<Request>& request, const Place& place, const Reply& reply);
  void solve(const std::shared_ptr<Request>& request, const Place& place, const Reply& reply);
  void queue_prediction(const Request& request, const std::shared_ptr<const ServedModel>& model, const Reply& reply);
  Response models_answer(const Place& place) const;
  Response sample_answer(const Request& request, const Place& place) const;
  Response grid_answer(const Place& place) const;

  ServiceOptions options_;
  MemoryBudget& memory_;
  Metrics& metrics_;
  ModelTable models_;
  SampleSource samples_;
  // Ended from the last to the first: each hands on to those above it.
  WorkThreads writers_{2};  // of answers
  WorkThreads solver_{1};
  PredictQueue queue_;
  WorkThreads readers_{2};  // of bodies
};

}  // namespace lano::serve
