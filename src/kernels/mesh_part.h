// One rank's part of the samples of a pass, where several ranks have the points of each sample among them, and what
// they exchange. Every rank has some neighbouring units of each sample; points keep the numbers they have in the whole
// sample. All sums over points are taken unit by unit in order, on every rank: results have the bits of one rank.
//
// A rank by itself has all units, and nothing here costs anything.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ranks.h"
#include "kernels/network.h"
#include "kernels/partition.h"

namespace lano::kernels {

class MeshPart {
 public:
  // halo: whether points beyond a rank's own will be read; back: also by the transposed stencil.
  MeshPart(Ranks& ranks, std::span<const Sample> samples, const Partition& partition, bool halo, bool back);

  bool whole() const { return ranks_.alone(); }
  const std::vector<std::int64_t>& units() const { return units_; }    // this rank's
  const std::vector<std::int64_t>& groups() const { return groups_; }  // this rank's, whole ones

  // [units, stride] of which every rank has written `width` floats of its own units: now all have all.
  void share_units(float* rows, std::int64_t stride, std::int64_t width) const;
  // The same of `pieces` whose owners rise with their number: first_piece [units + 1] says which are of which unit.
  void share_pieces(std::span<const std::int64_t> first_piece, float* rows, std::int64_t width) const;
  // [P, width]: every rank has written its own points, now all have all.
  void share_points(float* rows, std::int64_t width) const;
  // [P, stride]: fetches the first `width` floats of the points that this rank's stencil reads. back: that its
  // transpose reads.
  void fetch_halo(float* rows, std::int64_t stride, std::int64_t width, bool back) const;
  // [groups, stride]: the sums of the groups of each sample, in order, at its first group, on all ranks.
  void sum_groups(float* rows, std::int64_t stride, std::int64_t width) const;

 private:
  // Points first .. last - 1 of all samples together.
  struct Range {
    std::int64_t first = 0, last = 0;
  };
  using Ranges = std::vector<Range>;
  struct Halo {
    std::vector<Ranges> from, to;  // of each rank: what it sends to this one, and what this one sends to it
  };

  Ranges own_points(std::int64_t sample, int rank) const;
  Ranges needed(std::int64_t sample, bool back) const;
  Halo agree(const std::vector<Ranges>& needs) const;

  Ranks& ranks_;
  std::span<const Sample> samples_;
  const Partition& partition_;
  std::vector<std::vector<Share>> group_shares_, unit_shares_;  // [sample][rank]
  std::vector<std::int64_t> units_, groups_;
  Halo ahead_, back_;
};

}  // namespace lano::kernels
