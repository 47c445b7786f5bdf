// One rank's part of the samples of a pass, where the points of each sample are divided over several ranks, and what
// they exchange. Every rank has some neighbouring units of each sample; points keep the numbers they have in the whole
// sample. Sums over points are taken unit by unit in order, whoever takes them: results have the bits of one rank.
//
// What units give is added up by columns: each rank gets its columns of all units and adds them for all. A rank by
// itself has all units, and nothing here costs anything.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/ranks.h"
#include "kernels/buffer.h"
#include "kernels/network.h"
#include "kernels/partition.h"

namespace lano::kernels {

// The points of a sample that this of the ranks has in a prediction; fails where there are more ranks than units.
Share predicted_points(std::int64_t points, const Ranks& ranks);

// Ranks that the points of a sample can be divided over at most in a prediction, where a rank has whole units, and in a
// training, where it has whole groups of them.
std::int64_t most_prediction_ranks(std::int64_t points);
std::int64_t most_training_ranks(std::int64_t points, const NetworkShape& shape);

class MeshPart {
 public:
  // groups: whether units of a group stay together. halo: whether points beyond a rank's own will be read; back: also
  // by the transposed stencil. Samples of meshes without a table get one of this rank's points where the backward pass
  // needs it.
  MeshPart(Ranks& ranks, std::span<Sample> samples, const Partition& partition, bool groups, bool halo, bool back);

  bool whole() const { return ranks_.alone(); }
  const std::vector<std::int64_t>& units() const { return units_; }    // this rank's
  const std::vector<std::int64_t>& groups() const { return groups_; }  // this rank's, whole ones
  // Points of a sample that this rank has.
  Share own_points(std::int64_t sample) const { return own_points(sample, ranks_.rank()); }

  // This rank's columns of the rows of all units, those of unit u at place(u) rows from the beginning.
  struct Columns {
    std::int64_t first = 0, count = 0;
    std::vector<std::int64_t> place;  // of each unit
    std::vector<float> rows;          // [all rows, count]
    const float* of(std::int64_t unit, std::int64_t row = 0) const {
      return rows.data() + (place[static_cast<std::size_t>(unit)] + row) * count;
    }
  };
  // first_row [units + 1]: which of the rows [.., width] are of which unit, rising; every rank has written its own.
  void turn(std::span<const std::int64_t> first_row, const float* rows, std::int64_t width, Columns& columns) const;
  // Every rank has `count` columns of [rows, width]: now all have all.
  void join(std::span<const float> mine, std::int64_t width, std::span<float> whole) const {
    ranks_.join_columns(mine, width, whole);
  }
  // [units, stride] and [groups, stride]: the sums of the first `width` floats of the units or groups of each sample,
  // in order, at its first one, on all ranks.
  void sum_units(float* rows, std::int64_t stride, std::int64_t width) const;
  void sum_groups(float* rows, std::int64_t stride, std::int64_t width) const;
  // Of a buffer [P, stride] this rank will use its own points, and little beyond.
  void expect_own(Buffer& rows, std::int64_t stride) const;
  // [P, width]: every rank has written its own points, now all have all.
  void share_points(float* rows, std::int64_t width) const;
  // [P, stride]: fetches the first `width` floats of the points that this rank's stencil reads. back: that its
  // transpose reads.
  void fetch_halo(float* rows, std::int64_t stride, std::int64_t width, bool back) const;

 private:
  using Index = std::int64_t;
  // Points first .. last - 1 of all samples together.
  using Ranges = std::vector<Share>;
  struct Halo {
    std::vector<Ranges> from, to;  // of each rank: what it sends to this one, and what this one sends to it
    Index most = 0;                // points that any rank sends or gets
  };

  Share own_points(std::int64_t sample, int rank) const;
  Ranges needed(std::int64_t sample, bool back) const;
  Halo agree(const std::vector<Ranges>& needs) const;
  void write_tables(const std::vector<Ranges>& readers);
  void sum_shares(const std::vector<std::vector<Share>>& shares, std::span<const std::int64_t> first, float* rows,
                  std::int64_t stride, std::int64_t width) const;

  Ranks& ranks_;
  std::span<Sample> samples_;
  const Partition& partition_;
  std::vector<std::vector<Share>> group_shares_, unit_shares_;  // [sample][rank]
  std::vector<std::int64_t> units_, groups_;
  Halo ahead_, back_;
  std::vector<std::unique_ptr<const Geometry>> geometries_;  // of samples whose tables this part has
};

}  // namespace lano::kernels
