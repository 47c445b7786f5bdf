// Backward: for each block, from the last to the first, three rounds over the points.
//   feed       where the feed-forward part has a stencil: its second half, whose slopes the stencil's transpose reads
//   scatter    a tile: feed-forward, LN, output projection; then the softmax over agents, recomputed from the saved
//   maxima and
//              sums: dQ, and per unit dY and dA
//   gather     a tile: transposed stencil and the softmax over points, recomputed from the agents' maxima and sums: dV,
//   dK, dA;
//              then dQ, dK, dV through their matrices
//   finish     the agents' gradient goes back to the points of their patches; LN
// Weight gradients are summed by group of units; the groups of a sample are added in order, then the samples.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/error.h"
#include "kernels/network.h"
#include "kernels/network_parts.h"

namespace lano::kernels {
namespace {

using Index = std::int64_t;

// Some columns of a tile, whose rows are `stride` floats apart.
struct Read {
  const float* rows;
  Index columns, stride;
};
struct Write {
  float* rows;
  Index columns, stride;
};

// Gradient sums of a group: where each piece lies in its buffer. Vectors come first: they are cleared together.
struct Slots {
  Index ffn2_bias, ffn1_bias, norm2_gain, norm2_shift, out_bias, norm1_gain, norm1_shift, filter, ffn_filter, column1,
      column2, bias1, bias2, bias3, bias4;
  Index vectors;  // end of the part to clear
  Index ffn2, ffn1, out, q, k, v, latent, exchange;
  Index end_gain, end_shift, hidden_bias, decoder_bias, encoder1_bias,
      encoder_bias;  // encoder and decoder, in a round of their own
  Index end_vectors;
  Index hidden, decoder, encoder1, encoder2;
  Index block_size, end_size;  // of the sums of groups, of a block and of encoder and decoder
  Index size;
};

Slots slots_of(const Widths& w, Index padded_agents, Index trained, bool latent, bool exchange) {
  Slots s{};
  Carver block;
  const auto take = [](Carver& carver, Index size) {
    const Index at = carver.used();
    carver.take(size);
    return at;
  };
  for (Index* slot : {&s.ffn2_bias, &s.norm2_gain, &s.norm2_shift, &s.out_bias, &s.norm1_gain, &s.norm1_shift})
    *slot = take(block, w.padded_width);
  s.ffn1_bias = take(block, w.padded_ffn);
  s.filter = take(block, w.taps * w.padded_width);
  s.ffn_filter = take(block, w.ffn_taps * w.padded_ffn);
  s.column1 = take(block, padded_agents);
  s.column2 = take(block, padded_agents);
  for (Index* slot : {&s.bias1, &s.bias2, &s.bias3, &s.bias4}) *slot = take(block, trained);
  s.vectors = block.used();
  s.ffn2 = take(block, w.c * w.padded_ffn);
  s.ffn1 = take(block, w.r * w.padded_width);
  for (Index* slot : {&s.out, &s.q, &s.k, &s.v}) *slot = take(block, w.c * w.padded_width);
  s.block_size = block.used();  // what follows is of the agents, the same on every rank: no sum of groups
  s.latent = take(block, latent ? padded_agents * w.padded_width : 0);
  s.exchange = take(block, exchange ? w.heads * trained * padded(trained) : 0);
  Carver ends;
  for (Index* slot : {&s.end_gain, &s.end_shift, &s.hidden_bias, &s.encoder_bias}) *slot = take(ends, w.padded_width);
  s.decoder_bias = take(ends, w.padded_outputs);
  s.encoder1_bias = take(ends, w.padded_encoder);
  s.end_vectors = ends.used();
  s.hidden = take(ends, w.c * w.padded_width);
  s.decoder = take(ends, w.outputs * w.padded_width);
  s.encoder1 = take(ends, w.e * w.padded_inputs);
  s.encoder2 = take(ends, w.c * w.padded_encoder);
  s.end_size = ends.used();
  s.size = std::max(block.used(), s.end_size);
  return s;
}

class Backward {
 public:
  Backward(const PackedWeights& p, Tape& tape, const float* input, const float* doutput,
           std::span<const Gradients> gradients, float* dinput, float* dtime)
      : p_(p),
        w_(p.w),
        k_(p.k),
        tape_(tape),
        input_(input),
        doutput_(doutput),
        to_(gradients),
        dinput_(dinput),
        dtime_(dtime),
        trained_(tape.samples[0].geometry->trained_agents),
        slots_(slots_of(p.w, tape.padded_agents, trained_, p.blocks[0].latent != nullptr,
                        p.blocks[0].exchange != nullptr)),
        scratch_(p.w, tape, true),
        sums_(slots_.size * static_cast<Index>(tape.partition.groups.size())),
        units_(static_cast<Index>(tape.partition.units.size()) * unit_size()),
        df_(tape.total * w_.row),
        dz_(tape.total * w_.row),
        dx_(tape.total * w_.row),
        dh_(p.blocks[0].ffn_filter == nullptr ? 0 : tape.total * w_.wide),
        dagents_(static_cast<Index>(tape.samples.size()) * agent_size()),
        dtime_units_(dtime == nullptr ? 0 : static_cast<Index>(tape.partition.units.size()) * w_.padded_width) {
    for (Buffer* rows : {&df_, &dz_, &dx_}) tape.part->expect_own(*rows, w_.row);
    tape.part->expect_own(dh_, w_.wide);
  }

  void run() {
    decoder();
    for (std::size_t l = p_.blocks.size(); l-- > 0;) {
      if (p_.blocks[l].ffn_filter != nullptr) feed(l);
      scatter(l);
      join(l);
      gather(l);
      agents(l);
      finish(l);
      write_block(l);
    }
    encoder();
  }

 private:
  // [H, D, Mp] each: the gradients of Y and of the agents (without 1/sqrt(D)) gathered by a unit.
  Index unit_size() const { return 2 * w_.c * tape_.padded_agents; }
  float* dy_of(Index u) { return units_.data() + u * unit_size(); }
  float* da_of(Index u) { return dy_of(u) + w_.c * tape_.padded_agents; }

