// The smallest LANOs there are, one for each way through the runtime: whole model files to be damaged.
#pragma once

#include <vector>

#include "kernels/network.h"
#include "model_spec/lano_config.h"
#include "runtime/model_file.h"

namespace lano::fuzz {

inline ModelFile tiny_model(Geometry geometry, const Shape& mesh, const LanoConfig& switches) {
  LanoConfig config = switches;
  config.layers = 1;
  config.heads = 2;
  config.width = config.agents = 4;
  config.ffn_ratio = 1;
  ModelFile model;
  SetDescription& set = model.set;
  set.name = "tiny";
  set.geometry = geometry;
  set.shape = mesh;
  const std::size_t dims = geometry == Geometry::points ? 2 : mesh.size();
  const std::vector<double> spacing(geometry == Geometry::grid ? dims : 0, 0.25), origin(spacing.size(), 0.0);
  for (std::size_t a = 0; a < dims; ++a) {
    set.coordinates.push_back({"x", "1"});
    set.box.insert(set.box.end(), {0.0, 1.0});
  }
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  if (config.task != Task::steady) set.time = {0, 0.5, 1};
  set.generator = "{}";
  const LanoShape shape = lano_shape(config, set, spacing, origin);
  model.architecture = to_json(config, shape);
  model.normaliser = {ChannelMap::identity(set.dims()), ChannelMap::identity(1), ChannelMap::identity(1)};
  model.provenance = nlohmann::json::object();
  if (geometry == Geometry::grid) {
    for (std::int64_t p = 0; p < set.points(); ++p) {
      std::int64_t rest = p;
      std::vector<float> at(dims);
      for (std::size_t a = dims; a-- > 0; rest /= mesh[a]) at[a] = 0.25f * static_cast<float>(rest % mesh[a]);
      model.coordinates.insert(model.coordinates.end(), at.begin(), at.end());
    }
  }
  const kernels::NetworkShape network = kernels::network_shape(config, shape);
  const std::int64_t c = network.width, m = network.agents, wide = network.feed_forward;
  const auto add = [&](const std::string& name, const Shape& extents) {
    Tensor tensor{extents, std::vector<float>(static_cast<std::size_t>(element_count(extents)))};
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      tensor.values[i] = 0.125f * static_cast<float>(i % 5) - 0.25f;
    model.weights[name] = std::move(tensor);
  };
  add("encoder1.weight", {2 * c, network.inputs});
  add("encoder1.bias", {2 * c});
  add("encoder2.weight", {c, 2 * c});
  add("encoder2.bias", {c});
  add("placeholder", {c});
  const std::string block = "blocks.0.", attention = block + "attention.";
  for (const char* norm : {"norm1", "norm2"}) {
    add(block + norm + ".weight", {c});
    add(block + norm + ".bias", {c});
  }
  add(attention + "qkv.weight", {3 * c, c});
  if (config.dwc) add(attention + "dwc", {c, network.taps});
  for (const char* bias : {"bias1", "bias2", "bias3", "bias4"}) {
    if (config.bias != Bias::none) add(attention + bias, {m});
  }
  if (config.agent_tokens == Agents::latent) add(attention + "latent", {m, c});
  add(attention + "out.weight", {c, c});
  add(attention + "out.bias", {c});
  add(block + "ffn1.weight", {wide, c});
  add(block + "ffn1.bias", {wide});
  add(block + "ffn2.weight", {c, wide});
  add(block + "ffn2.bias", {c});
  add("norm.weight", {c});
  add("norm.bias", {c});
  if (config.decoder == Decoder::mlp) {
    add("decoder_hidden.weight", {c, c});
    add("decoder_hidden.bias", {c});
  }
  add("decoder.weight", {network.outputs, c});
  add("decoder.bias", {network.outputs});
  if (config.task == Task::time_conditional) {
    for (const char* name : {"time1", "time2"}) {
      add(std::string(name) + ".weight", {c, c});
      add(std::string(name) + ".bias", {c});
    }
  }
  return model;
}

inline std::vector<ModelFile> tiny_models() {
  LanoConfig steady, cloud, sequence, later, stepped, solid, filed;
  cloud.agent_tokens = Agents::latent;
  cloud.bias = Bias::none;
  cloud.decoder = Decoder::mlp;
  sequence.pool = Pool::sequence;
  sequence.bias = Bias::sum;
  sequence.dwc_spacing = DwcSpacing::index;
  later.task = Task::time_conditional;
  later.dwc = false;
  stepped.task = Task::autoregressive;
  stepped.position = Position::reference;
  filed.order = Order::file;
  return {tiny_model(Geometry::grid, {3, 4}, steady),   tiny_model(Geometry::points, {6}, cloud),
          tiny_model(Geometry::mesh, {4, 3}, sequence), tiny_model(Geometry::grid, {5}, later),
          tiny_model(Geometry::grid, {6}, stepped),     tiny_model(Geometry::grid, {2, 2, 2}, solid),
          tiny_model(Geometry::points, {5}, filed)};
}

}  // namespace lano::fuzz
