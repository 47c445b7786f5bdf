#include "train/trained_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/baseline_config.h"
#include "core/error.h"
#include "core/model_catalogue.h"
#include "runtime/lano_weights.h"
#include "train/flat_parameters.h"
#include "train/rollout.h"
#include "train/tensor_budget.h"
#include "train/tensor_set.h"

namespace lano {
namespace {

constexpr const char* kDamaged = "the file is damaged: copy it again";

// What the fields and the number of tensors say about a baseline's sizes; the rest is up to its constructor, under a budget.
void check_baseline(const ModelFile& file, const std::string& doing) {
  BaselineConfig config;
  LanoShape shape;
  baseline_from_json(file.architecture, config, shape);
  const std::int64_t state = config.task == Task::autoregressive ? file.set.output_channels() : 0;
  if (shape.dims != file.set.dims() || shape.input_channels != file.set.input_channels() + state || shape.output_channels != file.set.output_channels()) {
    fail(doing, "an architecture with the channels of its fields", "another number of channels", kDamaged);
  }
  constexpr std::int64_t kMostPoints = std::int64_t{1} << 40;
  if (shape.points < 0 || shape.points > kMostPoints) fail(doing, fmt::format("points of at most {}", kMostPoints), std::to_string(shape.points), kDamaged);
  const ModelInfo* const info = find_model(config.name);
  for (const auto& [key, parts] : {std::pair("model.layers", config.layers), std::pair("model.experts", config.experts)}) {  // each has tensors of its own
    if (info != nullptr && reads_key(*info, key) && parts > static_cast<std::int64_t>(file.weights.size())) {
      fail(doing, fmt::format("{} of at most the {} tensors there are", key, file.weights.size()), std::to_string(parts), kDamaged);
    }
  }
}

// First weights are drawn in place or in a few steps: eight times what the file holds is ample, and a small model needs next to nothing more.
std::shared_ptr<OperatorModel> make_model_of_size(const ModelFile& file, const std::string& doing) {
  constexpr std::size_t kTimes = 8, kMore = std::size_t{64} << 20;
  std::size_t numbers = 0;
  for (const auto* const tensors : {&file.weights, &file.buffers}) {
    for (const auto& [name, tensor] : *tensors) numbers += tensor.values.size();
  }
  const TensorBudget budget(kTimes * sizeof(float) * numbers + kMore);
  try {
    return make_model(file.architecture, 0);
  } catch (const OverBudget&) {
    fail(doing, "an architecture of the size of its weights", "a larger one", kDamaged);
  } catch (const c10::Error&) {  // sizes whose product does not fit in 64 bits
    fail(doing, "an architecture of the size of its weights", "one that cannot be built", kDamaged);
  }
}

}  // namespace

TrainedModel load_trained_model(const std::filesystem::path& path) {
  TrainedModel trained{read_model_file(path), nullptr};
  const std::string doing = fmt::format("reading model '{}'", path.string());
  const std::string name = trained.file.architecture.is_object() ? trained.file.architecture.value("name", "") : "";
  const std::vector<std::string> known = model_names();
  if (name == "lano") {
    lano_parts(trained.file, doing);  // before a model of that size is built
  } else if (std::find(known.begin(), known.end(), name) != known.end()) {
    check_baseline(trained.file, doing);
  }
  trained.model = make_model_of_size(trained.file, doing);
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
