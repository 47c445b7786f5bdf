// The steps of a pass that concern one tile of points, shared by prediction, recording and decoding against a memory.
#include <algorithm>
#include <cstring>

#include "kernels/network_parts.h"

namespace lano::kernels {
namespace {

const TapTable& table_of(const Sample& sample, bool back) {
  if (sample.neighbours != nullptr) return back ? sample.neighbours->table_back() : sample.neighbours->table();
  return back ? sample.geometry->table_back : sample.geometry->table;
}

StencilRuns runs_of(const TapTable& table, const StencilRows& rows, std::int64_t first, std::int64_t count) {
  return {count, table.taps(), table.first(first), table.entries(), rows.values, rows.stride, rows.columns};
}

}  // namespace

ScratchPool::ScratchPool(const Widths& w, const Tape& tape, bool backward) {
  const std::int64_t padded_agents = tape.padded_agents,
                     trained = std::max(tape.samples[0].geometry->trained_agents, padded_agents);
  std::int64_t entries = 1;
  for (const Sample& sample : tape.samples) {
    entries = std::max(entries, sample.geometry->most_taps);
    if (sample.neighbours != nullptr)
      entries = std::max(entries, sample.neighbours->most() << sample.neighbours->dims());
  }
  const auto carve = [&](Carver& c, Scratch& s) {
    for (float** tile : {&s.x, &s.y, &s.z}) *tile = c.take(kTile * w.row);
    s.t = c.take(backward ? kTile * w.row : w.row);
    for (float** tile : {&s.wide1, &s.wide2}) *tile = c.take(kTile * w.wide);
    s.wide3 = c.take(backward ? kTile * w.wide : 0);
    s.places = c.take(kTile * tape.samples[0].geometry->places.features);
    s.logits = c.take(kAttentionRows * padded_agents);
    s.dlogits = c.take(backward ? kAttentionRows * padded_agents : 0);
    for (float** row : {&s.row1, &s.row2, &s.drow, &s.inverse, &s.maxima}) *row = c.take(kTile);
    s.line = c.take(trained);
    s.input = c.take(kTile * w.padded_inputs);
    s.mask = c.take(w.padded_width);
    s.f = c.take(backward ? 0 : kTile * w.row);
    s.stats = c.take(backward ? 0 : 4 * kTile);
  };
  Scratch sizes;
  Carver measure;
  carve(measure, sizes);
  scratch.resize(static_cast<std::size_t>(thread_count()));
  for (Scratch& s : scratch) {
    memory.emplace_back(measure.used());
    std::fill_n(memory.back().data(), measure.used(), 0.0f);
    Carver carver(memory.back().data());
    carve(carver, s);
    s.sources.resize(static_cast<std::size_t>(entries));
    s.filters.resize(static_cast<std::size_t>(entries));
    s.weights.resize(static_cast<std::size_t>(entries));
  }
}

BiasRows bias_rows(const PackedWeights& p, const PackedBlock& block, const Geometry& g, const Tile& tile, Scratch& s) {
  if (p.shape.bias == Bias::none) return {nullptr, nullptr};
  interpolate(g.at_points, block.bias2, tile.first, tile.rows, s.line, s.row1);
  if (p.shape.bias == Bias::sum) return {s.row1, nullptr};
  interpolate(g.at_points, block.bias3, tile.first, tile.rows, s.line, s.row2);
  return {s.row1, s.row2};
}

void add_stencil(const Kernels& k, const Sample& sample, const StencilRows& rows, bool back, std::int64_t first,
                 std::int64_t count, float* out, std::int64_t stride, Scratch& s) {
  const TapTable& table = table_of(sample, back);
  if (!table.empty()) {
    k.stencil_runs(runs_of(table, rows, first, count), rows.filter, out, stride);
    return;
  }
  for (std::int64_t r = 0; r < count; ++r) {
    std::size_t entries = 0;
    for_stencil(*sample.geometry, first + r, [&](std::int64_t row, std::int64_t tap, float weight) {
      s.sources[entries] = rows.values + row * rows.stride;
      s.filters[entries] = rows.filter + tap * rows.columns;
      s.weights[entries++] = weight;
    });
    k.stencil(static_cast<std::int64_t>(entries), s.sources.data(), s.filters.data(), s.weights.data(), rows.columns,
              out + r * stride);
  }
}

void add_stencil_gradient(const Kernels& k, const Sample& sample, const StencilRows& rows, std::int64_t first,
                          std::int64_t count, const float* dout, std::int64_t stride, float* dfilter) {
  k.stencil_runs_backward(runs_of(table_of(sample, false), rows, first, count), dout, stride, dfilter);
}

const float* place_rows(const Geometry& g, const Tile& tile, Scratch& s) {
  if (g.places.features == 0) return nullptr;
  place_features(g.at_points, tile.first, tile.rows, s.places);
  return s.places;
}

const float* gather_bias(const Kernels& k, const Geometry& g, std::int64_t head, const float* places,
                         std::int64_t first, std::int64_t rows, std::int64_t columns, float* logits) {
  const float* bias = place_logits(k, g.places, head, places, rows, logits);
  if (g.cells.empty()) return bias;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float cell = log_cell(g, first + r);
    if (cell == 0) continue;
    if (bias == nullptr) std::fill_n(logits, rows * columns, 0.0f);
    bias = logits;
    for (std::int64_t m = 0; m < columns; ++m) logits[r * columns + m] += cell;
  }
  return bias;
}

