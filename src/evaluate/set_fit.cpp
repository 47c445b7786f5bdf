#include "evaluate/set_fit.h"

#include <fmt/format.h>

#include "core/error.h"

namespace lano {

namespace {

InitialFrames shown_to(Task task) {
  return task == Task::autoregressive ? InitialFrames::output : InitialFrames::input;
}

}  // namespace

DatasetReader open_dataset(const std::filesystem::path& path, Task task) { return DatasetReader(path, shown_to(task)); }

DatasetReader open_dataset(const std::shared_ptr<const MemoryDataset>& arrays, Task task) {
  return DatasetReader(arrays, shown_to(task));
}

void check_fits(const SetDescription& trained, const SetDescription& given, std::string_view doing) {
  const bool frames = !trained.channel_times.empty() && !given.time.empty();  // of a model that gives all at once
  if (!same_times(trained.channel_times, frames ? given.time : given.channel_times) &&
      !(trained.channel_times.empty() && given.channel_times.empty())) {
    const auto text = [](const std::vector<double>& times) {
      return times.empty() ? std::string("a dataset without times")
                           : fmt::format("{} times, {:g} to {:g}", times.size(), times.front(), times.back());
    };
    fail(doing, text(trained.channel_times), text(frames ? given.time : given.channel_times),
         "the model predicts all times of its training at once, and no others");
  }
  const SetDescription trained_on = frames ? channels_as_times(trained) : trained;
  const auto text = [](const SetDescription& d) {
    return fmt::format("{} {} with {} coordinates, {} input and {} output channels",
                       d.time.empty() ? "a steady" : "a time-dependent", geometry_name(d.geometry), d.dims(),
                       d.input_channels(), d.output_channels());
  };
  const bool same_axes = given.geometry == Geometry::points || given.shape.size() == trained_on.shape.size();
  const bool same_kind = (given.geometry == Geometry::points) == (trained_on.geometry == Geometry::points);
  if (!same_kind || !same_axes || given.time.empty() != trained_on.time.empty() || given.dims() != trained_on.dims() ||
      given.input_channels() != trained_on.input_channels() ||
      given.output_channels() != trained_on.output_channels()) {
    fail(doing, text(trained_on), text(given), "the model was trained on another kind of data");
  }
}

}  // namespace lano
