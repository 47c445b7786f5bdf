// The weights of a network as its products want them: matrices in panels, ahead and (for training) transposed, vectors
// padded.
#include <algorithm>

#include "kernels/network.h"
#include "kernels/network_parts.h"
#include "model_spec/lano_sizes.h"

namespace lano::kernels {

Widths widths_of(const NetworkShape& s) {
  Widths w{};
  w.c = s.width;
  w.padded_width = padded(s.width);
  w.heads = s.heads;
  w.d = s.width / s.heads;
  w.padded_head = padded(w.d);
  w.r = s.feed_forward;
  w.padded_ffn = padded(w.r);
  w.e = 2 * s.width;
  w.padded_encoder = padded(w.e);
  w.inputs = s.inputs;
  w.padded_inputs = padded(s.inputs);
  w.outputs = s.outputs;
  w.padded_outputs = padded(s.outputs);
  w.taps = s.taps;
  w.ffn_taps = s.ffn_taps;
  w.row = w.padded_width + kPad;
  w.wide = std::max({w.padded_ffn, w.padded_encoder, w.padded_outputs}) + kPad;
  return w;
}

std::int64_t groups_of(const Widths& w) {
  const std::int64_t block = (4 * w.c + 2 * w.r) * w.padded_width;
  return std::clamp<std::int64_t>((std::int64_t{1} << 24) / block, 8, 64);
}

namespace {

// Packs matrices and pads vectors into one buffer. Without memory it only measures; with it, jobs are listed and then
// all done in parallel.
class Packer {
 public:
  explicit Packer(float* memory) : carver_(memory) {}
  // W [rows, columns]: y = W x
  float* ahead(const float* matrix, std::int64_t rows, std::int64_t columns) {
    return place({.depth = columns,
                  .columns = padded(rows),
                  .real = rows,
                  .last = padded(rows),
                  .from = matrix,
                  .step = 1,
                  .stride = columns},
                 false);
  }
  // W^T: y = W^T x
  float* back(const float* matrix, std::int64_t rows, std::int64_t columns) {
    return place({.depth = rows,
                  .columns = padded(columns),
                  .real = columns,
                  .last = padded(columns),
                  .from = matrix,
                  .step = columns,
                  .stride = 1},
                 false);
  }
  // The values, and zeros to the pad.
  float* vector(const float* values, std::int64_t size) {
    return place({.depth = 1,
                  .columns = padded(size),
                  .real = size,
                  .last = padded(size),
                  .from = values,
                  .step = 0,
                  .stride = 1},
                 true);
  }
  // [C, taps] -> [taps, Cp]
  float* filter(const float* values, std::int64_t channels, std::int64_t taps) {
    return place({.depth = taps,
                  .columns = padded(channels),
                  .real = channels,
                  .last = padded(channels),
                  .from = values,
                  .step = 1,
                  .stride = taps},
                 true);
  }
  // [maps, n, n] -> [maps, n, np], each transposed or as it is
  float* maps(const float* values, std::int64_t maps, std::int64_t n, bool transposed) {
    float* first = nullptr;
    for (std::int64_t i = 0; i < maps; ++i) {
      float* const to = place({.depth = n,
                               .columns = padded(n),
                               .real = n,
                               .last = padded(n),
                               .from = values + i * n * n,
                               .step = transposed ? 1 : n,
                               .stride = transposed ? n : 1},
                              true);
      if (i == 0) first = to;
    }
    return first;
  }
  void run(const Kernels& k) const {
    parallel_for(static_cast<std::int64_t>(jobs_.size()), [&](std::int64_t i, int) {
      const Packing& p = jobs_[static_cast<std::size_t>(i)].packing;
      if (!jobs_[static_cast<std::size_t>(i)].rows) {
        k.pack(p);
        return;
      }
      for (std::int64_t r = 0; r < p.depth; ++r) {
        for (std::int64_t j = 0; j < p.columns; ++j)
          p.to[r * p.columns + j] = j < p.real ? p.from[r * p.step + j * p.stride] : 0.0f;
      }
    });
  }
  std::int64_t used() const { return carver_.used(); }

