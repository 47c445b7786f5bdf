// The tensors of a LANO by name and shape, in the order of its flat buffer of parameters and of its initial weights.
// Model files, training and kernels all use it.
#pragma once

#include <string>

#include "core/shape.h"
#include "kernels/network.h"
#include "model_spec/lano_config.h"

namespace lano {

// Two linear maps after the sines and cosines of time; empty if the model is not conditioned on time.
template <class T>
struct TimeTensors {
  T first{};        // [C, C]
  T first_bias{};   // [C]
  T second{};       // [C, C]
  T second_bias{};  // [C]
};

template <class T>
struct LanoTensors {
  kernels::NetworkTensors<T> network;
  TimeTensors<T> time;
};

using LanoWeights = LanoTensors<const float*>;
using LanoGradients = LanoTensors<float*>;

// place = f(name, shape) for every tensor that the switches leave in.
template <class T, class F>
LanoTensors<T> make_lano_tensors(const LanoConfig& config, const LanoShape& about, F&& f) {
  const kernels::NetworkShape shape = kernels::network_shape(config, about);
  const std::int64_t c = shape.width, m = shape.agents;
  const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t in, T& weight, T& bias) {
    weight = f(name + ".weight", Shape{out, in});
    bias = f(name + ".bias", Shape{out});
  };
  const auto norm = [&](const std::string& name, T& gain, T& shift) {
    gain = f(name + ".weight", Shape{c});
    shift = f(name + ".bias", Shape{c});
  };
  LanoTensors<T> all;
  kernels::NetworkTensors<T>& n = all.network;
  n.placeholder = f("placeholder", Shape{c});
  linear("encoder1", 2 * c, shape.inputs, n.encoder1, n.encoder1_bias);
  linear("encoder2", c, 2 * c, n.encoder2, n.encoder2_bias);
  for (std::int64_t l = 0; l < config.layers; ++l) {
    const std::string block = "blocks." + std::to_string(l) + ".", attention = block + "attention.";
    kernels::BlockTensors<T> b;
    // One filter per channel, with three taps along each axis: of a line or an order, of a plane, of space.
    const auto filter = [&](std::int64_t channels) {
      Shape sizes(2 + static_cast<std::size_t>(stencil_axes(config, about)), 3);
      sizes[0] = channels;
      sizes[1] = 1;
      return sizes;
    };
    if (config.ffn_stencil) b.ffn_dwc = f(block + "ffn_dwc", filter(shape.feed_forward));
    norm(block + "norm1", b.norm1_gain, b.norm1_shift);
    if (config.dwc) b.dwc = f(attention + "dwc", filter(c));
    if (config.bias != Bias::none) {
      b.bias1 = f(attention + "bias1", Shape{m});
      b.bias2 = f(attention + "bias2", Shape{m});
      b.bias3 = f(attention + "bias3", Shape{m});
      b.bias4 = f(attention + "bias4", Shape{m});
    }
    if (config.exchange) b.exchange = f(attention + "exchange", Shape{config.heads * m, m});
    if (config.agent_tokens == Agents::latent) b.latent = f(attention + "latent", Shape{m, c});
    b.qkv = f(attention + "qkv.weight", Shape{3 * c, c});
    linear(attention + "out", c, c, b.out, b.out_bias);
    norm(block + "norm2", b.norm2_gain, b.norm2_shift);
    linear(block + "ffn1", shape.feed_forward, c, b.ffn1, b.ffn1_bias);
    linear(block + "ffn2", c, shape.feed_forward, b.ffn2, b.ffn2_bias);
    n.blocks.push_back(b);
  }
  norm("norm", n.norm_gain, n.norm_shift);
  if (config.decoder == Decoder::mlp) linear("decoder_hidden", c, c, n.hidden, n.hidden_bias);
  linear("decoder", shape.outputs, c, n.decoder, n.decoder_bias);
  if (config.task == Task::time_conditional) {
    linear("time1", c, c, all.time.first, all.time.first_bias);
    linear("time2", c, c, all.time.second, all.time.second_bias);
  }
  return all;
}

}  // namespace lano