  // Of a sample: dY packed both ways and delta for the gather round, then dA and the gradient of the patch means.
  struct SampleGradients {
    float* dy;        // [H, D, Mp] behind the exchange; null without
    float* room;      // [H] of the exchange
    float* dmaps;     // [H, M, Mp] as trained: of the exchange
    float* dy_ahead;  // [H] packed, depth D, columns Mp
    float* dy_back;   // [H] packed, depth M, columns Dp
    float* delta;     // [H, Mp]
    float* da;        // [M, Cp]
    float* pooled;    // [M, Cp]
  };
  SampleGradients carve(Carver& c) const {
    SampleGradients g{};
    const AgentPlaces& places = tape_.samples[0].geometry->places;
    g.dy = places.features == 0 ? nullptr : c.take(w_.c * tape_.padded_agents);
    g.room = c.take(w_.heads * exchange_room(places, w_.d));
    g.dmaps = c.take(w_.heads * places.trained * places.trained_padded);
    g.dy_ahead = c.take(w_.c * tape_.padded_agents);
    g.dy_back = c.take(w_.heads * tape_.m * w_.padded_head);
    g.delta = c.take(w_.heads * tape_.padded_agents);
    g.da = c.take(tape_.m * w_.padded_width);
    g.pooled = c.take(tape_.m * w_.padded_width);
    return g;
  }
  Index agent_size() const {
    Carver measure;
    carve(measure);
    return measure.used();
  }
  SampleGradients of_sample(Index s) {
    Carver carver(dagents_.data() + s * agent_size());
    return carve(carver);
  }

  // f(unit index, unit, sample, group's sums, first unit of the group, scratch)
  template <class F>
  void for_groups(F&& f) {
    const std::vector<Index>& own = tape_.part->groups();
    parallel_for(static_cast<Index>(own.size()), scratch_.threads(), [&](Index i, int thread) {
      const Index g = own[static_cast<std::size_t>(i)];
      const Group& group = tape_.partition.groups[static_cast<std::size_t>(g)];
      for (Index u = group.first; u < group.last; ++u) {
        const Unit& unit = tape_.partition.units[static_cast<std::size_t>(u)];
        f(u, unit, tape_.samples[static_cast<std::size_t>(unit.sample)], sums_.data() + g * slots_.size,
          u == group.first, scratch_.of(thread));
      }
    });
  }

  // sum [columns of d, columns of x] grows by d^T x; begin: it starts there.
  void weight_gradient(Index rows, const Read& d, const Read& x, float* sum, bool begin) const {
    k_.gemm({.rows = d.columns,
             .depth = rows,
             .columns = x.columns,
             .a = d.rows,
             .a_stride = d.stride,
             .transposed = true,
             .b = x.rows,
             .b_stride = x.stride,
             .c = sum,
             .c_stride = x.columns,
             .plus = begin ? nullptr : sum,
             .plus_stride = x.columns});
  }
  // y = x W, W packed, and plus, which lies in rows like those of y.
  void linear(Index rows, const Read& x, const float* matrix, const Write& y, const float* plus = nullptr) const {
    k_.gemm({.rows = rows,
             .depth = x.columns,
             .columns = y.columns,
             .a = x.rows,
             .a_stride = x.stride,
             .b = matrix,
             .c = y.rows,
             .c_stride = y.stride,
             .plus = plus,
             .plus_stride = y.stride});
  }

  void decoder() {
    const float* const f = tape_.blocks.back().next;
    for_groups([&](Index, const Unit& unit, const Sample& sample, float* sums, bool begin, Scratch& s) {
      if (begin) std::fill_n(sums, slots_.end_vectors, 0.0f);
      for_tiles(unit, sample, [&](const Tile& t) {
        const float* const d = doutput_ + t.point * w_.outputs;
        k_.norm_apply(t.rows, w_.padded_width, f + t.point * w_.row, w_.row, tape_.last_stats + 2 * t.point,
                      p_.norm_gain, p_.norm_shift, s.x, w_.row);
        for (Index r = 0; r < t.rows; ++r) {
          for (Index o = 0; o < w_.outputs; ++o) sums[slots_.decoder_bias + o] += d[r * w_.outputs + o];
        }
        linear(t.rows, {d, w_.outputs, w_.outputs}, p_.decoder_back, {s.y, w_.padded_width, w_.row});
        if (p_.hidden != nullptr) {
          k_.gemm({.rows = t.rows,
                   .depth = w_.c,
                   .columns = w_.padded_width,
                   .a = s.x,
                   .a_stride = w_.row,
                   .b = p_.hidden,
                   .c = s.t,
                   .c_stride = w_.row,
                   .column = p_.hidden_bias});
          k_.gelu_backward(t.rows, w_.padded_width, s.t, w_.row, s.z, w_.row, s.y, w_.row);
          weight_gradient(t.rows, {d, w_.outputs, w_.outputs}, {s.z, w_.padded_width, w_.row}, sums + slots_.decoder,
                          begin);
          weight_gradient(t.rows, {s.y, w_.c, w_.row}, {s.x, w_.padded_width, w_.row}, sums + slots_.hidden, begin);
          k_.column_sums(t.rows, w_.padded_width, s.y, w_.row, sums + slots_.hidden_bias);
          linear(t.rows, {s.y, w_.c, w_.row}, p_.hidden_back, {s.t, w_.padded_width, w_.row});
        } else {
          weight_gradient(t.rows, {d, w_.outputs, w_.outputs}, {s.x, w_.padded_width, w_.row}, sums + slots_.decoder,
                          begin);
        }
        float* const df = df_.data() + t.point * w_.row;
        std::fill_n(df, t.rows * w_.row, 0.0f);
        k_.norm_backward(t.rows, w_.c, w_.padded_width, f + t.point * w_.row, w_.row, tape_.last_stats + 2 * t.point,
                         p_.norm_gain, p_.hidden != nullptr ? s.t : s.y, w_.row, df, w_.row, sums + slots_.end_gain,
                         sums + slots_.end_shift);
        begin = false;
      });
    });
    using G = const Gradients&;
    Targets targets{{slots_.end_gain, 1, w_.c, w_.padded_width, [](G g) { return g.norm_gain; }},
                    {slots_.end_shift, 1, w_.c, w_.padded_width, [](G g) { return g.norm_shift; }},
                    {slots_.decoder, w_.outputs, w_.c, w_.padded_width, [](G g) { return g.decoder; }},
                    {slots_.decoder_bias, 1, w_.outputs, w_.padded_outputs, [](G g) { return g.decoder_bias; }}};
    if (p_.hidden != nullptr) {
      targets.push_back({slots_.hidden, w_.c, w_.c, w_.padded_width, [](G g) { return g.hidden; }});
      targets.push_back({slots_.hidden_bias, 1, w_.c, w_.padded_width, [](G g) { return g.hidden_bias; }});
    }
    join_groups(targets, slots_.end_size);
    deliver(targets);
  }