 private:
  struct Job {
    Packing packing;
    bool rows;  // plain rows, not panels
  };
  float* place(Packing p, bool rows) {
    p.to = carver_.take(p.depth * p.columns);
    if (p.to != nullptr) jobs_.push_back({p, rows});
    return p.to;
  }
  Carver carver_;
  std::vector<Job> jobs_;
};

void pack_all(PackedWeights& p, const Weights& from, bool training, Packer& packer) {
  const Widths& w = p.w;
  p.encoder1 = packer.ahead(from.encoder1, w.e, w.inputs);
  p.encoder1_bias = packer.vector(from.encoder1_bias, w.e);
  p.encoder2 = packer.ahead(from.encoder2, w.c, w.e);
  p.encoder_bias = packer.vector(from.encoder2_bias, w.c);
  p.norm_gain = packer.vector(from.norm_gain, w.c);
  p.norm_shift = packer.vector(from.norm_shift, w.c);
  p.hidden = from.hidden == nullptr ? nullptr : packer.ahead(from.hidden, w.c, w.c);
  p.hidden_bias = from.hidden == nullptr ? nullptr : packer.vector(from.hidden_bias, w.c);
  p.decoder = packer.ahead(from.decoder, w.outputs, w.c);
  p.decoder_bias = packer.vector(from.decoder_bias, w.outputs);
  if (training) {
    p.encoder1_back = packer.back(from.encoder1, w.e, w.inputs);
    p.encoder2_back = packer.back(from.encoder2, w.c, w.e);
    p.hidden_back = from.hidden == nullptr ? nullptr : packer.back(from.hidden, w.c, w.c);
    p.decoder_back = packer.back(from.decoder, w.outputs, w.c);
  }
  p.blocks.resize(from.blocks.size());
  for (std::size_t l = 0; l < from.blocks.size(); ++l) {
    const BlockTensors<const float*>& t = from.blocks[l];
    PackedBlock& b = p.blocks[l];
    const std::int64_t square = w.c * w.c;
    b.q = packer.ahead(t.qkv, w.c, w.c);
    b.k = packer.ahead(t.qkv + square, w.c, w.c);
    b.v = packer.ahead(t.qkv + 2 * square, w.c, w.c);
    b.out = packer.ahead(t.out, w.c, w.c);
    b.ffn1 = packer.ahead(t.ffn1, w.r, w.c);
    b.ffn2 = packer.ahead(t.ffn2, w.c, w.r);
    if (training) {
      b.q_back = packer.back(t.qkv, w.c, w.c);
      b.k_back = packer.back(t.qkv + square, w.c, w.c);
      b.v_back = packer.back(t.qkv + 2 * square, w.c, w.c);
      b.out_back = packer.back(t.out, w.c, w.c);
      b.ffn1_back = packer.back(t.ffn1, w.r, w.c);
      b.ffn2_back = packer.back(t.ffn2, w.c, w.r);
    }
    b.norm1_gain = packer.vector(t.norm1_gain, w.c);
    b.norm1_shift = packer.vector(t.norm1_shift, w.c);
    b.norm2_gain = packer.vector(t.norm2_gain, w.c);
    b.norm2_shift = packer.vector(t.norm2_shift, w.c);
    b.out_bias = packer.vector(t.out_bias, w.c);
    b.ffn1_bias = packer.vector(t.ffn1_bias, w.r);
    b.ffn2_bias = packer.vector(t.ffn2_bias, w.c);
    b.filter = t.dwc == nullptr ? nullptr : packer.filter(t.dwc, w.c, w.taps);
    b.ffn_filter = t.ffn_dwc == nullptr ? nullptr : packer.filter(t.ffn_dwc, w.r, w.ffn_taps);
    const auto optional = [&](const float* values, std::int64_t size) {
      return values == nullptr ? nullptr : packer.vector(values, size);
    };
    b.bias1 = optional(t.bias1, p.shape.agents);
    b.bias2 = optional(t.bias2, p.shape.agents);
    b.bias3 = optional(t.bias3, p.shape.agents);
    b.bias4 = optional(t.bias4, p.shape.agents);
    b.latent = optional(t.latent, p.shape.agents * w.c);
    b.exchange = t.exchange == nullptr ? nullptr : packer.maps(t.exchange, w.heads, p.shape.agents, true);
    b.exchange_back =
        t.exchange == nullptr || !training ? nullptr : packer.maps(t.exchange, w.heads, p.shape.agents, false);
  }
}

}  // namespace

NetworkShape network_shape(const LanoConfig& config, const LanoShape& shape) {
  NetworkShape network;
  network.heads = config.heads;
  network.width = config.width;
  network.feed_forward = config.ffn_ratio * config.width;
  network.agents = config.agents;
  network.inputs = position_width(config.position, shape.dims) + shape.input_channels;
  network.outputs = shape.output_channels;
  network.bias = config.bias;
  std::int64_t taps = 1;
  for (std::int64_t axis = 0; axis < stencil_axes(config, shape); ++axis) taps *= 3;
  network.taps = config.dwc ? taps : 0;
  network.ffn_taps = config.ffn_stencil ? taps : 0;
  return network;
}

Network::Network(const NetworkShape& shape, const Weights& weights, bool training, const Kernels& kernels)
    : packed_(new PackedWeights{
          shape, widths_of(shape), kernels, Buffer(), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}) {
  Packer measure(nullptr);
  pack_all(*packed_, weights, training, measure);
  packed_->memory = Buffer(measure.used());
  Packer packer(packed_->memory.data());
  pack_all(*packed_, weights, training, packer);
  packer.run(kernels);
  kernels.add(shape.width, 1.0f, weights.placeholder, packed_->encoder_bias);
}

Network::~Network() = default;

}  // namespace lano::kernels
