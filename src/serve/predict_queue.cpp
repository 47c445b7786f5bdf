#include "serve/predict_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "runtime/roll_out.h"

namespace lano::serve {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct TooLate {};

template <class Value>
std::span<Value> part(std::span<Value> all, std::int64_t index, std::int64_t size) {
  return all.empty() ? all : all.subspan(static_cast<std::size_t>(index * size), static_cast<std::size_t>(size));
}

}  // namespace

// A request on its way: its answer, and the next of its passes (one for each sample and time).
struct PredictQueue::Running {
  PredictJob job;
  Outcome outcome{};
  std::int64_t next = 0;
  bool finished = false;

  const Operator& op() const { return job.model->op; }
  const PredictRequest& request() const { return job.request; }
  std::int64_t passes() const { return request().samples * request().frames(); }
  std::int64_t channels() const { return op().set().output_channels(); }
  bool late() const { return Clock::now() > job.deadline; }

  Operator::Query sample(std::int64_t s) {
    const PredictRequest& r = job.request;
    const std::int64_t dims = op().set().dims(), fields = op().set().input_channels();
    Operator::Query query;
    query.coordinates = r.coordinates.empty()
                            ? std::span<const float>(op().coordinates())
                            : part(std::span<const float>(r.coordinates), r.own_coordinates ? s : 0, r.points * dims);
    query.input = part(std::span<const float>(r.input), s, r.points * fields);
    query.call.mesh = op().set().geometry == Geometry::points ? Shape{} : r.mesh;
    query.call.state = part(std::span<const float>(r.state), s, r.points * channels() * r.given);
    return query;
  }
  // Pass k: time k % frames of sample k / frames.
  Operator::Query query(std::int64_t k) {
    const PredictRequest& r = job.request;
    Operator::Query query = sample(k / r.frames());
    query.output = part(std::span<float>(outcome.values), k, r.points * channels());
    if (!r.times.empty()) query.call.time = r.times[static_cast<std::size_t>(k % r.frames())];
    return query;
  }
};

PredictQueue::PredictQueue(std::int64_t most_points, Metrics& metrics)
    : most_points_(most_points), metrics_(metrics), thread_([this] { run(); }) {}

PredictQueue::~PredictQueue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ready_.notify_all();
  thread_.join();
}

void PredictQueue::add(PredictJob job) {
  auto running = std::make_unique<Running>(Running{std::move(job)});
  {
    const std::lock_guard lock(mutex_);
    if (dropping_) return;
    (running->request().steps > 0 ? stepping_ : steady_).push_back(std::move(running));
  }
  ready_.notify_one();
}

void PredictQueue::drop() {
  std::list<std::unique_ptr<Running>> steady, stepping;
  const std::lock_guard lock(mutex_);
  dropping_ = true;
  steady.swap(steady_);
  stepping.swap(stepping_);
}

void PredictQueue::run() {
  for (;;) {
    std::unique_ptr<Running> step;
    bool some = false;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return ending_ || !steady_.empty() || !stepping_.empty(); });
      some = !steady_.empty();
      if (!stepping_.empty()) {
        step = std::move(stepping_.front());
        stepping_.pop_front();
      } else if (!some) {
        return;
      }
    }
    if (some) pass();
    if (step) roll_out(*step);
  }
}

void PredictQueue::finish(Running& running, int status, const std::string& message) {
  if (std::exchange(running.finished, true)) return;
  running.outcome.status = status;
  running.outcome.message = message;
  if (status != 200) running.outcome.values = {};
  try {
    running.job.done(std::move(running.job.request), std::move(running.outcome));
  } catch (const std::exception&) {  // what it held of the client is let go with the job, and tells it
  }
}

// A model refuses what it is given with an Error; all else is want of memory.
void PredictQueue::finish_failed(Running& running, const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return finish(running, 422, error.what());
  finish(running, 503, plain_error_message("predicting", "there is not enough memory", "ask for less at once"));
}

// Takes the requests whose turn it is, all of one model, until the pass is full. Nothing is allocated until they are
// here, so that none can be lost.
void PredictQueue::pass() {
  std::list<std::unique_ptr<Running>> taken;
  {
    const std::lock_guard lock(mutex_);
    const ServedModel* model = nullptr;
    std::int64_t points = 0;
    for (auto at = steady_.begin(); at != steady_.end();) {
      const auto here = at++;
      const Running& running = **here;
      if (model != nullptr && running.job.model.get() != model) continue;
      if (points > 0 && points + running.request().points > most_points_) break;
      model = running.job.model.get();
      const std::int64_t room = std::max<std::int64_t>(1, (most_points_ - points) / running.request().points),
                         wanted = running.passes() - running.next;
      points += std::min(room, wanted) * running.request().points;
      taken.splice(taken.end(), steady_, here);
    }
  }
  try {
    compute_some(taken);
  } catch (const std::exception& error) {
    for (auto& running : taken) finish_failed(*running, error);
  }
  for (auto& running : taken) {
    if (!running->finished && running->next == running->passes()) finish(*running, 200, {});
  }
  taken.remove_if([](const auto& running) { return running->finished; });
  const std::lock_guard lock(mutex_);
  if (!dropping_) steady_.splice(steady_.end(), taken);  // behind those that came meanwhile
}

