// Which points the stencil of a point cloud reads, with which weights and at which taps: the nearest ones in space, so
// that neither the order of a file nor a curve through the points decides. Found once per geometry; read by every
// block.
//
// Point i reads its K nearest points, itself included, out to R, the distance of the next one beyond: K = 3^dx at the
// training's number of points N0, and K = 3^dx N/N0 at others, so that a stencil spans the same part of space. A
// neighbour at x_i + d has the weight (1 - |d|^2/R^2), scaled so that they sum to 3^dx, and the place 2 d / R on the 3
// x 3 (x 3) taps, which share it linearly. On a regular grid that is the grid's own stencil, its taps
// weighted 1.5, 1.125 and 0.75 (dx = 2); it changes continuously as points move, and equal distances need no
// rule. Where more than K points lie in one place, a point reads itself alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/tap_table.h"

namespace lano::kernels {

class Neighbours {
 public:
  struct Entry {
    std::int32_t other = 0;
    float weight = 0;
    std::array<float, 3> place{};  // on the taps, -1 to 1 along each axis
  };

  // coordinates [N, dims]; trained: N0, or 0 for N; training: with the table of the backward pass.
  Neighbours(std::span<const float> coordinates, std::int64_t dims, std::int64_t trained, bool training);
  ~Neighbours();

  std::int64_t points() const { return points_; }
  std::int64_t dims() const { return dims_; }
  std::int64_t most() const { return most_; }  // points read at most, by these or others
  const TapTable& table() const { return table_; }
  const TapTable& table_back() const { return table_back_; }

  // What a point reads, by rising index; and what one that need not be one of these would read.
  std::vector<Entry> of(std::int64_t point) const;
  std::vector<Entry> at(std::span<const float> point) const { return entries_at(point, -1); }

  std::size_t bytes() const;
  bool is_of(std::span<const float> coordinates) const;  // made of these

 private:
  struct Tree;
  std::vector<Entry> entries_at(std::span<const float> point, std::int64_t own) const;
  std::int64_t points_, dims_, count_, most_ = 0;  // count: K
  std::vector<float> coordinates_;
  std::unique_ptr<Tree> tree_;
  TapTable table_, table_back_;
};

// see(tap, weight) for the taps that share an entry's weight, 3^dims in row-major order.
template <class See>
void for_taps(const Neighbours::Entry& entry, std::int64_t dims, See&& see) {
  for (unsigned corner = 0; corner < 1u << dims; ++corner) {
    std::int64_t tap = 0;
    double weight = entry.weight;
    for (std::int64_t a = 0; a < dims; ++a) {
      const double u = entry.place[static_cast<std::size_t>(a)], off = u < 0 ? -u : u;
      const bool outer = (corner >> a & 1u) != 0;
      tap = tap * 3 + (!outer ? 1 : u < 0 ? 0 : 2);
      weight *= outer ? off : 1 - off;
    }
    if (weight != 0) see(tap, weight);
  }
}

}  // namespace lano::kernels
