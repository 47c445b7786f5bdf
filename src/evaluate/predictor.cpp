#include "evaluate/predictor.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/turn_axes.h"
#include "runtime/roll_out.h"

namespace lano {
namespace {

// Samples that go through the network together: enough to keep the cores busy with small ones. Up to this many points
// the kernels cut the work of a sample as if it were alone, so other samples do not change a bit of its prediction.
constexpr std::int64_t kPointsTogether = 40960, kSamplesTogether = 64;

std::int64_t end_of_group(const Samples& samples, std::int64_t first) {
  std::int64_t last = first, points = 0;
  for (; last < samples.count && last - first < kSamplesTogether; ++last) {
    if (last > first && points + samples.points_of(last) > kPointsTogether) break;
    points += samples.points_of(last);
  }
  return last;
}

}  // namespace

Prediction Predictor::predict(const SetDescription& set, const Samples& samples, std::int64_t steps,
                              const std::optional<Operator::Call::Part>& part) {
  const bool rolls = task() == Task::autoregressive;
  if (rolls && samples.output.empty()) {
    fail_plainly("predicting", "the dataset has no output with the first state",
                 "an autoregressive model steps from it");
  }
  const std::int64_t channels = set.output_channels(), given = given_frames(set), window = state_frames();
  if (rolls && samples.frames < given) {
    fail("predicting", fmt::format("{} frames to step from", given), std::to_string(samples.frames),
         "give the states before the first prediction");
  }
  Prediction prediction;
  const bool together = !channel_times().empty() && !set.time.empty();
  if (together && !same_times(channel_times(), set.time))
    fail("predicting", fmt::format("the {} times that the model predicts at once", channel_times().size()),
         fmt::format("{} others", set.time.size()));
  if (together) prediction.frames = std::ssize(set.time);
  if (task() == Task::time_conditional) prediction.frames = samples.frames;
  if (rolls) prediction.frames = given + (steps > 0 ? steps : samples.frames - given);
  prediction.values.resize(static_cast<std::size_t>(samples.first_point(samples.count) * prediction.frames * channels));
  // Frames `first` to the last of sample i.
  const auto room = [&](std::int64_t i, std::int64_t first, std::int64_t count) {
    const std::int64_t frame = samples.points_of(i) * channels,
                       from = samples.first_point(i) * prediction.frames * channels + first * frame;
    return std::span(prediction.values)
        .subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count * frame));
  };
  for (std::int64_t first = 0, last; first < samples.count; first = last) {
    last = end_of_group(samples, first);
    std::vector<Operator::Query> queries;
    for (std::int64_t i = first; i < last; ++i) {
      queries.push_back({samples.coordinates_of(i, set.dims()), samples.input_of(i, set.input_channels()), {}, {}});
      queries.back().call.part = part;
      if (set.geometry != Geometry::points) queries.back().call.mesh = set.shape;
      if (set.geometry == Geometry::mesh)
        queries.back().call.span = set.span.empty() ? std::vector<double>(set.shape.size(), 1.0) : set.span;
    }
    const auto query = [&](std::int64_t i) -> Operator::Query& { return queries[static_cast<std::size_t>(i - first)]; };
    if (rolls) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::span<float> known = room(i, 0, given);
        const auto start = samples.output_of(i, channels).first(known.size());
        std::copy(start.begin(), start.end(), known.begin());
        query(i).call.state = room(i, given - window, window);
        query(i).output = room(i, given, prediction.frames - given);
      }
      roll_out_queries(queries, prediction.frames - given, window,
                       [this](std::span<const Operator::Query> now) { apply(now); });
      continue;
    }
    if (together) {
      std::vector<std::vector<float>> channels_of;  // [N, T, du] of each sample
      for (std::int64_t i = first; i < last; ++i) channels_of.emplace_back(room(i, 0, prediction.frames).size());
      for (std::int64_t i = first; i < last; ++i) query(i).output = channels_of[static_cast<std::size_t>(i - first)];
      apply(queries);
      for (std::int64_t i = first; i < last; ++i)
        turn_axes(channels_of[static_cast<std::size_t>(i - first)], static_cast<std::size_t>(samples.points_of(i)),
                  static_cast<std::size_t>(prediction.frames), static_cast<std::size_t>(channels),
                  room(i, 0, prediction.frames));
      continue;
    }
    for (std::int64_t frame = 0; frame < prediction.frames; ++frame) {
      for (std::int64_t i = first; i < last; ++i) {
        query(i).output = room(i, frame, 1);
        if (task() == Task::time_conditional) query(i).call.time = set.time[static_cast<std::size_t>(frame)];
      }
      apply(queries);
    }
  }
  return prediction;
}

}  // namespace lano
