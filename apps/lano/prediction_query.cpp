#include "prediction_query.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "console.h"
#include "core/error.h"
#include "core/ranks.h"
#include "evaluate/set_fit.h"
#include "prediction_times.h"

namespace lano::cli {
namespace {

void read_set_cells(const DatasetReader& reader, Query& query) {
  query.cell_kind = reader.cell_kind();
  if (!query.cell_kind) return;
  for (const std::int64_t id : query.samples.ids) {
    query.cells.push_back(reader.read_cells(id));
    if (reader.shared_cells()) return;
  }
}

Query from_dataset(const PredictOptions& o, const ModelFile& model, Task task, bool in_parts) {
  const DatasetReader reader = open_dataset(o.data, task);
  SetDescription given = reader.description();
  // A dataset of inputs alone needs no times if they are given.
  if (!o.times.empty() && !reader.has_output() && given.time.empty()) given.time = model.set.time;
  if (!reader.has_output() && given.time.empty()) given.time = model.set.channel_times;
  check_fits(model.set, given, fmt::format("predicting from '{}'", o.data));
  const auto ids = o.samples.empty() ? reader.indices(std::string_view(o.split)) : o.samples;
  if (ids.empty())
    fail_usage_plainly("predicting", fmt::format("split '{}' has no samples", o.split), "choose another --split");
  Query query;
  query.set = std::move(given);
  query.in_parts = in_parts && query.set.geometry != Geometry::points;
  query.samples = query.in_parts ? reader.outline(ids) : reader.read(ids);
  query.known_frames = query.samples.output.empty() ? 0 : query.samples.frames;
  if (!query.in_parts || ranks().first()) read_set_cells(reader, query);
  return query;
}

void check_words_fit(const PredictOptions& o, const ModelFile& model, Task task) {
  if (!o.times.empty() && !model.set.channel_times.empty())
    fail_usage_plainly("predicting", "this model predicts all times of its training at once", "leave out --times");
  if (o.steps && task != Task::autoregressive)
    fail_usage_plainly("predicting", "this model does not step in time",
                       task == Task::time_conditional ? "give --times instead of --steps"
                                                      : "a steady model has one prediction: leave out --steps");
  if (!o.times.empty() && task != Task::time_conditional)
    fail_usage_plainly("predicting", "this model is not conditioned on time",
                       task == Task::autoregressive ? "give --steps instead of --times"
                                                    : "a steady model has one prediction: leave out --times");
  if (!o.state.empty() && task != Task::autoregressive)
    fail_usage_plainly("predicting", "this model does not step in time",
                       "give its input fields with --input instead of --state");
}

// Steps from the first state: as many as requested, otherwise as in the dataset, or as in training.
void set_steps(const PredictOptions& o, const ModelFile& model, Query& query) {
  const bool arrays = o.data.empty();
  if (arrays && o.steps && *o.steps < 1)
    fail_usage("predicting", "at least one step", fmt::format("--steps {}", *o.steps));
  const std::int64_t window = state_frames(model, Task::autoregressive),
                     given = arrays ? window : given_frames(Task::autoregressive, window, query.set),
                     trained = std::ssize(model.set.time) - given_frames(Task::autoregressive, window, model.set);
  query.set.given_frames = given;
  query.steps = o.steps.value_or(0) > 0 ? *o.steps : arrays ? trained : query.samples.frames - given;
  if (query.steps < 1)
    fail_usage_plainly("predicting", "the number of steps from the first state is missing", "give it with --steps");
  if (query.steps >= kMostFrames)
    fail_usage("predicting", fmt::format("fewer than {} steps", kMostFrames), std::to_string(query.steps));
  if (arrays && !o.steps)
    console().say(fmt::format("note: {} steps, as in training; use --steps N for another number", trained));
  query.set.time = roll_out_times(query.set.time, given + query.steps);
  for (std::int64_t frame = 0; frame < given + query.steps; ++frame)
    query.true_frame.push_back(frame < query.known_frames ? frame : -1);
}

void set_times(const PredictOptions& o, const ModelFile& model, Query& query) {
  if (o.times.empty()) {
    if (o.data.empty()) {
      query.set.time = model.set.time;
      console().say(fmt::format("note: the {} times of training, {:g} to {:g}; use --times for others",
                                model.set.time.size(), model.set.time.front(), model.set.time.back()));
    }
    for (std::int64_t frame = 0; frame < query.frames(); ++frame)
      query.true_frame.push_back(frame < query.known_frames ? frame : -1);
  } else {
    const std::vector<double> times = parse_times(o.times);
    for (const double time : times) {
      const auto frame = query.known_frames > 0 ? frame_at(query.set.time, time) : std::nullopt;
      query.true_frame.push_back(frame ? static_cast<std::int64_t>(*frame) : -1);
    }
    query.set.time = times;
    query.known = std::move(query.samples.output);
    query.samples.output.clear();
    const auto [low, high] = std::minmax_element(model.set.time.begin(), model.set.time.end());
    const bool before = times.front() < *low && !frame_at({*low}, times.front()),
               behind = times.back() > *high && !frame_at({*high}, times.back());
    if (before || behind)
      console().warn(
          fmt::format("times {:g} to {:g} go beyond those of training, {:g} to {:g}: there the model extrapolates",
                      times.front(), times.back(), *low, *high));
  }
  query.samples.frames = query.frames();
}

void check_memory(const Query& query) {
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const double bytes = static_cast<double>(query.samples.first_point(query.samples.count)) *
                       static_cast<double>(query.frames() * query.set.output_channels()) * sizeof(float);
  if (bytes > memory) {
    fail("predicting", fmt::format("output that fits in {:.1f} GB of memory", memory / 1e9),
         fmt::format("{:.1f} GB: {} samples, {} frames", bytes / 1e9, query.samples.count, query.frames()),
         "predict fewer samples, steps or times at once");
  }
}

}  // namespace

std::int64_t state_frames(const ModelFile& model, Task task) {
  return task == Task::autoregressive ? model.architecture.value("state_frames", std::int64_t{1}) : 0;
}

std::span<const std::int64_t> Query::cells_of(std::int64_t sample) const {
  if (cells.empty()) return {};
  return cells[cells.size() == 1 ? 0 : static_cast<std::size_t>(sample)];
}

std::span<const float> Query::truth(std::int64_t sample, std::int64_t frame) const {
  const std::int64_t known_frame =
      known_frames == 0 || true_frame.empty() ? -1 : true_frame[static_cast<std::size_t>(frame)];
  if (known_frame < 0) return {};
  const std::int64_t channels = set.output_channels(), size = samples.points_of(sample) * channels;
  const std::int64_t first = samples.first_point(sample) * known_frames * channels + known_frame * size;
  return std::span(known.empty() ? samples.output : known)
      .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
}

Query read_query(const PredictOptions& o, const ModelFile& model, Task task, bool in_parts) {
  check_words_fit(o, model, task);
  Query query = o.data.empty() ? query_from_arrays(o, model, task) : from_dataset(o, model, task, in_parts);
  if (task == Task::autoregressive) {
    set_steps(o, model, query);
  } else if (task == Task::time_conditional) {
    set_times(o, model, query);
  } else {
    for (std::int64_t frame = 0; frame < query.frames(); ++frame)
      query.true_frame.push_back(frame < query.known_frames ? frame : -1);
    query.samples.frames = query.frames();
  }
  if (!query.in_parts) check_memory(query);
  return query;
}

}  // namespace lano::cli
