// Predictions that wait, and the one thread that computes them on every core. Samples of several requests for one model
// go through the network in one pass; a long request gives way to others after every pass or step, so that it delays
// them by one pass, not by its whole length.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serve/metrics.h"
#include "serve/predict_request.h"
#include "serve/served_model.h"

namespace lano::serve {

// What came of a prediction: the values [samples, frames, N, du], or a status and a sentence.
struct Outcome {
  int status = 200;
  std::string message;
  std::vector<float> values;
  double seconds = 0;  // of computing, those of the requests beside it included
};

struct PredictJob {
  std::shared_ptr<const ServedModel> model;
  PredictRequest request;
  std::chrono::steady_clock::time_point deadline;
  // On the computing thread: to be short. Called once, whatever fails, unless the queue is told to drop what waits.
  std::function<void(PredictRequest, Outcome)> done;
};

class PredictQueue {
 public:
  // most_points: of the samples of several requests that share a pass; a sample of more is alone in its pass.
  PredictQueue(std::int64_t most_points, Metrics& metrics);
  ~PredictQueue();  // answers what is left
  void add(PredictJob job);
  void drop();  // what waits, and what comes: nobody is there any more

 private:
  struct Running;
  void run();
  void pass();  // through a network, of what waits in steady_
  void compute_some(std::list<std::unique_ptr<Running>>& taken);
  void roll_out(Running& running);
  void compute(const std::vector<Running*>& jobs, const std::vector<Operator::Query>& queries);
  void finish(Running& running, int status, const std::string& message);
  void finish_failed(Running& running, const std::exception& error);

  std::int64_t most_points_;
  Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::list<std::unique_ptr<Running>> steady_, stepping_;  // front: whose turn it is
  bool ending_ = false;
  std::atomic<bool> dropping_ = false;
  std::thread thread_;
};

}  // namespace lano::serve
