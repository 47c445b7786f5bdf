// A whole LANO on plain memory: encoder, blocks of agent attention and feed-forward, decoder; prediction in little
// memory, or recording what the backward pass needs. Shapes: P points of all samples together, C width, H heads, D =
// C/H, M agents. No N x M matrix is ever stored: softmaxes are taken tile by tile with running maxima and sums
// (docs/kernels.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/buffer.h"
#include "kernels/dropout.h"
#include "kernels/geometry.h"
#include "kernels/neighbours.h"
#include "kernels/tile_kernels.h"
#include "model_spec/lano_config.h"

namespace lano::kernels {

// The tensors of a block, row-major as in the model file; null where a switch leaves them out. T is a pointer, or a
// handle.
template <class T>
struct BlockTensors {
  T norm1_gain{};   // [C]
  T norm1_shift{};  // [C]
  T qkv{};          // [3C, C]
  T dwc{};          // [C, taps]
  T bias1{};        // [M] as trained, each
  T bias2{};
  T bias3{};
  T bias4{};
  T exchange{};     // [H M, M]
  T latent{};       // [M, C]
  T out{};          // [C, C]
  T out_bias{};     // [C]
  T norm2_gain{};   // [C]
  T norm2_shift{};  // [C]
  T ffn_dwc{};      // [rC, taps]
  T ffn1{};         // [rC, C]
  T ffn1_bias{};    // [rC]
  T ffn2{};         // [C, rC]
  T ffn2_bias{};    // [C]
};

template <class T>
struct NetworkTensors {
  T encoder1{};       // [2C, inputs]
  T encoder1_bias{};  // [2C]
  T encoder2{};       // [C, 2C]
  T encoder2_bias{};  // [C]
  T placeholder{};    // [C]
  std::vector<BlockTensors<T>> blocks;
  T norm_gain{};     // [C]
  T norm_shift{};    // [C]
  T hidden{};        // [C, C], decoder = "mlp"
  T hidden_bias{};   // [C]
  T decoder{};       // [outputs, C]
  T decoder_bias{};  // [outputs]
};

// f(x of a, x of b) for every tensor, in one fixed order.
template <class A, class B, class F>
void for_each_tensor(A& a, B& b, F&& f) {
  f(a.encoder1, b.encoder1);
  f(a.encoder1_bias, b.encoder1_bias);
  f(a.encoder2, b.encoder2);
  f(a.encoder2_bias, b.encoder2_bias);
  f(a.placeholder, b.placeholder);
  for (std::size_t l = 0; l < a.blocks.size(); ++l) {
    auto& x = a.blocks[l];
    auto& y = b.blocks[l];
    f(x.norm1_gain, y.norm1_gain);
    f(x.norm1_shift, y.norm1_shift);
    f(x.qkv, y.qkv);
    f(x.dwc, y.dwc);
    f(x.bias1, y.bias1);
    f(x.bias2, y.bias2);
    f(x.bias3, y.bias3);
    f(x.bias4, y.bias4);
    f(x.latent, y.latent);
    f(x.exchange, y.exchange);
    f(x.out, y.out);
    f(x.out_bias, y.out_bias);
    f(x.norm2_gain, y.norm2_gain);
    f(x.norm2_shift, y.norm2_shift);
    f(x.ffn_dwc, y.ffn_dwc);
    f(x.ffn1, y.ffn1);
    f(x.ffn1_bias, y.ffn1_bias);
    f(x.ffn2, y.ffn2);
    f(x.ffn2_bias, y.ffn2_bias);
  }
  f(a.norm_gain, b.norm_gain);
  f(a.norm_shift, b.norm_shift);
  f(a.hidden, b.hidden);
  f(a.hidden_bias, b.hidden_bias);
  f(a.decoder, b.decoder);
  f(a.decoder_bias, b.decoder_bias);
}

using Weights = NetworkTensors<const float*>;
using Gradients = NetworkTensors<float*>;

struct NetworkShape {
  std::int64_t heads = 1, width = 1, feed_forward = 2, agents = 1;  // H, C, rC, M as trained
  std::int64_t inputs = 1, outputs = 1, taps = 0;                   // taps: 3^axes of the stencil, 0: none
  std::int64_t ffn_taps = 0;                                        // of the feed-forward part's
  Bias bias = Bias::outer;
};

NetworkShape network_shape(const LanoConfig& config, const LanoShape& shape);

struct Sample {
  std::int64_t first = 0;                  // its first point among P
  const Geometry* geometry = nullptr;      // all samples of a call have as many agents
  const Neighbours* neighbours = nullptr;  // of clouds whose stencil reads the nearest points
};

// Where a pass reads the features of its points and leaves its answers, tile by tile, from many threads at once, so
// that neither needs to be held for all points.
struct PointStream {
  // Features of `count` points from `first` on, [count, inputs]: a pointer of its own, or `room`, filled.
  std::function<const float*(std::int64_t first, std::int64_t count, float* room)> read;
  // Answers [count, outputs], in rows of `stride` floats.
  std::function<void(std::int64_t first, std::int64_t count, const float* rows, std::int64_t stride)> write;
  // Where the points are divided over several ranks: a rank writes the answers of its own points only, not of all.
  bool own_alone = false;
};

struct Tape;  // what a recorded forward pass keeps
struct PackedWeights;

class Network {
 public:
  // Packs the weights, which may change afterwards. training: also for record and backward.
  Network(const NetworkShape& shape, const Weights& weights, bool training,
          const Kernels& kernels = kernels::kernels());
  ~Network();

  // input [P, inputs]; time [samples, C], added behind the encoder, or null; output [P, outputs].
  void predict(std::span<const Sample> samples, const float* input, const float* time, float* output) const;
  void predict(std::span<const Sample> samples, const PointStream& points, const float* time) const;
  // dropout: behind attention and feed-forward of every block, in this pass and the backward pass through its tape.
  std::shared_ptr<Tape> record(std::span<const Sample> samples, const float* input, const float* time, float* output,
                               const Dropout& dropout = {}) const;
  // What the agents of one sample hold in every block and, where there is a stencil, its values at the points: against
  // this, other points are decoded. The sample's geometry must live as long. Answers at the points themselves are
  // written where points.write is given.
  std::shared_ptr<const Tape> remember(const Sample& sample, const PointStream& points, const float* time) const;
  // `count` points; index [count, axes]: where each lies on the axes of the remembered points (along their order for
  // clouds), between two or on one. coordinates [count, dims]: where the remembered cloud's stencil reads neighbours.
  void recall(const Tape& memory, std::int64_t count, const double* index, std::span<const float> coordinates,
              const PointStream& points, const float* time) const;
  // Writes all gradients: one for each sample, or where there is but one place their sum, sample by sample in order:
  // the same bits as adding them up afterwards. dinput [P, inputs] and dtime [samples, C] where they are not null.
  // input as recorded.
  void backward(Tape& tape, const float* input, const float* doutput, std::span<const Gradients> gradients,
                float* dinput, float* dtime) const;
  void backward(Tape& tape, const float* input, const float* doutput, const Gradients& sum, float* dinput,
                float* dtime) const {
    backward(tape, input, doutput, std::span(&sum, 1), dinput, dtime);
  }

 private:
  std::unique_ptr<PackedWeights> packed_;
};

}  // namespace lano::kernels
