// What the forward and backward halves of the network share.
#pragma once

#include <memory>
#include <numbers>
#include <vector>

#include "kernels/buffer.h"
#include "kernels/mesh_part.h"
#include "kernels/network.h"
#include "kernels/partition.h"

namespace lano::kernels {

constexpr double kLog2E = std::numbers::log2e;
constexpr std::int64_t kAttentionRows = 48;  // points whose logits of one head are in the first-level cache together

struct Widths {
  std::int64_t c, d, heads, r, e, inputs, outputs, taps, ffn_taps;  // D = C/H; r = rC, e = 2C: hidden widths
  // The same, padded to whole vectors: Cp, Dp, rCp, ... in comments.
  std::int64_t padded_width, padded_head, padded_ffn, padded_encoder, padded_inputs, padded_outputs;
  // Strides of a row of C values, and of rC or 2C: a vector longer, as heads overrun their columns, and because rows a
  // power of two apart would share few sets of the cache.
  std::int64_t row, wide;
};

Widths widths_of(const NetworkShape& shape);
// Groups of a backward pass: each costs a copy of a block's gradients, so few where blocks are large.
std::int64_t groups_of(const Widths& w);

// Matrices for Kernels::gemm: ahead b(k,j) = W[j][k], back b(k,j) = W[k][j].
struct PackedBlock {
  const float *q, *k, *v, *out, *ffn1, *ffn2;
  const float *q_back, *k_back, *v_back, *out_back, *ffn1_back, *ffn2_back;
  const float *norm1_gain, *norm1_shift, *norm2_gain, *norm2_shift, *out_bias, *ffn1_bias, *ffn2_bias;
  const float* filter;                         // [taps, Cp]
  const float* ffn_filter;                     // [taps, rCp]
  const float *bias1, *bias2, *bias3, *bias4;  // as trained
  const float* latent;
  const float *exchange, *exchange_back;  // [H, M, Mp] as trained: T transposed, and T (training)
};

struct PackedWeights {
  NetworkShape shape;
  Widths w;
  const Kernels& k;
  Buffer memory;
  std::vector<PackedBlock> blocks;
  float* encoder_bias;  // with the placeholder
  const float *encoder1, *encoder2, *encoder1_bias, *hidden, *hidden_bias, *decoder, *decoder_bias, *norm_gain,
      *norm_shift;
  const float *encoder1_back, *encoder2_back, *hidden_back, *decoder_back;
};

// The agents of one sample in one block; [H] pieces, each a head's.
struct AgentState {
  float* pooled;     // [M, Cp] mean of LN(f) over the patch
  float* a;          // [M, Cp] the tokens
  float* a_ahead;    // [H] packed, depth D, columns Mp, with log2(e)/sqrt(D): logits are to the base two
  float* a_back;     // [H] packed, depth M, columns Dp, with 1/sqrt(D)
  float* maxima;     // [H, Mp] of the aggregation
  float* inverse;    // [H, Mp]
  float* y;          // [H, D, Mp] what the agents gathered
  float* exchanged;  // [H, D, Mp] what they hold after the exchange; y where there is none
  float* room;       // [H] of the exchange
  float* y_ahead;    // [H] packed, depth M, columns Dp: of what they hold
  float* y_back;     // [H] packed, depth D, columns Mp
};

// The activations of one block. Prediction keeps f, and v where the stencil reads it: one buffer in, mid and out, the
// others null.
struct BlockState {
  float *f, *mid, *next;                 // [P, row]
  float *q, *k, *v, *z;                  // [P, row]; z: what enters the output projection
  float* u;                              // [P, wide] W1 LN(mid) + b1
  float* h;                              // [P, wide] before the GELU: u, or u and its stencil
  float *stats1, *stats2;                // [P, 2]; stats2 null in prediction
  float *maxima, *inverse;               // [H, P] of the broadcast
  float *column1, *column2;              // [Mp] the agents' side of the logit biases, null without
  float *logit_column1, *logit_column2;  // the same times log2(e)
  std::vector<AgentState> agents;
};

// The points that an agent averages, unit by unit: piece i is those of one patch within one unit, the pieces of a unit
// by rising patch. Sums are taken piece by piece, those of a patch then by rising unit.
struct PoolPieces {
  struct Run {
    std::int64_t first = 0, count = 0;  // points of the sample, along the last axis
  };
  std::vector<Run> runs;
  std::vector<std::int64_t> first_run;    // of each piece; one more at the end
  std::vector<std::int64_t> first_piece;  // of each unit; one more at the end
  std::vector<std::int64_t> unit_of;      // of each piece
  // Of patch m of sample s: its pieces are of_patch[first_of_patch[s M + m]] .. one before the next, by rising unit.
  std::vector<std::int64_t> first_of_patch, of_patch;
  std::vector<float> share;  // of sample s and patch m: 1 / its points
};

struct Tape {
  std::vector<Sample> samples;
  std::vector<std::int64_t> points;
  std::int64_t total = 0, m = 0, padded_agents = 0;
  Partition partition;
  std::unique_ptr<MeshPart> part;  // this rank's
  PoolPieces pool;                 // none where the agents are learned
  std::vector<Buffer> memory;
  std::vector<BlockState> blocks;
  float* last_stats = nullptr;  // [P, 2] of the last f
  Dropout dropout;              // of a recorded pass
};

// One forward pass over the samples of a tape, which says what is kept.
void run_forward(const PackedWeights& packed, Tape& tape, const PointStream& points, const float* time);

PoolPieces pool_pieces(std::span<const Sample> samples, const Partition& partition, std::int64_t agents);

// Tiles of one thread.
struct Scratch {
  float *x, *y, *z;                            // [kTile, row]
  float* t;                                    // [kTile, row] backward, [row] forward
  float *wide1, *wide2, *wide3;                // [kTile, wide]; wide3 backward only
  float* places;                               // [kTile, features of a place]
  float *logits, *dlogits;                     // [kAttentionRows, Mp]; dlogits backward only
  float *row1, *row2, *drow;                   // [kTile]
  float* line;                                 // [trained agents]
  float *inverse, *maxima;                     // [kTile]
  float* input;                                // [kTile, Ip]
  float* mask;                                 // [Cp] of one point
  float *f, *stats;                            // [kTile, row] and [kTile, 4]: points decoded against a memory
  std::vector<const float*> sources, filters;  // of a stencil without a table
  std::vector<float> weights;
};

struct ScratchPool {
  ScratchPool(const Widths& w, const Tape& tape, bool backward);
  Scratch& of(int thread) { return scratch[static_cast<std::size_t>(thread)]; }
  int threads() const { return static_cast<int>(scratch.size()); }
  std::vector<Scratch> scratch;
  std::vector<Buffer> memory;
};

// A tile of a unit, as the loops below see it.
struct Tile {
  std::int64_t first, rows;  // within the sample
  std::int64_t point;        // among P
};

template <class F>
void for_tiles(const Unit& unit, const Sample& sample, F&& f) {
  for (std::int64_t at = 0; at < unit.count; at += unit.tile) {
    f(Tile{unit.first + at, std::min(unit.tile, unit.count - at), sample.first + unit.first + at});
  }
}

// The point's side of the logit biases for a tile into scratch.row1 and row2; null where it is one for all.
struct BiasRows {
  const float *row1, *row2;
};
BiasRows bias_rows(const PackedWeights& p, const PackedBlock& block, const Geometry& g, const Tile& tile, Scratch& s);

// The features of the places of a tile's points into scratch.places; null where agents have no place.
const float* place_rows(const Geometry& g, const Tile& tile, Scratch& s);

// What is added to the logits of a head where agents gather from `rows` points of the sample, the first of them
// `first`, as rows of `columns` into `logits`; places: of these points; null where nothing is.
const float* gather_bias(const Kernels& k, const Geometry& g, std::int64_t head, const float* places,
                         std::int64_t first, std::int64_t rows, std::int64_t columns, float* logits);

// Features [rows, inputs] -> f [rows, row] and its statistics; column: the encoder's last bias, with time.
void encode_tile(const PackedWeights& p, std::int64_t rows, const float* input, const float* column, float* f,
                 float* stats, Scratch& s);

// A tile in the last round of a block. Null pointers of the tape's are replaced by scratch.
struct ScatterTile {
  std::int64_t rows = 0;
  const float* f = nullptr;  // [rows, row]
  float *mid = nullptr, *next = nullptr;
  const float* queries = nullptr;  // null: computed from f
  float *z = nullptr, *u = nullptr, *h = nullptr;
  float *maxima = nullptr, *inverse = nullptr;  // of head h at h head_stride
  std::int64_t head_stride = 0;
  const float* stats1 = nullptr;
  float *stats2 = nullptr, *next_stats = nullptr;
  const float* row2 = nullptr;                    // the points' side of the logit biases
  const AgentPlaces* agents = nullptr;            // null: agents have no place
  const float* places = nullptr;                  // [rows, features]
  const Dropout* dropout = nullptr;               // null: none
  std::int64_t sample = 0, block = 0, first = 0;  // whose mask it is; first: point within the sample
};

// stencil(out, stride): adds the stencil at the tile's points; not asked where the block has no filter.
using AddStencil = std::function<void(float* out, std::int64_t stride)>;
void scatter_tile(const PackedWeights& p, const PackedBlock& block, const BlockState& state, const AgentState& agents,
                  std::int64_t m, ScatterTile tile, const AddStencil& stencil, Scratch& s);

// y[r] = plus[r] + mask of point first + r times x[r]; plus may be null, y may be x.
void drop_rows(const PackedWeights& p, const DropoutMask& mask, std::int64_t first, std::int64_t rows, const float* x,
               const float* plus, float* y, Scratch& s);

// The second half of a block's tile where its feed-forward part has a stencil: it reads u of other tiles.
void feed_tile(const PackedWeights& p, const PackedBlock& block, ScatterTile tile, const AddStencil& stencil,
               Scratch& s);

// LN(f) -> answers in rows of `wide` floats; returns them.
const float* decode_tile(const PackedWeights& p, std::int64_t rows, const float* f, const float* stats, Scratch& s);

// What a stencil reads: rows of `stride` floats of one sample, and a filter [taps, columns].
struct StencilRows {
  const float* values;
  std::int64_t stride;
  const float* filter;
  std::int64_t columns;
};

// out (rows of `stride` floats) grows by the stencil at the points first .. first + count - 1 of a sample. back: by the
// transposed one, of a recorded pass.
void add_stencil(const Kernels& k, const Sample& sample, const StencilRows& rows, bool back, std::int64_t first,
                 std::int64_t count, float* out, std::int64_t stride, Scratch& s);
// dfilter [taps, columns] grows by the gradient of a recorded pass.
void add_stencil_gradient(const Kernels& k, const Sample& sample, const StencilRows& rows, std::int64_t first,
                          std::int64_t count, const float* dout, std::int64_t stride, float* dfilter);

}  // namespace lano::kernels
