#include "train/trained_model.h"

#include <fmt/format.h>

#include "core/error.h"
#include "train/flat_parameters.h"
#include "train/rollout.h"
#include "train/tensor_set.h"

namespace lano {

TrainedModel load_trained_model(const std::filesystem::path& path) {
  TrainedModel trained{read_model_file(path), nullptr};
  const std::string doing = fmt::format("reading model '{}'", path.string());
  // An architecture larger than the weights that came with it is not built to find that out.
  const auto& architecture = trained.file.architecture;
  const std::int64_t width = architecture.value("width", std::int64_t{0}), layers = architecture.value("layers", std::int64_t{0});
  const std::int64_t total = trained.file.parameter_count();
  if (width < 0 || layers < 0 || width > total || layers > total || (width > 0 && layers > total / width)) {
    fail(doing, fmt::format("a network of {} weights", total), fmt::format("{} layers of width {}", layers, width),
         "the file is damaged: copy it again");
  }
  trained.model = make_model(trained.file.architecture, 0);
  load_weights(*trained.model, trained.file.weights, doing);
  trained.model->eval();
  return trained;
}

void check_fits(const SetDescription& trained_on, const SetDescription& given, std::string_view doing) {
  const auto text = [](const SetDescription& d) {
    return fmt::format("{} with {} coordinates, {} input and {} output channels", geometry_name(d.geometry), d.dims(),
                       d.input_channels(), d.output_channels());
  };
  const bool same_axes = given.geometry == Geometry::points || given.shape.size() == trained_on.shape.size();
  const bool same_kind = (given.geometry == Geometry::points) == (trained_on.geometry == Geometry::points);
  if (!same_kind || !same_axes || given.dims() != trained_on.dims() ||
      given.input_channels() != trained_on.input_channels() || given.output_channels() != trained_on.output_channels()) {
    fail(doing, text(trained_on), text(given), "the model was trained on another kind of data");
  }
}

Prediction predict(OperatorModel& model, const Normaliser& normaliser, const SetDescription& description,
                   const Samples& samples, std::int64_t batch, std::int64_t steps) {
  const torch::NoGradGuard no_grad;
  const Task task = task_of(model);
  const TensorSet set(samples, description, normaliser, model.order_box());
  if (task == Task::autoregressive && samples.output.empty()) {
    fail("predicting", "a set whose output holds the first state", "no output", "an autoregressive model steps from it");
  }
  const std::int64_t channels = description.output_channels();
  Prediction prediction;
  if (task == Task::autoregressive) {
    prediction.frames = 1 + (steps > 0 ? steps : samples.frames - 1);
  } else if (task == Task::time_conditional) {
    prediction.frames = samples.frames;
  }
  prediction.values.resize(static_cast<std::size_t>(samples.first_point(samples.count) * prediction.frames * channels));
  // Writes frame `frame` of the rows, given in the model's order.
  const auto keep = [&](const std::vector<Item>& items, std::int64_t frame, const torch::Tensor& network) {
    const torch::Tensor whole = network.contiguous();
    std::vector<float> physical(static_cast<std::size_t>(whole.numel()));
    normaliser.output.decode({whole.data_ptr<float>(), physical.size()}, physical);
    std::size_t from = 0;
    for (const Item& item : items) {
      const auto size = static_cast<std::size_t>(set.points_of(item.row) * channels);
      const auto to = static_cast<std::size_t>((samples.first_point(item.row) * prediction.frames + frame * set.points_of(item.row)) * channels);
      set.restore_order(item.row, channels, std::span(physical).subspan(from, size), std::span(prediction.values).subspan(to, size));
      from += size;
    }
  };
  for (std::int64_t first = 0; first < samples.count; first += batch) {
    std::vector<Item> items;
    for (std::int64_t row = first; row < std::min(first + batch, samples.count); ++row) items.push_back({row, 0});
    if (task == Task::autoregressive) {
      const torch::Tensor start = encode_output(set.truth(items), normaliser.output);
      keep(items, 0, start);
      roll_out(model, set.batch(items), start, prediction.frames - 1,
               [&](std::int64_t step, const torch::Tensor& state) { keep(items, step, state); });
      continue;
    }
    for (std::int64_t frame = 0; frame < prediction.frames; ++frame) {
      for (Item& item : items) item.frame = frame;
      keep(items, frame, model.forward(set.batch(items)));
    }
  }
  return prediction;
}

}  // namespace lano
