#include "evaluate/prediction.h"

#include <algorithm>

#include "core/error.h"

namespace lano {
namespace {

// Samples that go through the network together: enough to keep the cores busy with small ones. Up to this many points
// the kernels cut the work of a sample as if it were alone, so the company of a sample changes no bit of its answer.
constexpr std::int64_t kPointsTogether = 40960, kSamplesTogether = 64;

}  // namespace

Prediction predict(Predictor& predictor, const SetDescription& set, const Samples& samples, std::int64_t steps) {
  const Task task = predictor.task();
  if (task == Task::autoregressive && samples.output.empty()) {
    fail("predicting", "a dataset whose output holds the first state", "no output",
         "an autoregressive model steps from it");
  }
  const std::int64_t channels = set.output_channels();
  Prediction prediction;
  if (task == Task::time_conditional) prediction.frames = samples.frames;
  if (task == Task::autoregressive) prediction.frames = 1 + (steps > 0 ? steps : samples.frames - 1);
  const std::int64_t all_points = samples.first_point(samples.count);
  prediction.values.resize(static_cast<std::size_t>(all_points * prediction.frames * channels));
  const auto frame_of = [&](std::int64_t i, std::int64_t frame) {
    const std::int64_t points = samples.points_of(i), width = prediction.frames * channels;
    return std::span(prediction.values)
        .subspan(static_cast<std::size_t>(samples.first_point(i) * width + frame * points * channels),
                 static_cast<std::size_t>(points * channels));
  };
  for (std::int64_t first = 0, last; first < samples.count; first = last) {
    std::int64_t points = 0;
    for (last = first; last < samples.count && last - first < kSamplesTogether; ++last) {
      if (last > first && points + samples.points_of(last) > kPointsTogether) break;
      points += samples.points_of(last);
    }
    std::vector<Operator::Query> queries;
    for (std::int64_t i = first; i < last; ++i) {
      queries.push_back({samples.coordinates_of(i, set.dims()), samples.input_of(i, set.input_channels()), {}, {}});
      if (set.geometry != Geometry::points) queries.back().call.mesh = set.shape;
    }
    for (std::int64_t frame = 0; frame < prediction.frames; ++frame) {
      for (std::int64_t i = first; i < last; ++i) {
        Operator::Query& query = queries[static_cast<std::size_t>(i - first)];
        query.output = frame_of(i, frame);
        if (task == Task::time_conditional) query.call.time = set.time[static_cast<std::size_t>(frame)];
        if (task != Task::autoregressive) continue;
        if (frame == 0) {  // given, not predicted
          const auto start = samples.output_of(i, channels).first(query.output.size());
          std::copy(start.begin(), start.end(), query.output.begin());
        } else {
          query.call.state = frame_of(i, frame - 1);
        }
      }
      if (task != Task::autoregressive || frame > 0) predictor.apply(queries);
    }
  }
  return prediction;
}

}  // namespace lano
