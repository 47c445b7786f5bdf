#include "train/trained_model.h"

#include <fmt/format.h>

#include "core/error.h"
#include "runtime/lano_weights.h"
#include "train/flat_parameters.h"
#include "train/rollout.h"
#include "train/tensor_set.h"

namespace lano {

TrainedModel load_trained_model(const std::filesystem::path& path) {
  TrainedModel trained{read_model_file(path), nullptr};
  const std::string doing = fmt::format("reading model '{}'", path.string());
  if (trained.file.architecture.is_object() && trained.file.architecture.value("name", "") == "lano") lano_parts(trained.file, doing);  // before a model of that size is built
  trained.model = make_model(trained.file.architecture, 0);
  load_weights(*trained.model, trained.file.weights, doing);
  load_buffers(*trained.model, trained.file.buffers, doing);
  trained.model->eval();
  return trained;
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
