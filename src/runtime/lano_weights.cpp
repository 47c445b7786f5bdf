#include "runtime/lano_weights.h"

#include <fmt/format.h>

#include "core/error.h"

namespace lano {
namespace {

LanoWeights lano_weights(const LanoConfig& config, const LanoShape& shape, const std::map<std::string, Tensor>& tensors, const std::string& doing) {
  constexpr const char* kAdvice = "the file is damaged: copy it again";
  // Sizes beyond these are no model, and their products would not fit in 64 bits.
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (config.layers > static_cast<std::int64_t>(tensors.size()) || config.width > kMost || config.agents > kMost || config.ffn_ratio > kMost ||
      shape.dims > 3 || shape.input_channels > kMost || shape.output_channels > kMost) {
    fail(doing, "an architecture of the size of its weights", "another", kAdvice);
  }
  const kernels::NetworkShape network = kernels::network_shape(config, shape);
  const std::int64_t c = network.width, m = network.agents, wide = network.feed_forward;
  std::size_t used = 0;
  // The tensor's values; the stencil's axes may be written apart ([C, 3, 3]), so sizes are compared behind the first axis.
  const auto tensor = [&](const std::string& name, std::int64_t rows, std::int64_t columns = 1) -> const float* {
    const auto found = tensors.find(name);
    if (found == tensors.end()) fail(doing, fmt::format("a tensor '{}'", name), "none", "the file is of another model");
    const Shape& given = found->second.shape;
    std::int64_t behind = 1;
    for (std::size_t a = 1; a < given.size(); ++a) behind *= given[a];
    if (given.empty() || given[0] != rows || behind != columns) {
      fail(doing, fmt::format("'{}' of {} rows of {}", name, rows, columns), shape_text(given), kAdvice);
    }
    ++used;
    return found->second.values.data();
  };
  LanoWeights w;
  w.network.encoder1 = tensor("encoder1.weight", 2 * c, network.inputs);
  w.network.encoder1_bias = tensor("encoder1.bias", 2 * c);
  w.network.encoder2 = tensor("encoder2.weight", c, 2 * c);
  w.network.encoder2_bias = tensor("encoder2.bias", c);
  w.network.placeholder = tensor("placeholder", c);
  for (std::int64_t l = 0; l < config.layers; ++l) {
    const std::string block = fmt::format("blocks.{}.", l), attention = block + "attention.";
    kernels::BlockTensors<const float*> b;
    b.norm1_gain = tensor(block + "norm1.weight", c);
    b.norm1_shift = tensor(block + "norm1.bias", c);
    b.qkv = tensor(attention + "qkv.weight", 3 * c, c);
    if (config.dwc) b.dwc = tensor(attention + "dwc", c, network.taps);
    if (config.bias != Bias::none) {
      b.bias1 = tensor(attention + "bias1", m);
      b.bias2 = tensor(attention + "bias2", m);
      b.bias3 = tensor(attention + "bias3", m);
      b.bias4 = tensor(attention + "bias4", m);
    }
    if (config.agent_tokens == Agents::latent) b.latent = tensor(attention + "latent", m, c);
    b.out = tensor(attention + "out.weight", c, c);
    b.out_bias = tensor(attention + "out.bias", c);
    b.norm2_gain = tensor(block + "norm2.weight", c);
    b.norm2_shift = tensor(block + "norm2.bias", c);
    b.ffn1 = tensor(block + "ffn1.weight", wide, c);
    b.ffn1_bias = tensor(block + "ffn1.bias", wide);
    b.ffn2 = tensor(block + "ffn2.weight", c, wide);
    b.ffn2_bias = tensor(block + "ffn2.bias", c);
    w.network.blocks.push_back(b);
  }
  w.network.norm_gain = tensor("norm.weight", c);
  w.network.norm_shift = tensor("norm.bias", c);
  if (config.decoder == Decoder::mlp) {
    w.network.hidden = tensor("decoder_hidden.weight", c, c);
    w.network.hidden_bias = tensor("decoder_hidden.bias", c);
  }
  w.network.decoder = tensor("decoder.weight", network.outputs, c);
  w.network.decoder_bias = tensor("decoder.bias", network.outputs);
  if (config.task == Task::time_conditional) w.time = {tensor("time1.weight", c, c), tensor("time1.bias", c), tensor("time2.weight", c, c), tensor("time2.bias", c)};
  if (used != tensors.size()) fail(doing, fmt::format("{} tensors", used), std::to_string(tensors.size()), "the file is of another model");
  return w;
}

}  // namespace

LanoParts lano_parts(const ModelFile& file, const std::string& doing) {
  LanoParts parts;
  lano_from_json(file.architecture, parts.config, parts.shape);
  const SetDescription& set = file.set;
  const LanoShape& shape = parts.shape;
  const std::int64_t state = parts.config.task == Task::autoregressive ? set.output_channels() : 0;
  if (shape.dims != set.dims() || shape.input_channels != set.input_channels() + state || shape.output_channels != set.output_channels()) {
    fail(doing, "an architecture with the channels of its fields", "another number of channels", "the file is damaged: copy it again");
  }
  if (set.geometry != Geometry::points && set.shape != shape.mesh) {
    fail(doing, "an architecture with the mesh of its set", fmt::format("{} and {}", shape_text(shape.mesh), shape_text(set.shape)), "the file is damaged: copy it again");
  }
  if (!file.buffers.empty()) fail(doing, "a LANO, which has no running statistics", std::to_string(file.buffers.size()), "the file is of another model");
  parts.weights = lano_weights(parts.config, shape, file.weights, doing);
  return parts;
}

}  // namespace lano
