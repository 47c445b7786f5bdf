// Forward: for each block three rounds over the points, a barrier between them.
//   pool       each agent averages LN(f) over its patch; A = mean Wq
//   gather     a tile of points: LN(f) -> K, V; running softmax over points into Y, unit by unit; then the units are
//   joined
//   scatter    a tile: Q A^T -> softmax over agents -> Y; + stencil of V; output projection, residual, LN,
//   feed-forward, residual
//   feed       where the feed-forward part has a stencil: its second half, once all tiles have their first
// Prediction stores f, V where there is a stencil, and the hidden features where they have one: C, 2C or (2 + r)C
// floats per point. Features and answers pass through tile by tile.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/network.h"
#include "kernels/network_parts.h"

namespace lano::kernels {
namespace {

// One forward pass over a batch; the tape says what is kept.
class Forward {
 public:
  Forward(const PackedWeights& p, Tape& tape, const PointStream& points, const float* time)
      : p_(p),
        w_(p.w),
        k_(p.k),
        tape_(tape),
        points_(points),
        time_(time),
        scratch_(p.w, tape, false),
        partials_(static_cast<std::int64_t>(tape.partition.units.size()) * partial_size()),
        pooled_(static_cast<std::int64_t>(std::max<std::size_t>(1, tape.pool.first_run.size()) - 1) *
                p.w.padded_width) {}

  void run() {
    encode();
    for (std::size_t l = 0; l < p_.blocks.size(); ++l) {
      block_columns(l);
      pool(l);
      gather(l);
      join(l);
      scatter(l);
      if (p_.blocks[l].ffn_filter != nullptr) feed(l);
    }
    if (points_.write) decode();
  }

 private:
  using Index = std::int64_t;

  Index partial_size() const { return w_.heads * (2 + w_.d) * tape_.padded_agents; }

  template <class F>
  void for_units(F&& f) {
    const std::vector<Index>& own = tape_.part->units();
    parallel_for(static_cast<Index>(own.size()), scratch_.threads(), [&](Index i, int thread) {
      const Index u = own[static_cast<std::size_t>(i)];
      const Unit& unit = tape_.partition.units[static_cast<std::size_t>(u)];
      const Sample& sample = tape_.samples[static_cast<std::size_t>(unit.sample)];
      f(u, unit, sample, scratch_.of(thread));
    });
  }

  void encode() {
    BlockState& first = tape_.blocks[0];
    for_units([&](Index, const Unit& unit, const Sample& sample, Scratch& s) {
      const float* column = p_.encoder_bias;
      if (time_ != nullptr) {
        std::memcpy(s.t, p_.encoder_bias, static_cast<std::size_t>(w_.padded_width) * sizeof(float));
        k_.add(w_.c, 1.0f, time_ + unit.sample * w_.c, s.t);
        column = s.t;
      }
      for_tiles(unit, sample, [&](const Tile& t) {
        encode_tile(p_, t.rows, points_.read(t.point, t.rows, s.input), column, first.f + t.point * w_.row,
                    first.stats1 + 2 * t.point, s);
      });
    });
  }

  // The agents' side of the logit biases, at the agents used.
  void block_columns(std::size_t l) {
    BlockState& state = tape_.blocks[l];
    if (state.column1 == nullptr) return;
    const Geometry& g = *tape_.samples[0].geometry;
    const PackedBlock& b = p_.blocks[l];
    const auto fill = [&](const float* vector, float* column) {
      std::fill_n(column, tape_.padded_agents, 0.0f);
      if (vector == nullptr) {
        std::fill_n(column, tape_.m, 1.0f);
      } else if (g.at_agents.empty()) {
        std::copy_n(vector, tape_.m, column);
      } else {
        interpolate(g.at_agents, vector, 0, tape_.m, scratch_.of(0).line, column);
      }
    };
    fill(p_.shape.bias == Bias::outer ? b.bias1 : nullptr, state.column1);
    fill(b.bias4, state.column2);
    for (Index i = 0; i < 2 * tape_.padded_agents; ++i)
      state.logit_column1[i] = static_cast<float>(kLog2E) * state.column1[i];
  }