  // The slope of a branch of the tile: df, or what dropout let through of it.
  const float* branch_slope(std::size_t l, Branch which, const Unit& unit, const Tile& t, Scratch& s) {
    const float* const df = df_.data() + t.point * w_.row;
    if (tape_.dropout.rate == 0) return df;
    drop_rows(p_, DropoutMask(tape_.dropout, unit.sample, static_cast<Index>(l), which), t.first, t.rows, df, nullptr,
              s.t, s);
    return s.t;
  }

  // The second half of the feed-forward part: s.wide1 becomes d(before GELU), [rows, wide].
  void feed_slopes(std::size_t l, const Unit& unit, const Tile& t, float* sums, bool begin, Scratch& s) {
    const PackedBlock& b = p_.blocks[l];
    const float* const d = branch_slope(l, Branch::feed_forward, unit, t, s);
    k_.column_sums(t.rows, w_.padded_width, d, w_.row, sums + slots_.ffn2_bias);
    linear(t.rows, {d, w_.c, w_.row}, b.ffn2_back, {s.wide1, w_.padded_ffn, w_.wide});
    k_.gelu_backward(t.rows, w_.padded_ffn, tape_.blocks[l].h + t.point * w_.wide, w_.wide, s.wide2, w_.wide, s.wide1,
                     w_.wide);
    weight_gradient(t.rows, {d, w_.c, w_.row}, {s.wide2, w_.padded_ffn, w_.wide}, sums + slots_.ffn2, begin);
  }

  // Where the feed-forward part has a stencil: d(before GELU) of all points, which its transpose reads.
  void feed(std::size_t l) {
    for_groups([&](Index, const Unit& unit, const Sample& sample, float* sums, bool begin, Scratch& s) {
      if (begin) std::fill_n(sums, slots_.vectors, 0.0f);
      for_tiles(unit, sample, [&](const Tile& t) {
        feed_slopes(l, unit, t, sums, begin, s);
        for (Index r = 0; r < t.rows; ++r) {
          std::memcpy(dh_.data() + (t.point + r) * w_.wide, s.wide1 + r * w_.wide,
                      static_cast<std::size_t>(w_.padded_ffn) * sizeof(float));
        }
        begin = false;
      });
    });
  }

  // s.wide1 = the slope of u: that of h, and through the transposed stencil those of its readers. The filter's gradient
  // grows.
  void feed_stencil(std::size_t l, const Sample& sample, const Tile& t, float* sums, Scratch& s) {
    const PackedBlock& b = p_.blocks[l];
    const StencilRows slopes{dh_.data() + sample.first * w_.wide, w_.wide, b.ffn_filter, w_.padded_ffn};
    const StencilRows values{tape_.blocks[l].u + sample.first * w_.wide, w_.wide, b.ffn_filter, w_.padded_ffn};
    const float* const dh = dh_.data() + t.point * w_.wide;
    for (Index r = 0; r < t.rows; ++r)
      std::memcpy(s.wide1 + r * w_.wide, dh + r * w_.wide, static_cast<std::size_t>(w_.padded_ffn) * sizeof(float));
    add_stencil(k_, sample, slopes, true, t.first, t.rows, s.wide1, w_.wide, s);
    add_stencil_gradient(k_, sample, values, t.first, t.rows, dh, w_.wide, sums + slots_.ffn_filter);
  }

