// Model files with random weights, made without LibTorch.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/random.h"
#include "kernels/network.h"
#include "model_spec/lano_sizes.h"
#include "runtime/model_file.h"

namespace lano::test {

inline std::vector<float> uniform(std::size_t size, std::uint64_t seed, double scale = 1) {
  RandomStream stream(seed, Purpose::test);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(scale * (2 * stream.uniform() - 1));
  return values;
}

inline ChannelMap some_scaling(std::int64_t channels) {
  std::vector<double> shift, scale;
  for (std::int64_t c = 0; c < channels; ++c) {
    shift.push_back(0.1 + 0.2 * static_cast<double>(c));
    scale.push_back(1.5 + 0.5 * static_cast<double>(c));
  }
  return {shift, scale};
}

// spacing, origin: of the uniform grid of training, else empty.
inline ModelFile random_model(const LanoConfig& config, const SetDescription& set,
                              const std::vector<double>& spacing = {}, const std::vector<double>& origin = {},
                              const MeanField& mean_mesh = {}, const MeanField& mean_output = {}) {
  LanoShape shape = lano_shape(config, set, spacing, origin);
  shape.input_channels += mean_mesh.channels();
  const kernels::NetworkShape n = kernels::network_shape(config, shape);
  ModelFile file;
  file.architecture = to_json(config, shape);
  file.set = set;
  file.normaliser = {some_scaling(set.dims()), some_scaling(set.input_channels()), some_scaling(set.output_channels())};
  file.normaliser.mean_mesh = mean_mesh;
  file.normaliser.mean_output = mean_output;
  std::uint64_t seed = 100;
  const auto add = [&](const std::string& name, Shape sizes, double centre = 0, double scale = 0) {
    const auto count = static_cast<std::size_t>(element_count(sizes));
    Tensor tensor{sizes,
                  uniform(count, ++seed,
                          scale > 0 ? scale : 1.7 / std::sqrt(static_cast<double>(sizes.size() > 1 ? sizes[1] : 4)))};
    for (float& value : tensor.values) value += static_cast<float>(centre);
    file.weights.emplace(name, std::move(tensor));
  };
  const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out}, 0, 0.2);
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {n.width}, 1, 0.3);
    add(name + ".bias", {n.width}, 0, 0.3);
  };
  linear("encoder1", 2 * n.width, n.inputs);
  linear("encoder2", n.width, 2 * n.width);
  add("placeholder", {n.width}, 0, 0.1);
  for (std::int64_t l = 0; l < config.layers; ++l) {
    const std::string block = "blocks." + std::to_string(l) + ".", attention = block + "attention.";
    norm(block + "norm1");
    add(attention + "qkv.weight", {3 * n.width, n.width});
    Shape stencil{n.width, 1};
    stencil.insert(stencil.end(), static_cast<std::size_t>(stencil_axes(config, shape)), 3);
    if (config.dwc) add(attention + "dwc", stencil, 0, 0.4);
    stencil[0] = n.feed_forward;
    if (config.ffn_stencil) add(block + "ffn_dwc", stencil, 0, 0.4);
    for (int b = 1; config.bias != Bias::none && b <= 4; ++b)
      add(attention + "bias" + std::to_string(b), {n.agents}, 0, 1);
    if (config.exchange) add(attention + "exchange", {config.heads * n.agents, n.agents}, 0, 0.3);
    if (config.agent_tokens == Agents::latent) add(attention + "latent", {n.agents, n.width}, 0, 1);
    linear(attention + "out", n.width, n.width);
    norm(block + "norm2");
    linear(block + "ffn1", n.feed_forward, n.width);
    linear(block + "ffn2", n.width, n.feed_forward);
  }
  norm("norm");
  if (config.decoder == Decoder::mlp) linear("decoder_hidden", n.width, n.width);
  linear("decoder", n.outputs, n.width);
  if (config.task == Task::time_conditional) {
    linear("time1", n.width, n.width);
    linear("time2", n.width, n.width);
  }
  return file;
}

inline SetDescription set_of(Geometry geometry, Shape shape, std::int64_t dims, std::int64_t da, std::int64_t du) {
  SetDescription set;
  set.name = "made up";
  set.geometry = geometry;
  set.shape = std::move(shape);
  for (std::int64_t d = 0; d < dims; ++d) {
    set.coordinates.push_back({"x" + std::to_string(d), "1"});
    set.box.insert(set.box.end(), {0.0, 1.0});
  }
  for (std::int64_t d = 0; d < da; ++d) set.input.push_back({"a" + std::to_string(d), "1"});
  for (std::int64_t d = 0; d < du; ++d) set.output.push_back({"u" + std::to_string(d), "1"});
  return set;
}

// The points of a uniform grid on the unit box, [N, axes].
inline std::vector<float> grid_points(const Shape& shape) {
  std::vector<float> points;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    std::vector<float> x(shape.size());
    std::int64_t rest = i;
    for (std::size_t a = shape.size(); a-- > 0; rest /= shape[a])
      x[a] = static_cast<float>(rest % shape[a]) / static_cast<float>(shape[a] - 1);
    points.insert(points.end(), x.begin(), x.end());
  }
  return points;
}

}  // namespace lano::test