  void pool(std::size_t l) {
    const PackedBlock& b = p_.blocks[l];
    const BlockState& state = tape_.blocks[l];
    const Index chunks = tape_.padded_agents / kPad;
    const float factor = static_cast<float>(kLog2E / std::sqrt(static_cast<double>(w_.d)));
    if (b.latent == nullptr) {
      pool_units(l);
      pool_patches(l);
    }
    parallel_for(static_cast<Index>(tape_.samples.size()) * chunks, scratch_.threads(), [&](Index task, int) {
      const auto at = static_cast<std::size_t>(task / chunks);
      const AgentState& agents = state.agents[at];
      const Index first = task % chunks * kPad, last = std::min(first + kPad, tape_.m);
      float* const a = agents.a + first * w_.padded_width;
      if (b.latent != nullptr) {
        for (Index m = first; m < last; ++m) {
          std::memcpy(agents.a + m * w_.padded_width, b.latent + m * w_.c,
                      static_cast<std::size_t>(w_.c) * sizeof(float));
          std::fill_n(agents.a + m * w_.padded_width + w_.c, w_.padded_width - w_.c, 0.0f);
        }
      } else {
        k_.gemm({.rows = last - first,
                 .depth = w_.c,
                 .columns = w_.padded_width,
                 .a = agents.pooled + first * w_.padded_width,
                 .a_stride = w_.padded_width,
                 .b = b.q,
                 .c = a,
                 .c_stride = w_.padded_width});
      }
      for (Index h = 0; h < w_.heads; ++h) {
        k_.pack({.depth = w_.d,
                 .columns = tape_.padded_agents,
                 .real = tape_.m,
                 .first = first,
                 .last = last == tape_.m ? tape_.padded_agents : last,
                 .from = agents.a + h * w_.d,
                 .step = 1,
                 .stride = w_.padded_width,
                 .factor = factor,
                 .to = agents.a_ahead + h * w_.d * tape_.padded_agents});
      }
    });
  }

  // The sums of LN(f) over each piece of each patch.
  void pool_units(std::size_t l) {
    const PackedBlock& b = p_.blocks[l];
    const BlockState& state = tape_.blocks[l];
    const PoolPieces& pool = tape_.pool;
    std::vector<std::pair<Index, Index>> own;  // pieces, with their unit
    for (const Index u : tape_.part->units()) {
      for (Index i = pool.first_piece[static_cast<std::size_t>(u)];
           i < pool.first_piece[static_cast<std::size_t>(u) + 1]; ++i)
        own.emplace_back(i, u);
    }
    parallel_for(static_cast<Index>(own.size()), scratch_.threads(), [&](Index task, int thread) {
      Scratch& s = scratch_.of(thread);
      const auto [piece, u] = own[static_cast<std::size_t>(task)];
      const Index sample = tape_.partition.units[static_cast<std::size_t>(u)].sample;
      float* const sum = pooled_.data() + piece * w_.padded_width;
      std::fill_n(sum, w_.padded_width, 0.0f);
      for (Index r = pool.first_run[static_cast<std::size_t>(piece)];
           r < pool.first_run[static_cast<std::size_t>(piece) + 1]; ++r) {
        const PoolPieces::Run& run = pool.runs[static_cast<std::size_t>(r)];
        for (Index k = 0; k < run.count; k += kTile) {
          const Index rows = std::min(kTile, run.count - k);
          const Index point = tape_.samples[static_cast<std::size_t>(sample)].first + run.first + k;
          k_.norm_apply(rows, w_.padded_width, state.f + point * w_.row, w_.row, state.stats1 + 2 * point, b.norm1_gain,
                        b.norm1_shift, s.x, w_.row);
          k_.column_sums(rows, w_.padded_width, s.x, w_.row, sum);
        }
      }
    });
    if (!tape_.part->whole()) tape_.part->turn(pool.first_piece, pooled_.data(), w_.padded_width, columns_);
  }