  void scatter(std::size_t l) {
    const PackedBlock& b = p_.blocks[l];
    const BlockState& state = tape_.blocks[l];
    const Index padded_agents = tape_.padded_agents, m = tape_.m;
    const bool fed = b.ffn_filter != nullptr;
    if (fed) tape_.part->fetch_halo(dh_.data(), w_.wide, w_.padded_ffn, true);
    for_groups([&](Index u, const Unit& unit, const Sample& sample, float* sums, bool begin, Scratch& s) {
      if (begin && !fed) std::fill_n(sums, slots_.vectors, 0.0f);
      const AgentState& agents = state.agents[static_cast<std::size_t>(unit.sample)];
      float* const dy = dy_of(u);
      float* const da = da_of(u);
      bool first = true;
      for_tiles(unit, sample, [&](const Tile& t) {
        float* const df = df_.data() + t.point * w_.row;
        const float* const mid = state.mid + t.point * w_.row;
        const float* const stats2 = state.stats2 + 2 * t.point;
        // Feed-forward: wide1 = d(W1 LN(mid) + b1).
        if (fed) {
          feed_stencil(l, sample, t, sums, s);
        } else {
          feed_slopes(l, unit, t, sums, begin, s);
        }
        k_.norm_apply(t.rows, w_.padded_width, mid, w_.row, stats2, b.norm2_gain, b.norm2_shift, s.x, w_.row);
        weight_gradient(t.rows, {s.wide1, w_.r, w_.wide}, {s.x, w_.padded_width, w_.row}, sums + slots_.ffn1, begin);
        k_.column_sums(t.rows, w_.padded_ffn, s.wide1, w_.wide, sums + slots_.ffn1_bias);
        linear(t.rows, {s.wide1, w_.r, w_.wide}, b.ffn1_back, {s.y, w_.padded_width, w_.row});
        k_.norm_backward(t.rows, w_.c, w_.padded_width, mid, w_.row, stats2, b.norm2_gain, s.y, w_.row, df, w_.row,
                         sums + slots_.norm2_gain, sums + slots_.norm2_shift);
        // Output projection.
        const float* const d = branch_slope(l, Branch::attention, unit, t, s);
        k_.column_sums(t.rows, w_.padded_width, d, w_.row, sums + slots_.out_bias);
        weight_gradient(t.rows, {d, w_.c, w_.row}, {state.z + t.point * w_.row, w_.padded_width, w_.row},
                        sums + slots_.out, begin);
        float* const dz = dz_.data() + t.point * w_.row;
        linear(t.rows, {d, w_.c, w_.row}, b.out_back, {dz, w_.padded_width, w_.row});
        // Softmax over agents.
        const BiasRows rows = bias_rows(p_, b, *sample.geometry, t, s);
        const float* const places = place_rows(*sample.geometry, t, s);
        const float* const queries = state.q + t.point * w_.row;
        float* const dq = dx_.data() + t.point * w_.row;
        std::fill_n(s.drow, kTile, 0.0f);
        for (Index h = 0; h < w_.heads; ++h) {
          float* const head_dy = dy + h * w_.d * padded_agents;
          float* const head_da = da + h * w_.d * padded_agents;
          for (Index r = 0; r < t.rows; r += kAttentionRows) {
            const Index count = std::min(kAttentionRows, t.rows - r);
            const float* const q = queries + r * w_.row + h * w_.d;
            const float* const dout = dz + r * w_.row + h * w_.d;
            const bool clear = first && r == 0;
            const float* const near = near_logits(*sample.geometry, h, places, r, count, s);
            k_.gemm({.rows = count,
                     .depth = w_.d,
                     .columns = padded_agents,
                     .a = q,
                     .a_stride = w_.row,
                     .b = agents.a_ahead + h * w_.d * padded_agents,
                     .c = s.logits,
                     .c_stride = padded_agents,
                     .plus = near,
                     .plus_stride = padded_agents,
                     .row = rows.row2 == nullptr ? nullptr : rows.row2 + r,
                     .column = state.logit_column2});
            linear(count, {dout, w_.d, w_.row}, agents.y_back + h * w_.d * padded_agents,
                   {s.dlogits, padded_agents, padded_agents});
            k_.broadcast_backward(count, m, padded_agents, s.logits, s.dlogits,
                                  state.maxima + h * tape_.total + t.point + r,
                                  state.inverse + h * tape_.total + t.point + r,
                                  rows.row2 == nullptr ? nullptr : state.column2, s.drow + r);
            linear(count, {s.dlogits, m, padded_agents}, agents.a_back + h * m * w_.padded_head,
                   {dq + r * w_.row + h * w_.d, w_.padded_head, w_.row});
            weight_gradient(count, {dout, w_.d, w_.row}, {s.logits, padded_agents, padded_agents}, head_dy, clear);
            weight_gradient(count, {q, w_.d, w_.row}, {s.dlogits, padded_agents, padded_agents}, head_da, clear);
            if (state.column2 != nullptr)
              column_gradient(count, s.dlogits, rows.row2 == nullptr ? nullptr : rows.row2 + r, sums + slots_.column2);
          }
        }
        if (rows.row2 != nullptr) {
          interpolate_back(sample.geometry->at_points, s.drow, t.first, t.rows, s.line, sums + slots_.bias3);
        }
        begin = first = false;
      });
    });
  }

  // sum[m] += sum_r row[r] d[r][m]
  void column_gradient(Index rows, const float* d, const float* row, float* sum) const {
    if (row == nullptr) {
      k_.column_sums(rows, tape_.padded_agents, d, tape_.padded_agents, sum);
    } else {
      k_.gemm({.rows = 1,
               .depth = rows,
               .columns = tape_.padded_agents,
               .a = row,
               .a_stride = 1,
               .transposed = true,
               .b = d,
               .b_stride = tape_.padded_agents,
               .c = sum,
               .c_stride = tape_.padded_agents,
               .plus = sum,
               .plus_stride = tape_.padded_agents});
    }
  }

  const float* near_logits(const Geometry& g, Index head, const float* places, Index row, Index rows, Scratch& s) {
    return place_logits(k_, g.places, head, places == nullptr ? nullptr : places + row * g.places.features, rows,
                        s.logits);
  }

  // [units, stride]: the first `size` floats of a sample's units added in order, at its first one.
  void sum_units(float* rows, Index stride, Index size) {
    if (!tape_.part->whole()) return tape_.part->sum_units(rows, stride, size);
    const Index pieces = std::max<Index>(1, size / 1024);
    parallel_for(samples() * pieces, [&](Index task, int) {
      const auto at = static_cast<std::size_t>(task / pieces);
      const Share part = share_of(size, task % pieces, pieces);
      float* const sum = rows + tape_.partition.first_unit[at] * stride + part.first;
      for (Index u = 1; u < tape_.partition.first_unit[at + 1] - tape_.partition.first_unit[at]; ++u) {
        const float* const unit = sum + u * stride;
        for (Index i = 0; i < part.count(); ++i) sum[i] += unit[i];
      }
    });
  }

