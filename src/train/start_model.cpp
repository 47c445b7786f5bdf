#include "train/start_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "model_spec/architecture.h"

namespace lano {

TrainConfig with_start(TrainConfig config, const ModelFile& start) {
  LanoShape shape;
  config.model = architecture_name(start.architecture);
  if (is_lano(config.model)) {
    lano_from_json(start.architecture, config.lano, shape);
  } else {
    baseline_from_json(start.architecture, config.baseline, shape);
    const BaselineConfig& b = config.baseline;
    config.lano.layers = b.layers;
    config.lano.heads = b.heads;
    config.lano.width = b.width;
    config.lano.ffn_ratio = b.ffn_ratio;
    config.lano.dropout = b.dropout;
    config.lano.position = b.position;
    config.lano.task = b.task;
    config.lano.state_frames = b.state_frames;
  }
  config.times = start.set.channel_times.empty() ? Times::frames : Times::channels;
  const Normaliser& map = start.normaliser;
  config.increments = !map.increment.empty();
  if (config.lano.task != Task::autoregressive) config.noise = 0;
  config.displacement = !map.mean_mesh.empty();
  if (config.output == Scaling::field && map.mean_output.empty()) config.output = Scaling::channel;
  if (!map.mean_output.empty()) config.output = Scaling::field;
  return config;
}

Normaliser start_normaliser(const ModelFile& start, const SetDescription& set) {
  Normaliser map = start.normaliser;
  const std::vector<bool>& periodic = start.set.periodic;
  if (MeanField& mesh = map.mean_mesh; !mesh.empty() && mesh.shape() != set.shape)
    mesh = MeanField(set.shape, mesh.continued(set.shape, periodic), mesh.scale());
  if (MeanField& output = map.mean_output; !output.empty() && output.shape() != set.shape)
    output = MeanField(set.shape, output.resampled(set.shape, periodic), output.scale());
  return map;
}

void load_start(const ModelFile& start, Trainable& model, const std::string& path) {
  const std::string doing = fmt::format("starting from '{}'", path);
  std::size_t at = 0;
  for (const auto& [name, shape] : model.layout()) {
    const auto tensor = start.weights.find(name);
    if (tensor == start.weights.end())
      fail_plainly(doing, fmt::format("tensor '{}' is missing", name), "the file is damaged");
    if (tensor->second.shape != shape)
      fail(doing, fmt::format("a tensor '{}' {}", name, shape_text(shape)), shape_text(tensor->second.shape),
           "the file is damaged");
    std::copy(tensor->second.values.begin(), tensor->second.values.end(),
              model.values().begin() + static_cast<std::ptrdiff_t>(at));
    at += tensor->second.values.size();
  }
  if (start.weights.size() != model.layout().size())
    fail(doing, fmt::format("{} tensors", model.layout().size()), std::to_string(start.weights.size()),
         "the file is of another model");
  model.load_buffers(start.buffers, doing);
}

std::string start_text(const TrainConfig& config) {
  return fmt::format("that of '{}', its normaliser {}", config.from,
                     config.from_normaliser == StartScaling::keep ? "kept" : "fitted to the new dataset");
}

}  // namespace lano