  // `count` columns of the mean of LN(f) over a patch; piece(i) is where those of piece i lie.
  template <class Piece>
  void add_pieces(std::size_t patch, Index count, const Piece& piece, float* mean) const {
    const PoolPieces& pool = tape_.pool;
    std::fill_n(mean, count, 0.0f);
    for (Index i = pool.first_of_patch[patch]; i < pool.first_of_patch[patch + 1]; ++i) {
      const float* const sum = piece(pool.of_patch[static_cast<std::size_t>(i)]);
      for (Index c = 0; c < count; ++c) mean[c] += sum[c];
    }
    for (Index c = 0; c < count; ++c) mean[c] *= pool.share[patch];
  }

  // The mean of LN(f) over each patch.
  void pool_patches(std::size_t l) {
    const PoolPieces& pool = tape_.pool;
    const Index patches = static_cast<Index>(tape_.samples.size()) * tape_.m;
    const auto mean_of = [&](Index patch) {
      return tape_.blocks[l].agents[static_cast<std::size_t>(patch / tape_.m)].pooled +
             patch % tape_.m * w_.padded_width;
    };
    if (tape_.part->whole()) {
      parallel_for(patches, scratch_.threads(), [&](Index patch, int) {
        add_pieces(
            static_cast<std::size_t>(patch), w_.padded_width,
            [&](Index i) { return pooled_.data() + i * w_.padded_width; }, mean_of(patch));
      });
      return;
    }
    // Each rank takes the means of its columns, for all.
    const Index width = columns_.count;
    std::vector<float> mine(static_cast<std::size_t>(patches * width)),
        all(static_cast<std::size_t>(patches * w_.padded_width));
    parallel_for(patches, scratch_.threads(), [&](Index patch, int) {
      add_pieces(
          static_cast<std::size_t>(patch), width,
          [&](Index i) {
            const Index unit = pool.unit_of[static_cast<std::size_t>(i)];
            return columns_.of(unit, i - pool.first_piece[static_cast<std::size_t>(unit)]);
          },
          mine.data() + patch * width);
    });
    tape_.part->join(mine, w_.padded_width, all);
    for (Index patch = 0; patch < patches; ++patch)
      std::copy_n(all.data() + patch * w_.padded_width, w_.padded_width, mean_of(patch));
  }