  // dY of each sample from its units.
  void join(std::size_t l) {
    sum_units(units_.data(), unit_size(), w_.c * tape_.padded_agents);  // dY
    const Index padded_agents = tape_.padded_agents, m = tape_.m, size = w_.d * padded_agents;
    parallel_for(static_cast<Index>(tape_.samples.size()) * w_.heads, [&](Index task, int) {
      const Index sample = task / w_.heads, h = task % w_.heads;
      const auto at = static_cast<std::size_t>(sample);
      const float* dy = dy_of(tape_.partition.first_unit[at]) + h * size;
      const SampleGradients g = of_sample(sample);
      const float* const y = tape_.blocks[l].agents[at].y + h * size;
      if (const float* const map = p_.blocks[l].exchange_back; map != nullptr) {
        const AgentPlaces& places = tape_.samples[at].geometry->places;
        const Index map_size = places.trained * places.trained_padded;
        exchange_backward(k_, places, w_.d, y, dy, map + h * map_size, g.room + h * exchange_room(places, w_.d),
                          g.dy + h * size, g.dmaps + h * map_size);
        dy = g.dy + h * size;
      }
      float* const delta = g.delta + h * padded_agents;
      std::fill_n(delta, padded_agents, 0.0f);
      for (Index d = 0; d < w_.d; ++d) {
        for (Index i = 0; i < m; ++i) delta[i] += y[d * padded_agents + i] * dy[d * padded_agents + i];
      }
      k_.pack({.depth = w_.d,
               .columns = padded_agents,
               .real = m,
               .last = padded_agents,
               .from = dy,
               .step = padded_agents,
               .stride = 1,
               .to = g.dy_ahead + h * size});
      k_.pack({.depth = m,
               .columns = w_.padded_head,
               .real = w_.d,
               .last = w_.padded_head,
               .from = dy,
               .step = 1,
               .stride = padded_agents,
               .to = g.dy_back + h * m * w_.padded_head});
    });
  }

  void gather(std::size_t l) {
    const PackedBlock& b = p_.blocks[l];
    const BlockState& state = tape_.blocks[l];
    const Index padded_agents = tape_.padded_agents, m = tape_.m;
    if (b.filter != nullptr) tape_.part->fetch_halo(dz_.data(), w_.row, w_.padded_width, true);
    for_groups([&](Index u, const Unit& unit, const Sample& sample, float* sums, bool begin, Scratch& s) {
      const AgentState& agents = state.agents[static_cast<std::size_t>(unit.sample)];
      const SampleGradients g = of_sample(unit.sample);
      const Geometry& geometry = *sample.geometry;
      float* const da = da_of(u);
      for_tiles(unit, sample, [&](const Tile& t) {
        const float* const keys = state.k + t.point * w_.row;
        const float* const v = state.v + t.point * w_.row;
        float* const dx = dx_.data() + t.point * w_.row;  // holds dQ
        float* const dk = s.y;
        float* const dv = s.z;
        std::fill_n(dv, t.rows * w_.row, 0.0f);
        if (b.filter != nullptr) {
          const StencilRows slopes{dz_.data() + sample.first * w_.row, w_.row, b.filter, w_.padded_width};
          const StencilRows values{state.v + sample.first * w_.row, w_.row, b.filter, w_.padded_width};
          add_stencil(k_, sample, slopes, true, t.first, t.rows, dv, w_.row, s);
          add_stencil_gradient(k_, sample, values, t.first, t.rows, dz_.data() + t.point * w_.row, w_.row,
                               sums + slots_.filter);
        }
        const BiasRows rows = bias_rows(p_, b, geometry, t, s);
        const float* const places = place_rows(geometry, t, s);
        std::fill_n(s.drow, kTile, 0.0f);
        for (Index h = 0; h < w_.heads; ++h) {
          for (Index r = 0; r < t.rows; r += kAttentionRows) {
            const Index count = std::min(kAttentionRows, t.rows - r);
            const float* const head_k = keys + r * w_.row + h * w_.d;
            const float* const bias =
                gather_bias(k_, geometry, h, places == nullptr ? nullptr : places + r * geometry.places.features,
                            t.first + r, count, padded_agents, s.logits);
            k_.gemm({.rows = count,
                     .depth = w_.d,
                     .columns = padded_agents,
                     .a = head_k,
                     .a_stride = w_.row,
                     .b = agents.a_ahead + h * w_.d * padded_agents,
                     .c = s.logits,
                     .c_stride = padded_agents,
                     .plus = bias,
                     .plus_stride = padded_agents,
                     .row = rows.row1 == nullptr ? nullptr : rows.row1 + r,
                     .column = state.logit_column1});
            linear(count, {v + r * w_.row + h * w_.d, w_.d, w_.row}, g.dy_ahead + h * w_.d * padded_agents,
                   {s.dlogits, padded_agents, padded_agents});
            k_.aggregate_backward(count, padded_agents, s.logits, s.dlogits, agents.maxima + h * padded_agents,
                                  agents.inverse + h * padded_agents, g.delta + h * padded_agents, state.column1,
                                  s.drow + r);
            float* const head_dv = dv + r * w_.row + h * w_.d;
            linear(count, {s.logits, m, padded_agents}, g.dy_back + h * m * w_.padded_head,
                   {head_dv, w_.padded_head, w_.row}, head_dv);
            linear(count, {s.dlogits, m, padded_agents}, agents.a_back + h * m * w_.padded_head,
                   {dk + r * w_.row + h * w_.d, w_.padded_head, w_.row});
            weight_gradient(count, {head_k, w_.d, w_.row}, {s.dlogits, padded_agents, padded_agents},
                            da + h * w_.d * padded_agents, false);
            if (p_.shape.bias == Bias::outer) column_gradient(count, s.dlogits, rows.row1 + r, sums + slots_.column1);
          }
        }
        if (rows.row1 != nullptr)
          interpolate_back(geometry.at_points, s.drow, t.first, t.rows, s.line, sums + slots_.bias2);
        k_.norm_apply(t.rows, w_.padded_width, state.f + t.point * w_.row, w_.row, state.stats1 + 2 * t.point,
                      b.norm1_gain, b.norm1_shift, s.x, w_.row);
        weight_gradient(t.rows, {dx, w_.c, w_.row}, {s.x, w_.padded_width, w_.row}, sums + slots_.q, begin);
        weight_gradient(t.rows, {dk, w_.c, w_.row}, {s.x, w_.padded_width, w_.row}, sums + slots_.k, begin);
        weight_gradient(t.rows, {dv, w_.c, w_.row}, {s.x, w_.padded_width, w_.row}, sums + slots_.v, begin);
        linear(t.rows, {dx, w_.c, w_.row}, b.q_back, {s.t, w_.padded_width, w_.row});
        linear(t.rows, {dk, w_.c, w_.row}, b.k_back, {s.t, w_.padded_width, w_.row}, s.t);
        linear(t.rows, {dv, w_.c, w_.row}, b.v_back, {s.t, w_.padded_width, w_.row}, s.t);
        copy_rows(t.rows, s.t, dx);
        begin = false;
      });
    });
  }

