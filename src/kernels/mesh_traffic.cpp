// Per block, with R ranks, U units, P pieces of patches, G groups, S floats of a block's gradients, h points of halo:
//   pooling    pieces by columns (P - own) C/R, means M C (R-1)/R
//   joining    units by columns (U - own) H (2+D) M/R, the joined H (2+D) M (R-1)/R
//   stencil    h C, and h rC where the feed-forward part has one
//   backward   dY and dA: (U - own) C M/R + C M (R-1)/R each; gradients (G - own) S/R + S (R-1)/R; the halo again
#include "kernels/mesh_traffic.h"

#include <numeric>

#include "core/ranks.h"
#include "kernels/network_parts.h"

namespace lano::kernels {
namespace {

class Plan {
 public:
  Plan(const NetworkShape& shape, const Sample& sample, int ranks, bool training)
      : w_(widths_of(shape)), agents_(sample.geometry->agents), mp_(padded(agents_)), ranks_(ranks) {
    const std::int64_t points = sample.geometry->points;
    // The groups of a backward pass are those of make_tape.
    partition_ = divide({points}, training ? kTrainingUnit : kPredictionUnit, groups_of(w_));
    const Sample samples[] = {sample};
    const PoolPieces pool = pool_pieces(samples, partition_, agents_);
    const Share units =
        training ? units_of(share_of(groups(), ranks / 2, ranks)) : share_of(all_units(), ranks / 2, ranks);
    own_units_ = units.count();
    pieces_ = pool.first_piece.back();
    own_pieces_ = pool.first_piece[static_cast<std::size_t>(units.last)] -
                  pool.first_piece[static_cast<std::size_t>(units.first)];
    const Geometry& g = *sample.geometry;
    if (g.stencil_shape.empty() || ranks == 1) return;
    // Whole lines along the first axis, both sides of the rank's own points.
    const std::int64_t line =
        std::accumulate(g.stencil_shape.begin() + 1, g.stencil_shape.end(), std::int64_t{1}, std::multiplies<>());
    const Unit &first = partition_.units[static_cast<std::size_t>(units.first)],
               &last = partition_.units[static_cast<std::size_t>(units.last - 1)];
    const std::int64_t begin = first.first, end = last.first + last.count;
    const std::int64_t low = std::max<std::int64_t>(0, begin / line - 1),
                       high = std::min(g.stencil_shape[0], (end - 1) / line + 2);
    halo_ = (high - low) * line - (end - begin);
  }

  // What every rank tells the others of the halo it needs: a word and a few numbers, once, or twice with a way back.
  void agree(const NetworkShape& shape, bool back, MeshTraffic& t) const {
    if (shape.taps == 0 && shape.ffn_taps == 0) return;
    for (int i = 0; i < (back ? 4 : 2); ++i) gather(t, 8.0 * (ranks_ - 1));
  }

  void forward(const NetworkShape& shape, MeshTraffic& t) const {
    const double rows = static_cast<double>(w_.heads * (2 + w_.d));
    swap(t, (pieces_ - own_pieces_) * w_.padded_width / ranks_);
    gather(t, agents_ * w_.padded_width * (ranks_ - 1) / ranks_);
    swap(t, static_cast<double>((all_units() - own_units_) * mp_) * rows / ranks_);
    gather(t, rows * static_cast<double>(mp_ * (ranks_ - 1)) / ranks_);
    halos(shape, t);
  }

  void backward(const NetworkShape& shape, MeshTraffic& t) const {
    const std::int64_t sums = w_.c * mp_, weights = (4 * w_.c + w_.r) * w_.padded_width + w_.c * w_.padded_ffn +
                                                    w_.taps * w_.padded_width + w_.ffn_taps * w_.padded_ffn;
    sum(t, all_units(), own_units_, sums);  // dY
    sum(t, all_units(), own_units_, sums);  // dA
    sum(t, groups(), groups() / ranks_, weights);
    halos(shape, t);
  }

  // Encoder and decoder of a backward pass, and the answers of all points, which the loss reads.
  void ends(std::int64_t points, MeshTraffic& t) const {
    const std::int64_t weights =
        w_.e * w_.padded_inputs + w_.c * (w_.padded_encoder + w_.padded_width) + w_.outputs * w_.padded_width;
    sum(t, groups(), groups() / ranks_, weights);
    sum(t, groups(), groups() / ranks_, weights);
    t.bytes += 4.0 * static_cast<double>(points * w_.outputs * (ranks_ - 1)) / ranks_;
    ++t.gathers;
  }

 private:
  std::int64_t all_units() const { return static_cast<std::int64_t>(partition_.units.size()); }
  std::int64_t groups() const { return static_cast<std::int64_t>(partition_.groups.size()); }
  Share units_of(const Share& groups) const {
    const auto unit = [&](std::int64_t g) {
      return g == this->groups() ? all_units() : partition_.groups[static_cast<std::size_t>(g)].first;
    };
    return {unit(groups.first), unit(groups.last)};
  }
  void swap(MeshTraffic& t, double floats) const {
    t.bytes += 4 * floats;
    ++t.swaps;
  }
  void gather(MeshTraffic& t, double floats) const {
    t.bytes += 4 * floats;
    ++t.gathers;
  }
  // A sum of rows of all ranks: a word from each, pieces, slices.
  void sum(MeshTraffic& t, std::int64_t rows, std::int64_t own, std::int64_t width) const {
    gather(t, 4.0 * (ranks_ - 1));
    swap(t, static_cast<double>((rows - own) * width) / ranks_);
    gather(t, static_cast<double>(width * (ranks_ - 1)) / ranks_);
  }
  void halos(const NetworkShape& shape, MeshTraffic& t) const {
    for (const std::int64_t width : {shape.taps > 0 ? w_.padded_width : 0, shape.ffn_taps > 0 ? w_.padded_ffn : 0}) {
      if (width == 0) continue;
      t.bytes += 4.0 * static_cast<double>(halo_ * width);
      ++t.swaps;
    }
  }

  Widths w_;
  Partition partition_;
  std::int64_t agents_, mp_, ranks_, own_units_ = 0, pieces_ = 0, own_pieces_ = 0, halo_ = 0;
};

}  // namespace

MeshTraffic prediction_traffic(const NetworkShape& shape, const Sample& sample, int ranks, std::int64_t blocks) {
  MeshTraffic all;
  const Plan plan(shape, sample, ranks, false);
  if (ranks > 1) plan.agree(shape, false, all);
  for (std::int64_t l = 0; ranks > 1 && l < blocks; ++l) plan.forward(shape, all);
  return all;
}

MeshTraffic training_traffic(const NetworkShape& shape, const Sample& sample, int ranks, std::int64_t blocks) {
  MeshTraffic all;
  const Plan plan(shape, sample, ranks, true);
  if (ranks > 1) plan.agree(shape, true, all);
  for (std::int64_t l = 0; ranks > 1 && l < blocks; ++l) {
    plan.forward(shape, all);
    plan.backward(shape, all);
  }
  if (ranks > 1) plan.ends(sample.geometry->points, all);
  return all;
}

}  // namespace lano::kernels