  void gather(std::size_t l) {
    const PackedBlock& b = p_.blocks[l];
    const BlockState& state = tape_.blocks[l];
    const Index padded_agents = tape_.padded_agents;
    for_units([&](Index u, const Unit& unit, const Sample& sample, Scratch& s) {
      const AgentState& agents = state.agents[static_cast<std::size_t>(unit.sample)];
      float* const maxima = partials_.data() + u * partial_size();
      float* const sums = maxima + w_.heads * padded_agents;
      float* const y = sums + w_.heads * padded_agents;
      std::fill_n(maxima, w_.heads * padded_agents, -std::numeric_limits<float>::infinity());
      std::fill_n(sums, w_.heads * (1 + w_.d) * padded_agents, 0.0f);
      for_tiles(unit, sample, [&](const Tile& t) {
        k_.norm_apply(t.rows, w_.padded_width, state.f + t.point * w_.row, w_.row, state.stats1 + 2 * t.point,
                      b.norm1_gain, b.norm1_shift, s.x, w_.row);
        const auto linear = [&](const float* matrix, float* to, Index stride) {
          k_.gemm({.rows = t.rows,
                   .depth = w_.c,
                   .columns = w_.padded_width,
                   .a = s.x,
                   .a_stride = w_.row,
                   .b = matrix,
                   .c = to,
                   .c_stride = stride});
        };
        float* const v = state.v != nullptr ? state.v + t.point * w_.row : s.z;
        linear(b.v, v, w_.row);
        float* const keys = state.k != nullptr ? state.k + t.point * w_.row : s.y;
        linear(b.k, keys, w_.row);
        if (state.q != nullptr) linear(b.q, state.q + t.point * w_.row, w_.row);
        const BiasRows rows = bias_rows(p_, b, *sample.geometry, t, s);
        const float* const places = place_rows(*sample.geometry, t, s);
        for (Index h = 0; h < w_.heads; ++h) {
          for (Index r = 0; r < t.rows; r += kAttentionRows) {
            const Index count = std::min(kAttentionRows, t.rows - r);
            const AgentPlaces& at = sample.geometry->places;
            const float* const bias =
                gather_bias(k_, *sample.geometry, h, places == nullptr ? nullptr : places + r * at.features,
                            t.first + r, count, padded_agents, s.logits);
            k_.gemm({.rows = count,
                     .depth = w_.d,
                     .columns = padded_agents,
                     .a = keys + r * w_.row + h * w_.d,
                     .a_stride = w_.row,
                     .b = agents.a_ahead + h * w_.d * padded_agents,
                     .c = s.logits,
                     .c_stride = padded_agents,
                     .plus = bias,
                     .plus_stride = padded_agents,
                     .row = rows.row1 == nullptr ? nullptr : rows.row1 + r,
                     .column = state.logit_column1});
            k_.aggregate(count, padded_agents, s.logits, maxima + h * padded_agents, sums + h * padded_agents, w_.d,
                         y + h * w_.d * padded_agents);
            k_.gemm({.rows = w_.d,
                     .depth = count,
                     .columns = padded_agents,
                     .a = v + r * w_.row + h * w_.d,
                     .a_stride = w_.row,
                     .transposed = true,
                     .b = s.logits,
                     .b_stride = padded_agents,
                     .c = y + h * w_.d * padded_agents,
                     .c_stride = padded_agents,
                     .plus = y + h * w_.d * padded_agents,
                     .plus_stride = padded_agents});
          }
        }
      });
    });
  }

  // Joins what the units of a sample gathered for one head, in their order: columns of agents. part(u, row) is where
  // those of row `row` of unit u's [H (2 + D), Mp] lie, to(row) where the joined ones go: maxima, sums, Y.
  template <class Part, class To>
  void join_head(std::size_t at, Index h, Index columns, const Part& part, const To& to, float* share) const {
    const Index begin = tape_.partition.first_unit[at], end = tape_.partition.first_unit[at + 1];
    float* const maxima = to(h);
    float* const sums = to(w_.heads + h);
    std::fill_n(maxima, columns, -std::numeric_limits<float>::infinity());
    for (Index u = begin; u < end; ++u) {
      const float* const unit_maxima = part(u, h);
      for (Index i = 0; i < columns; ++i) maxima[i] = std::max(maxima[i], unit_maxima[i]);
    }
    std::fill_n(sums, columns, 0.0f);
    for (Index d = 0; d < w_.d; ++d) std::fill_n(to(2 * w_.heads + h * w_.d + d), columns, 0.0f);
    for (Index u = begin; u < end; ++u) {
      const float* const unit_maxima = part(u, h);
      const float* const unit_sums = part(u, w_.heads + h);
      for (Index i = 0; i < columns; ++i) {
        share[i] = std::exp2(unit_maxima[i] - maxima[i]);
        sums[i] += share[i] * unit_sums[i];
      }
      for (Index d = 0; d < w_.d; ++d) {
        const float* const unit_y = part(u, 2 * w_.heads + h * w_.d + d);
        float* const y = to(2 * w_.heads + h * w_.d + d);
        for (Index i = 0; i < columns; ++i) y[i] += share[i] * unit_y[i];
      }
    }
  }