  // dA of each sample from its units, and through A = mean Wq to the means of the patches.
  void agents(std::size_t l) {
    sum_units(da_of(0), unit_size(), w_.c * tape_.padded_agents);
    const PackedBlock& b = p_.blocks[l];
    const Index padded_agents = tape_.padded_agents, m = tape_.m, chunks = padded_agents / kPad;
    const float factor = static_cast<float>(1 / std::sqrt(static_cast<double>(w_.d)));
    parallel_for(static_cast<Index>(tape_.samples.size()) * chunks, [&](Index task, int) {
      const auto at = static_cast<std::size_t>(task / chunks);
      const Index first = task % chunks * kPad, last = std::min(first + kPad, m);
      const SampleGradients g = of_sample(task / chunks);
      const float* const da = da_of(tape_.partition.first_unit[at]);  // [C, Mp]
      for (Index i = first; i < last; ++i) {
        std::fill_n(g.da + i * w_.padded_width, w_.padded_width, 0.0f);
        for (Index c = 0; c < w_.c; ++c) g.da[i * w_.padded_width + c] = factor * da[c * padded_agents + i];
      }
      if (b.latent == nullptr)
        linear(last - first, {g.da + first * w_.padded_width, w_.c, w_.padded_width}, b.q_back,
               {g.pooled + first * w_.padded_width, w_.padded_width, w_.padded_width});
    });
  }

  void finish(std::size_t l) {
    const PackedBlock& b = p_.blocks[l];
    const BlockState& state = tape_.blocks[l];
    for_groups([&](Index, const Unit& unit, const Sample& sample, float* sums, bool, Scratch&) {
      const SampleGradients g = of_sample(unit.sample);
      for_tiles(unit, sample, [&](const Tile& t) {
        float* const dx = dx_.data() + t.point * w_.row;
        for (Index r = 0; b.latent == nullptr && r < t.rows; ++r)
          spread(*sample.geometry, t.first + r, g.pooled, dx + r * w_.row);
        k_.norm_backward(t.rows, w_.c, w_.padded_width, state.f + t.point * w_.row, w_.row, state.stats1 + 2 * t.point,
                         b.norm1_gain, dx, w_.row, df_.data() + t.point * w_.row, w_.row, sums + slots_.norm1_gain,
                         sums + slots_.norm1_shift);
      });
    });
  }

  // dx += the share of a point in the means of its patches.
  void spread(const Geometry& g, Index point, const float* pooled, float* dx) const {
    const auto visit = [&](auto&& self, std::size_t axis, Index rest, Index stride, Index patch, float weight) -> void {
      const Index n = g.pool_shape[axis];
      for (const auto& entry : g.patches_of[axis].of(rest % n)) {
        const Index at = patch + stride * entry.other;
        if (axis == 0) {
          k_.add(w_.padded_width, weight * entry.weight, pooled + at * w_.padded_width, dx);
        } else {
          self(self, axis - 1, rest / n, stride * static_cast<Index>(g.patches[axis].size()), at,
               weight * entry.weight);
        }
      }
    };
    visit(visit, g.pool_shape.size() - 1, point, 1, 0, 1.0f);
  }