// The next passes of these: as many as share one, at least one of each.
void PredictQueue::compute_some(std::list<std::unique_ptr<Running>>& taken) {
  std::vector<Operator::Query> queries;
  std::vector<Running*> owners;
  std::int64_t points = 0;
  for (const auto& running : taken) {
    if (running->late()) {
      finish(*running, 503,
             error_message("predicting", "an answer in time", "more work waiting than time",
                           "come back in a moment, or ask for less at once"));
      continue;
    }
    try {
      if (running->outcome.values.empty())
        running->outcome.values.resize(
            static_cast<std::size_t>(running->passes() * running->request().points * running->channels()));
    } catch (const std::exception& error) {
      finish_failed(*running, error);
      continue;
    }
    do {
      queries.push_back(running->query(running->next++));
      owners.push_back(running.get());
      points += running->request().points;
    } while (running->next < running->passes() && points + running->request().points <= most_points_);
  }
  compute(owners, queries);
}

// All in one pass; where that fails, request by request, so that the others have their answers.
void PredictQueue::compute(const std::vector<Running*>& owners, const std::vector<Operator::Query>& queries) {
  if (queries.empty()) return;
  const auto start = Clock::now();
  const auto count = [&](double seconds) {
    metrics_.predicted(owners.front()->job.model->name, seconds);
    ++metrics_.batches;
    metrics_.samples += queries.size();
    for (std::size_t q = 0; q < queries.size(); ++q) {
      metrics_.points += static_cast<std::uint64_t>(owners[q]->request().points);
      if (q > 0 && owners[q] == owners[q - 1]) continue;
      ++metrics_.batched_requests;
      owners[q]->outcome.seconds += seconds;
    }
  };
  try {
    owners.front()->op().predict(queries);
    count(seconds_since(start));
    return;
  } catch (const std::exception&) {
  }
  for (std::size_t q = 0; q < queries.size(); ++q) {
    if (owners[q]->finished) continue;
    try {
      owners[q]->op().predict({&queries[q], 1});
    } catch (const std::exception& error) {
      finish_failed(*owners[q], error);
    }
  }
  count(seconds_since(start));
}

// All samples step together, and between two steps the others have a pass.
void PredictQueue::roll_out(Running& running) {
  const PredictRequest& r = running.request();
  try {
    const std::int64_t frame = r.points * running.channels(), all = (r.given + r.steps) * frame;
    running.outcome.values.resize(static_cast<std::size_t>(r.samples * all));
    std::vector<Operator::Query> queries;
    for (std::int64_t s = 0; s < r.samples; ++s) {
      Operator::Query query = running.sample(s);
      const auto answer = part(std::span<float>(running.outcome.values), s, all);
      std::copy(query.call.state.begin(), query.call.state.end(), answer.begin());
      query.output = answer.subspan(static_cast<std::size_t>(r.given * frame));
      queries.push_back(query);
    }
    roll_out_queries(queries, r.steps, r.given, [&](std::span<const Operator::Query> now) {
      if (running.late() || dropping_) throw TooLate();
      const auto per_pass = static_cast<std::size_t>(std::max<std::int64_t>(1, most_points_ / r.points));
      for (std::size_t first = 0; first < now.size(); first += per_pass) {
        const auto some = now.subspan(first, std::min(per_pass, now.size() - first));
        const auto start = Clock::now();
        running.op().predict(some);
        const double seconds = seconds_since(start);
        running.outcome.seconds += seconds;
        metrics_.predicted(running.job.model->name, seconds);
        ++metrics_.batches;
        metrics_.samples += some.size();
        metrics_.points += some.size() * static_cast<std::uint64_t>(r.points);
        pass();
      }
    });
    ++metrics_.batched_requests;
    finish(running, 200, {});
  } catch (const TooLate&) {
    finish(running, 503,
           error_message("predicting", "an answer in time", "a longer roll-out",
                         "ask for fewer steps or samples at once"));
  } catch (const std::exception& error) {
    finish_failed(running, error);
  }
}

}  // namespace lano::serve