  void join(std::size_t l) {
    const BlockState& state = tape_.blocks[l];
    const Index padded_agents = tape_.padded_agents, m = tape_.m, rows = w_.heads * (2 + w_.d),
                tasks = static_cast<Index>(tape_.samples.size()) * w_.heads;
    const float factor = static_cast<float>(1 / std::sqrt(static_cast<double>(w_.d)));
    const auto joined = [&](std::size_t at, Index row) {
      const AgentState& agents = state.agents[at];
      return row < w_.heads       ? agents.maxima + row * padded_agents
             : row < 2 * w_.heads ? agents.inverse + (row - w_.heads) * padded_agents
                                  : agents.y + (row - 2 * w_.heads) * padded_agents;
    };
    const auto join_all = [&](Index columns, const auto& part, const auto& to) {
      parallel_for(tasks, scratch_.threads(), [&](Index task, int thread) {
        const auto at = static_cast<std::size_t>(task / w_.heads);
        join_head(
            at, task % w_.heads, columns, part, [&](Index row) { return to(at, row); }, scratch_.of(thread).line);
      });
    };
    if (tape_.part->whole()) {
      join_all(
          padded_agents, [&](Index u, Index row) { return partials_.data() + (u * rows + row) * padded_agents; },
          joined);
    } else {
      // Each rank joins its columns, for all.
      std::vector<Index> first_row(tape_.partition.units.size() + 1);
      for (std::size_t u = 0; u < first_row.size(); ++u) first_row[u] = static_cast<Index>(u) * rows;
      tape_.part->turn(first_row, partials_.data(), padded_agents, columns_);
      const Index width = columns_.count, all_rows = static_cast<Index>(tape_.samples.size()) * rows;
      std::vector<float> mine(static_cast<std::size_t>(all_rows * width)),
          all(static_cast<std::size_t>(all_rows * padded_agents));
      join_all(
          width, [&](Index u, Index row) { return columns_.of(u, row); },
          [&](std::size_t at, Index row) { return mine.data() + (static_cast<Index>(at) * rows + row) * width; });
      tape_.part->join(mine, padded_agents, all);
      for (Index row = 0; row < all_rows; ++row)
        std::copy_n(all.data() + row * padded_agents, padded_agents,
                    joined(static_cast<std::size_t>(row / rows), row % rows));
    }
    parallel_for(tasks, scratch_.threads(), [&](Index task, int) {
      const Index h = task % w_.heads;
      const auto at = static_cast<std::size_t>(task / w_.heads);
      const AgentState& agents = state.agents[at];
      float* const inverse = agents.inverse + h * padded_agents;
      float* const y = agents.y + h * w_.d * padded_agents;
      for (Index i = 0; i < padded_agents; ++i) inverse[i] = i < m ? 1.0f / inverse[i] : 0.0f;
      for (Index d = 0; d < w_.d; ++d) {
        for (Index i = 0; i < padded_agents; ++i) y[d * padded_agents + i] *= inverse[i];
      }
      const float* held = y;
      if (const float* const map = p_.blocks[l].exchange; map != nullptr) {
        const AgentPlaces& places = tape_.samples[at].geometry->places;
        float* const exchanged = agents.exchanged + h * w_.d * padded_agents;
        exchange(k_, places, w_.d, y, map + h * places.trained * places.trained_padded,
                 agents.room + h * exchange_room(places, w_.d), exchanged);
        held = exchanged;
      }
      k_.pack({.depth = m,
               .columns = w_.padded_head,
               .real = w_.d,
               .last = w_.padded_head,
               .from = held,
               .step = 1,
               .stride = padded_agents,
               .to = agents.y_ahead + h * m * w_.padded_head});
      if (agents.y_back != nullptr) {
        k_.pack({.depth = w_.d,
                 .columns = padded_agents,
                 .real = m,
                 .last = padded_agents,
                 .from = held,
                 .step = padded_agents,
                 .stride = 1,
                 .to = agents.y_back + h * w_.d * padded_agents});
        k_.pack({.depth = m,
                 .columns = w_.padded_head,
                 .real = w_.d,
                 .last = w_.padded_head,
                 .from = agents.a + h * w_.d,
                 .step = w_.padded_width,
                 .stride = 1,
                 .factor = factor,
                 .to = agents.a_back + h * m * w_.padded_head});
      }
    });
  }