  void encoder() {
    for_groups([&](Index u, const Unit& unit, const Sample& sample, float* sums, bool begin, Scratch& s) {
      if (begin) std::fill_n(sums, slots_.end_vectors, 0.0f);
      float* const dtime = dtime_ == nullptr ? nullptr : dtime_units_.data() + u * w_.padded_width;
      if (dtime != nullptr) std::fill_n(dtime, w_.padded_width, 0.0f);
      for_tiles(unit, sample, [&](const Tile& t) {
        const float* const df = df_.data() + t.point * w_.row;
        const float* const input = input_ + t.point * w_.inputs;
        for (Index r = 0; r < t.rows; ++r) {
          std::memcpy(s.input + r * w_.padded_inputs, input + r * w_.inputs,
                      static_cast<std::size_t>(w_.inputs) * sizeof(float));
        }
        k_.gemm({.rows = t.rows,
                 .depth = w_.inputs,
                 .columns = w_.padded_encoder,
                 .a = input,
                 .a_stride = w_.inputs,
                 .b = p_.encoder1,
                 .c = s.wide3,
                 .c_stride = w_.wide,
                 .column = p_.encoder1_bias});
        linear(t.rows, {df, w_.c, w_.row}, p_.encoder2_back, {s.wide1, w_.padded_encoder, w_.wide});
        k_.gelu_backward(t.rows, w_.padded_encoder, s.wide3, w_.wide, s.wide2, w_.wide, s.wide1, w_.wide);
        weight_gradient(t.rows, {df, w_.c, w_.row}, {s.wide2, w_.padded_encoder, w_.wide}, sums + slots_.encoder2,
                        begin);
        k_.column_sums(t.rows, w_.padded_width, df, w_.row, sums + slots_.encoder_bias);
        if (dtime != nullptr) k_.column_sums(t.rows, w_.padded_width, df, w_.row, dtime);
        weight_gradient(t.rows, {s.wide1, w_.e, w_.wide}, {s.input, w_.padded_inputs, w_.padded_inputs},
                        sums + slots_.encoder1, begin);
        k_.column_sums(t.rows, w_.padded_encoder, s.wide1, w_.wide, sums + slots_.encoder1_bias);
        if (dinput_ != nullptr) {
          linear(t.rows, {s.wide1, w_.e, w_.wide}, p_.encoder1_back, {s.input, w_.padded_inputs, w_.padded_inputs});
          for (Index r = 0; r < t.rows; ++r) {
            std::memcpy(dinput_ + (t.point + r) * w_.inputs, s.input + r * w_.padded_inputs,
                        static_cast<std::size_t>(w_.inputs) * sizeof(float));
          }
          std::fill_n(s.input, kTile * w_.padded_inputs, 0.0f);  // the columns beyond the inputs are zeros again
        }
        begin = false;
      });
    });
    using G = const Gradients&;
    const Targets targets{{slots_.encoder1, w_.e, w_.inputs, w_.padded_inputs, [](G g) { return g.encoder1; }},
                          {slots_.encoder1_bias, 1, w_.e, w_.padded_encoder, [](G g) { return g.encoder1_bias; }},
                          {slots_.encoder2, w_.c, w_.e, w_.padded_encoder, [](G g) { return g.encoder2; }},
                          {slots_.encoder_bias, 1, w_.c, w_.padded_width, [](G g) { return g.encoder2_bias; }}};
    join_groups(targets, slots_.end_size);
    deliver(targets);
    if (dtime_ != nullptr) sum_units(dtime_units_.data(), w_.padded_width, w_.padded_width);
    if (dinput_ != nullptr) tape_.part->share_points(dinput_, w_.inputs);
    for (G g : to_) std::copy_n(g.encoder2_bias, w_.c, g.placeholder);  // they are added to each other
    for (std::size_t i = 0; dtime_ != nullptr && i < tape_.samples.size(); ++i) {
      std::copy_n(dtime_units_.data() + tape_.partition.first_unit[i] * w_.padded_width, w_.c,
                  dtime_ + static_cast<Index>(i) * w_.c);
    }
  }

  // A tensor of the gradients: where its sums lie in a group's buffer, and where it goes.
  struct Target {
    Index slot, rows, columns, stride;
    std::function<float*(const Gradients&)> to;
    bool transposed = false;
  };
  using Targets = std::vector<Target>;

  // f(target, first row, last row) for pieces of the targets, in parallel.
  template <class F>
  void for_pieces(const Targets& targets, F&& f) const {
    struct Piece {
      const Target* target;
      Index first, last;
    };
    std::vector<Piece> pieces;
    for (const Target& target : targets) {
      for (Index r = 0; r < target.rows; r += 32) pieces.push_back({&target, r, std::min(r + 32, target.rows)});
    }
    parallel_for(static_cast<Index>(pieces.size()), [&](Index i, int) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      f(*piece.target, piece.first, piece.last);
    });
  }

  // The sums of a sample, once its groups are joined.
  float* sums_of(Index sample) {
    return sums_.data() + tape_.partition.first_group[static_cast<std::size_t>(sample)] * slots_.size;
  }
  Index samples() const { return static_cast<Index>(tape_.samples.size()); }

  // Adds the groups of each sample in order; size: of their sums in use.
  void join_groups(const Targets& targets, Index size) {
    if (!tape_.part->whole()) return tape_.part->sum_groups(sums_.data(), slots_.size, size);
    for_pieces(targets, [&](const Target& t, Index first, Index last) {
      for (Index i = 0; i < samples(); ++i) {
        const Index groups = tape_.partition.first_group[static_cast<std::size_t>(i) + 1] -
                             tape_.partition.first_group[static_cast<std::size_t>(i)];
        float* const sum = sums_of(i) + t.slot + first * t.stride;
        for (Index g = 1; g < groups; ++g) k_.add((last - first) * t.stride, 1.0f, sum + g * slots_.size, sum);
      }
    });
  }

  // Each sample's gradients, or their sum in order, into the tensors.
  void deliver(const Targets& targets) {
    for_pieces(targets, [&](const Target& t, Index first, Index last) {
      for (Index i = 1; to_.size() == 1 && i < samples(); ++i) {
        k_.add((last - first) * t.stride, 1.0f, sums_of(i) + t.slot + first * t.stride,
               sums_of(0) + t.slot + first * t.stride);
      }
      for (std::size_t i = 0; i < to_.size(); ++i) {
        const float* const from = sums_of(static_cast<Index>(i)) + t.slot;
        float* const to = t.to(to_[i]);
        for (Index r = first; r < last; ++r) {
          if (t.transposed) {
            for (Index c = 0; c < t.columns; ++c) to[c * t.rows + r] = from[r * t.stride + c];
          } else {
            std::memcpy(to + r * t.columns, from + r * t.stride, static_cast<std::size_t>(t.columns) * sizeof(float));
          }
        }
      }
    });
  }

