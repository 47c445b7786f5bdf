// What a depthwise stencil reads at every point, written out: for each point and tap the rows and their weights. The
// kernels use it without knowing where points lie; grids, meshes and clouds look alike.
//   out[p] += sum_t filter[t] sum_e weight[e] values[row[e]],  e in the run of tap t at point p
#pragma once

#include <cstdint>
#include <vector>

namespace lano::kernels {

struct TapEntry {
  std::int32_t row = 0;
  float weight = 0;
};

class TapTable {
 public:
  TapTable() = default;
  // begin: the first point that is listed; those before it have no place.
  explicit TapTable(std::int64_t taps, std::int64_t begin = 0) : taps_(taps), begin_(begin), first_{0} {}

  // The next point's entries, in any order; points are added from the first to the last.
  struct Read {
    std::int64_t tap = 0;
    TapEntry entry;
  };
  void add_point(std::vector<Read>& reads);  // sorts them: by tap, then by row

  // The same entries listed by what they read: the runs of row j hold the points that read it.
  TapTable transposed(std::int64_t rows) const;

  bool empty() const { return taps_ == 0; }
  std::int64_t taps() const { return taps_; }
  std::int64_t points() const { return taps_ == 0 ? 0 : static_cast<std::int64_t>(first_.size() - 1) / taps_; }
  // Entries of tap t of point p: first(p)[t] .. first(p)[t + 1] - 1; p may be one behind the last.
  const std::uint32_t* first(std::int64_t p) const { return first_.data() + (p - begin_) * taps_; }
  const TapEntry* entries() const { return entries_.data(); }
  std::size_t bytes() const { return first_.size() * sizeof(std::uint32_t) + entries_.size() * sizeof(TapEntry); }

 private:
  std::int64_t taps_ = 0, begin_ = 0;
  std::vector<std::uint32_t> first_;
  std::vector<TapEntry> entries_;
};

}  // namespace lano::kernels