  // The tile of a unit as the last rounds of a block see it.
  ScatterTile tile_of(std::size_t l, const Unit& unit, const Sample& sample, const Tile& t, Scratch& s) {
    const BlockState& state = tape_.blocks[l];
    float* const next_stats = l + 1 < p_.blocks.size() ? tape_.blocks[l + 1].stats1 : tape_.last_stats;
    const float* const places = place_rows(*sample.geometry, t, s);
    const auto row = [&](auto* rows, Index stride) { return rows == nullptr ? nullptr : rows + t.point * stride; };
    return {.rows = t.rows,
            .f = row(state.f, w_.row),
            .mid = row(state.mid, w_.row),
            .next = row(state.next, w_.row),
            .queries = row(state.q, w_.row),
            .z = row(state.z, w_.row),
            .u = row(state.u, w_.wide),
            .h = row(state.h, w_.wide),
            .maxima = row(state.maxima, 1),
            .inverse = row(state.inverse, 1),
            .head_stride = state.maxima == nullptr ? 0 : tape_.total,
            .stats1 = row(state.stats1, 2),
            .stats2 = row(state.stats2, 2),
            .next_stats = row(next_stats, 2),
            .row2 = bias_rows(p_, p_.blocks[l], *sample.geometry, t, s).row2,
            .agents = places == nullptr ? nullptr : &sample.geometry->places,
            .places = places,
            .dropout = tape_.dropout.rate > 0 ? &tape_.dropout : nullptr,
            .sample = unit.sample,
            .block = static_cast<Index>(l),
            .first = t.first};
  }

  void scatter(std::size_t l) {
    const PackedBlock& b = p_.blocks[l];
    const BlockState& state = tape_.blocks[l];
    if (b.filter != nullptr) tape_.part->fetch_halo(state.v, w_.row, w_.padded_width, false);
    for_units([&](Index, const Unit& unit, const Sample& sample, Scratch& s) {
      for_tiles(unit, sample, [&](const Tile& t) {
        const float* const values = state.v == nullptr ? nullptr : state.v + sample.first * w_.row;
        const StencilRows rows{values, w_.row, b.filter, w_.padded_width};
        scatter_tile(
            p_, b, state, state.agents[static_cast<std::size_t>(unit.sample)], tape_.m, tile_of(l, unit, sample, t, s),
            [&](float* out, Index stride) { add_stencil(k_, sample, rows, false, t.first, t.rows, out, stride, s); },
            s);
      });
    });
  }

  void feed(std::size_t l) {
    const PackedBlock& b = p_.blocks[l];
    float* const u = tape_.blocks[l].u;
    tape_.part->fetch_halo(u, w_.wide, w_.padded_ffn, false);
    for_units([&](Index, const Unit& unit, const Sample& sample, Scratch& s) {
      const StencilRows rows{u + sample.first * w_.wide, w_.wide, b.ffn_filter, w_.padded_ffn};
      for_tiles(unit, sample, [&](const Tile& t) {
        feed_tile(
            p_, b, tile_of(l, unit, sample, t, s),
            [&](float* out, Index stride) { add_stencil(k_, sample, rows, false, t.first, t.rows, out, stride, s); },
            s);
      });
    });
  }

  void decode() {
    const float* const f = tape_.blocks.back().next;
    for_units([&](Index, const Unit& unit, const Sample& sample, Scratch& s) {
      for_tiles(unit, sample, [&](const Tile& t) {
        points_.write(t.point, t.rows, decode_tile(p_, t.rows, f + t.point * w_.row, tape_.last_stats + 2 * t.point, s),
                      w_.wide);
      });
    });
  }

  const PackedWeights& p_;
  const Widths& w_;
  const Kernels& k_;
  Tape& tape_;
  const PointStream& points_;
  const float* time_;
  ScratchPool scratch_;
  Buffer partials_, pooled_;
  MeshPart::Columns columns_;
};

}  // namespace

void run_forward(const PackedWeights& packed, Tape& tape, const PointStream& points, const float* time) {
  Forward(packed, tape, points, time).run();
}

}  // namespace lano::kernels