  void write_block(std::size_t l) {
    const bool biased = p_.shape.bias != Bias::none, outer = p_.shape.bias == Bias::outer,
               latent = p_.blocks[l].latent != nullptr;
    const Index square = w_.c * w_.c;
    Targets targets;
    const auto add = [&](Index slot, Index rows, Index columns, Index stride, float* BlockTensors<float*>::*tensor,
                         Index offset = 0, bool transposed = false) {
      targets.push_back({slot, rows, columns, stride,
                         [l, tensor, offset](const Gradients& g) { return g.blocks[l].*tensor + offset; }, transposed});
    };
    using B = BlockTensors<float*>;
    add(slots_.q, w_.c, w_.c, w_.padded_width, &B::qkv);
    add(slots_.k, w_.c, w_.c, w_.padded_width, &B::qkv, square);
    add(slots_.v, w_.c, w_.c, w_.padded_width, &B::qkv, 2 * square);
    add(slots_.out, w_.c, w_.c, w_.padded_width, &B::out);
    add(slots_.out_bias, 1, w_.c, w_.padded_width, &B::out_bias);
    add(slots_.ffn1, w_.r, w_.c, w_.padded_width, &B::ffn1);
    add(slots_.ffn1_bias, 1, w_.r, w_.padded_ffn, &B::ffn1_bias);
    add(slots_.ffn2, w_.c, w_.r, w_.padded_ffn, &B::ffn2);
    add(slots_.ffn2_bias, 1, w_.c, w_.padded_width, &B::ffn2_bias);
    add(slots_.norm1_gain, 1, w_.c, w_.padded_width, &B::norm1_gain);
    add(slots_.norm1_shift, 1, w_.c, w_.padded_width, &B::norm1_shift);
    add(slots_.norm2_gain, 1, w_.c, w_.padded_width, &B::norm2_gain);
    add(slots_.norm2_shift, 1, w_.c, w_.padded_width, &B::norm2_shift);
    if (w_.taps > 0) add(slots_.filter, w_.taps, w_.c, w_.padded_width, &B::dwc, 0, true);
    if (w_.ffn_taps > 0) add(slots_.ffn_filter, w_.ffn_taps, w_.r, w_.padded_ffn, &B::ffn_dwc, 0, true);
    if (biased) add(slots_.bias2, 1, trained_, trained_, &B::bias2);
    if (outer) add(slots_.bias3, 1, trained_, trained_, &B::bias3);
    Targets from_groups = targets;
    from_groups.push_back({slots_.column1, 1, tape_.m, tape_.padded_agents, {}});
    from_groups.push_back({slots_.column2, 1, tape_.m, tape_.padded_agents, {}});
    join_groups(from_groups, slots_.block_size);
    if (latent) {
      add_latent();
      add(slots_.latent, tape_.m, w_.c, w_.padded_width, &B::latent);
    } else {
      add_agents_of_queries(l);
    }
    if (p_.blocks[l].exchange != nullptr) {
      add_maps();
      add(slots_.exchange, w_.heads * trained_, trained_, padded(trained_), &B::exchange);
    }
    if (outer) add_agents_side(slots_.column1, slots_.bias1);
    if (biased) add_agents_side(slots_.column2, slots_.bias4);
    if (outer) add(slots_.bias1, 1, trained_, trained_, &B::bias1);
    if (biased) add(slots_.bias4, 1, trained_, trained_, &B::bias4);
    deliver(targets);
    for (const Gradients& g : to_) {
      if (p_.shape.bias != Bias::sum) break;
      // b1 and b3 are constant along their softmax: they take no part, and their gradient is zero.
      std::fill_n(g.blocks[l].bias1, trained_, 0.0f);
      std::fill_n(g.blocks[l].bias3, trained_, 0.0f);
    }
  }

  // A = mean Wq: dWq += dA^T mean, a few rows of it per task.
  void add_agents_of_queries(std::size_t l) {
    const Index chunks = w_.padded_width / kPad;
    parallel_for(samples() * chunks, [&](Index task, int) {
      const Index i = task / chunks, first = task % chunks * kPad, rows = std::min(kPad, w_.c - first);
      float* const sum = sums_of(i) + slots_.q + first * w_.padded_width;
      const AgentState& agents = tape_.blocks[l].agents[static_cast<std::size_t>(i)];
      k_.gemm({.rows = rows,
               .depth = tape_.m,
               .columns = w_.padded_width,
               .a = of_sample(i).da + first,
               .a_stride = w_.padded_width,
               .transposed = true,
               .b = agents.pooled,
               .b_stride = w_.padded_width,
               .c = sum,
               .c_stride = w_.padded_width,
               .plus = sum,
               .plus_stride = w_.padded_width});
    });
  }

  void add_latent() {
    for (Index i = 0; i < samples(); ++i)
      std::copy_n(of_sample(i).da, tape_.m * w_.padded_width, sums_of(i) + slots_.latent);
  }

  void add_maps() {
    for (Index i = 0; i < samples(); ++i)
      std::copy_n(of_sample(i).dmaps, w_.heads * trained_ * padded(trained_), sums_of(i) + slots_.exchange);
  }

  // From the agents used to those trained.
  void add_agents_side(Index column, Index bias) {
    const Geometry& geometry = *tape_.samples[0].geometry;
    for (Index i = 0; i < samples(); ++i) {
      float* const to = sums_of(i) + bias;
      if (geometry.at_agents.empty()) {
        std::copy_n(sums_of(i) + column, tape_.m, to);
      } else {
        std::fill_n(to, trained_, 0.0f);
        interpolate_back(geometry.at_agents, sums_of(i) + column, 0, tape_.m, scratch_.of(0).line, to);
      }
    }
  }

  void copy_rows(Index rows, const float* from, float* to) const {
    for (Index r = 0; r < rows; ++r)
      std::memcpy(to + r * w_.row, from + r * w_.row, static_cast<std::size_t>(w_.padded_width) * sizeof(float));
  }

  const PackedWeights& p_;
  const Widths& w_;
  const Kernels& k_;
  Tape& tape_;
  const float* input_;
  const float* doutput_;
  std::span<const Gradients> to_;
  float* dinput_;
  float* dtime_;
  Index trained_;
  Slots slots_;
  ScratchPool scratch_;
  Buffer sums_, units_, df_, dz_, dx_, dh_, dagents_, dtime_units_;
};

}  // namespace

void Network::backward(Tape& tape, const float* input, const float* doutput, std::span<const Gradients> gradients,
                       float* dinput, float* dtime) const {
  if (gradients.size() != 1 && gradients.size() != tape.samples.size())
    fail("going backwards", "gradients for one sample or for each", std::to_string(gradients.size()));
  Backward(*packed_, tape, input, doutput, gradients, dinput, dtime).run();
}

}  // namespace lano::kernels