void encode_tile(const PackedWeights& p, std::int64_t rows, const float* input, const float* column, float* f,
                 float* stats, Scratch& s) {
  const Widths& w = p.w;
  const Kernels& k = p.k;
  k.gemm({.rows = rows,
          .depth = w.inputs,
          .columns = w.padded_encoder,
          .a = input,
          .a_stride = w.inputs,
          .b = p.encoder1,
          .c = s.wide1,
          .c_stride = w.wide,
          .column = p.encoder1_bias});
  k.gelu(rows, w.padded_encoder, s.wide1, w.wide, s.wide2, w.wide);
  k.gemm({.rows = rows,
          .depth = w.e,
          .columns = w.padded_width,
          .a = s.wide2,
          .a_stride = w.wide,
          .b = p.encoder2,
          .c = f,
          .c_stride = w.row,
          .column = column});
  k.norm_stats(rows, w.c, f, w.row, stats);
}

namespace {

// y = x W + bias, dropped where asked for, + plus
void add_branch(const PackedWeights& p, const ScatterTile& t, Branch which, std::int64_t depth, const float* x,
                std::int64_t x_stride, const float* matrix, const float* bias, const float* plus, float* y,
                Scratch& s) {
  const Widths& w = p.w;
  const bool drops = t.dropout != nullptr;
  p.k.gemm({.rows = t.rows,
            .depth = depth,
            .columns = w.padded_width,
            .a = x,
            .a_stride = x_stride,
            .b = matrix,
            .c = drops ? s.y : y,
            .c_stride = w.row,
            .plus = drops ? nullptr : plus,
            .plus_stride = w.row,
            .column = bias});
  if (drops) drop_rows(p, DropoutMask(*t.dropout, t.sample, t.block, which), t.first, t.rows, s.y, plus, y, s);
}

// next = mid + W2 gelu(h) + b2
void feed(const PackedWeights& p, const PackedBlock& b, const ScatterTile& t, const float* h, Scratch& s) {
  const Widths& w = p.w;
  p.k.gelu(t.rows, w.padded_ffn, h, w.wide, s.wide2, w.wide);
  add_branch(p, t, Branch::feed_forward, w.r, s.wide2, w.wide, b.ffn2, b.ffn2_bias, t.mid, t.next, s);
  p.k.norm_stats(t.rows, w.c, t.next, w.row, t.next_stats);
}

}  // namespace

