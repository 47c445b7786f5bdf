#include "serve/sample_source.h"

#include <fmt/format.h>

#include "core/error.h"
#include "evaluate/set_fit.h"
#include "serve/answer.h"
#include "serve/http_error.h"

namespace lano::serve {

// Models that step in time read a dataset otherwise than the rest: as states; and those that give all times at once as
// channels.
struct SampleSource::Set {
  std::shared_ptr<DatasetReader> fields, states, channels;

  const DatasetReader& as_read_by(const Operator& op) const {
    if (op.task() == Task::autoregressive) return *states;
    return op.set().channel_times.empty() || channels == nullptr ? *fields : *channels;
  }
};

SampleSource::SampleSource(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    auto set = std::make_shared<Set>();
    set->fields = std::make_shared<DatasetReader>(open_dataset(file, Task::steady));
    set->states = std::make_shared<DatasetReader>(open_dataset(file, Task::autoregressive));
    if (!set->fields->description().time.empty()) {
      set->channels = std::make_shared<DatasetReader>(open_dataset(file, Task::steady));
      set->channels->show_times_as_channels();
    }
    sets_.push_back(std::move(set));
  }
}

const SampleSource::Set* SampleSource::fitting(const ServedModel& model) const {
  for (const auto& set : sets_) {
    const DatasetReader& reader = set->as_read_by(model.op);
    try {
      check_fits(model.op.set(), reader.description(), "");
    } catch (const Error&) {
      continue;
    }
    if (reader.description().name == model.op.set().name) return set.get();
  }
  return nullptr;
}

std::int64_t SampleSource::count(const ServedModel& model) const {
  const Set* const set = fitting(model);
  return set == nullptr ? 0 : std::ssize(set->fields->indices("test"));
}

std::string SampleSource::sample(const ServedModel& model, std::int64_t index) const {
  const Set* const set = fitting(model);
  const bool stepping = model.op.task() == Task::autoregressive;
  const auto ids = set == nullptr ? std::vector<std::int64_t>() : set->fields->indices("test");
  if (index < 0 || index >= std::ssize(ids))
    refuse(404, "showing a test sample", fmt::format("one of {} samples", ids.size()), std::to_string(index),
           ids.empty() ? "start the server with --data DATASET" : "");
  const DatasetReader& reader = set->as_read_by(model.op);
  const std::lock_guard lock(mutex_);
  const Samples samples = reader.read(std::span(ids).subspan(static_cast<std::size_t>(index), 1));
  const SetDescription& about = reader.description();
  const std::int64_t points = samples.points_of(0);
  Shape mesh = about.geometry == Geometry::points ? Shape{points} : about.shape;
  const auto shape = [&](std::int64_t frames, std::int64_t channels) {
    Shape all = mesh;
    if (frames > 0) all.insert(all.begin(), frames);
    all.push_back(channels);
    return all;
  };
  std::string body = fmt::format("{{\"model\":{},\"index\":{}", json_text(model.name), index);
  const auto add = [&](const char* name, const Shape& axes, std::span<const float> values) {
    if (values.empty()) return;
    body += fmt::format(",\"{}\":", name);
    append_nested(body, axes, values);
  };
  add("input", shape(0, about.input_channels()), samples.input);
  if (!model.op.set().shape.empty() && !samples.coordinates.empty() &&
      (model.op.coordinates().empty() || mesh != model.op.set().shape))
    add("coordinates", shape(0, about.dims()), samples.coordinates);
  const std::int64_t frames = samples.frames, size = points * about.output_channels();
  if (stepping && frames >= model.op.state_frames()) {
    const std::int64_t given = model.op.state_frames();
    add("state", shape(given > 1 ? given : 0, about.output_channels()),
        std::span(samples.output).first(static_cast<std::size_t>(given * size)));
  }
  add("output", shape(about.time.empty() ? 0 : frames, about.output_channels()), samples.output);
  return body + "}";
}

}  // namespace lano::serve