void scatter_tile(const PackedWeights& p, const PackedBlock& b, const BlockState& state, const AgentState& agents,
                  std::int64_t m, ScatterTile t, const AddStencil& stencil, Scratch& s) {
  const Widths& w = p.w;
  const Kernels& k = p.k;
  const std::int64_t padded_agents = padded(m);
  if (t.queries == nullptr) {
    k.norm_apply(t.rows, w.padded_width, t.f, w.row, t.stats1, b.norm1_gain, b.norm1_shift, s.x, w.row);
    k.gemm({.rows = t.rows,
            .depth = w.c,
            .columns = w.padded_width,
            .a = s.x,
            .a_stride = w.row,
            .b = b.q,
            .c = s.y,
            .c_stride = w.row});
    t.queries = s.y;
  }
  if (t.z == nullptr) t.z = s.z;
  if (t.u == nullptr) t.u = s.wide1;
  if (t.stats2 == nullptr) t.stats2 = s.stats;
  if (t.maxima == nullptr) t.maxima = s.maxima;
  if (t.inverse == nullptr) t.inverse = s.inverse;
  for (std::int64_t r = 0; w.c < w.padded_width && r < t.rows; ++r)
    std::fill(t.z + r * w.row + w.c, t.z + r * w.row + w.padded_width, 0.0f);
  for (std::int64_t h = 0; h < w.heads; ++h) {
    float* const maxima = t.maxima + h * t.head_stride;
    float* const inverse = t.inverse + h * t.head_stride;
    for (std::int64_t r = 0; r < t.rows; r += kAttentionRows) {
      const std::int64_t count = std::min(kAttentionRows, t.rows - r);
      const float* const near = t.agents == nullptr
                                    ? nullptr
                                    : place_logits(k, *t.agents, h, t.places + r * t.agents->features, count, s.logits);
      k.gemm({.rows = count,
              .depth = w.d,
              .columns = padded_agents,
              .a = t.queries + r * w.row + h * w.d,
              .a_stride = w.row,
              .b = agents.a_ahead + h * w.d * padded_agents,
              .c = s.logits,
              .c_stride = padded_agents,
              .plus = near,
              .plus_stride = padded_agents,
              .row = t.row2 == nullptr ? nullptr : t.row2 + r,
              .column = state.logit_column2});
      k.broadcast(count, m, padded_agents, s.logits, maxima + r, inverse + r);
      k.gemm({.rows = count,
              .depth = m,
              .columns = w.padded_head,
              .a = s.logits,
              .a_stride = padded_agents,
              .b = agents.y_ahead + h * m * w.padded_head,
              .c = t.z + r * w.row + h * w.d,
              .c_stride = w.row,
              .scale = inverse + r});
    }
  }
  if (b.filter != nullptr) stencil(t.z, w.row);
  add_branch(p, t, Branch::attention, w.c, t.z, w.row, b.out, b.out_bias, t.f, t.mid, s);
  k.norm_stats(t.rows, w.c, t.mid, w.row, t.stats2);
  k.norm_apply(t.rows, w.padded_width, t.mid, w.row, t.stats2, b.norm2_gain, b.norm2_shift, s.x, w.row);
  k.gemm({.rows = t.rows,
          .depth = w.c,
          .columns = w.padded_ffn,
          .a = s.x,
          .a_stride = w.row,
          .b = b.ffn1,
          .c = t.u,
          .c_stride = w.wide,
          .column = b.ffn1_bias});
  if (b.ffn_filter == nullptr) feed(p, b, t, t.u, s);
}

void feed_tile(const PackedWeights& p, const PackedBlock& b, ScatterTile t, const AddStencil& stencil, Scratch& s) {
  const Widths& w = p.w;
  float* const h = t.h == nullptr ? s.wide1 : t.h;
  for (std::int64_t r = 0; h != t.u && r < t.rows; ++r)
    std::memcpy(h + r * w.wide, t.u + r * w.wide, static_cast<std::size_t>(w.padded_ffn) * sizeof(float));
  stencil(h, w.wide);
  feed(p, b, t, h, s);
}

void drop_rows(const PackedWeights& p, const DropoutMask& mask, std::int64_t first, std::int64_t rows, const float* x,
               const float* plus, float* y, Scratch& s) {
  const Widths& w = p.w;  // columns beyond the width stay zero: the mask is zero there
  for (std::int64_t r = 0; r < rows; ++r) {
    mask.row(first + r, w.c, s.mask);
    const float* const from = x + r * w.row;
    const float* const add = plus == nullptr ? nullptr : plus + r * w.row;
    float* const to = y + r * w.row;
    for (std::int64_t c = 0; c < w.padded_width; ++c) to[c] = s.mask[c] * from[c] + (add == nullptr ? 0.0f : add[c]);
  }
}

const float* decode_tile(const PackedWeights& p, std::int64_t rows, const float* f, const float* stats, Scratch& s) {
  const Widths& w = p.w;
  const Kernels& k = p.k;
  k.norm_apply(rows, w.padded_width, f, w.row, stats, p.norm_gain, p.norm_shift, s.x, w.row);
  const float* features = s.x;
  if (p.hidden != nullptr) {
    k.gemm({.rows = rows,
            .depth = w.c,
            .columns = w.padded_width,
            .a = s.x,
            .a_stride = w.row,
            .b = p.hidden,
            .c = s.y,
            .c_stride = w.row,
            .column = p.hidden_bias});
    k.gelu(rows, w.padded_width, s.y, w.row, s.z, w.row);
    features = s.z;
  }
  k.gemm({.rows = rows,
          .depth = w.c,
          .columns = w.padded_outputs,
          .a = features,
          .a_stride = w.row,
          .b = p.decoder,
          .c = s.wide1,
          .c_stride = w.wide,
          .column = p.decoder_bias});
  return s.wide1;
}

}  // namespace lano::kernels
