// A k-d tree (nanoflann) finds the K + 1 nearest points of each; cost O(N log N). Entries are listed by index, which is
// the order of the points, so that the same cloud gives the same sums.
#include "kernels/neighbours.h"

#include <algorithm>
#include <cmath>
#include <nanoflann.hpp>

#include "kernels/partition.h"

namespace lano::kernels {
namespace {

struct Cloud {
  const float* x;
  std::int64_t points, dims;
  std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(points); }
  float kdtree_get_pt(std::size_t i, std::size_t axis) const { return x[i * static_cast<std::size_t>(dims) + axis]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

using Metric = nanoflann::L2_Simple_Adaptor<float, Cloud, double>;
using KdTree = nanoflann::KDTreeSingleIndexAdaptor<Metric, Cloud, -1, std::uint32_t>;

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

}  // namespace

struct Neighbours::Tree {
  Cloud cloud;
  KdTree index;
  Tree(const float* x, std::int64_t points, std::int64_t dims)
      : cloud{x, points, dims}, index(static_cast<int>(dims), cloud, nanoflann::KDTreeSingleIndexAdaptorParams(12)) {}
};

Neighbours::~Neighbours() = default;

// own: the point's own index, or -1.
std::vector<Neighbours::Entry> Neighbours::entries_at(std::span<const float> point, std::int64_t own) const {
  const auto wanted = static_cast<std::size_t>(std::min(count_ + 1, points_));
  std::vector<std::uint32_t> index(wanted);
  std::vector<double> square(wanted);
  const std::size_t found = tree_->index.knnSearch(point.data(), wanted, index.data(), square.data());
  // The next one beyond; if there is none, all are read, the farthest at half weight.
  const double beyond = points_ > count_ ? square[found - 1] : 2 * square[found - 1];
  const double all = static_cast<double>(power(3, dims_));
  if (!(beyond > 0))
    return {
        {own < 0 ? static_cast<std::int32_t>(index[0]) : static_cast<std::int32_t>(own), static_cast<float>(all), {}}};
  std::vector<Entry> entries;
  double sum = 0;
  for (std::size_t i = 0; i < found; ++i) {
    const double weight = 1 - square[i] / beyond;
    if (!(weight > 0)) continue;
    Entry entry{static_cast<std::int32_t>(index[i]), static_cast<float>(weight), {}};
    for (std::int64_t a = 0; a < dims_; ++a) {
      const auto axis = static_cast<std::size_t>(a);
      const double d = coordinates_[index[i] * static_cast<std::size_t>(dims_) + axis] - point[axis];
      entry.place[axis] = static_cast<float>(std::clamp(2 * d / std::sqrt(beyond), -1.0, 1.0));
    }
    sum += weight;
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.other < b.other; });
  const auto scale = static_cast<float>(all / sum);
  for (Entry& entry : entries) entry.weight *= scale;
  return entries;
}

Neighbours::Neighbours(std::span<const float> coordinates, std::int64_t dims, std::int64_t trained, bool training)
    : points_(static_cast<std::int64_t>(coordinates.size()) / dims),
      dims_(dims),
      coordinates_(coordinates.begin(), coordinates.end()) {
  const double share = trained > 0 ? static_cast<double>(points_) / static_cast<double>(trained) : 1.0;
  count_ = std::max<std::int64_t>(2, std::llround(static_cast<double>(power(3, dims)) * share));
  tree_ = std::make_unique<Tree>(coordinates_.data(), points_, dims_);
  constexpr std::int64_t kBlock = 256;
  std::vector<std::vector<Entry>> lists(static_cast<std::size_t>(points_));
  parallel_for((points_ + kBlock - 1) / kBlock, [&](std::int64_t block, int) {
    for (std::int64_t i = block * kBlock; i < std::min(points_, (block + 1) * kBlock); ++i) {
      lists[static_cast<std::size_t>(i)] = of(i);
    }
  });
  table_ = TapTable(power(3, dims_));
  std::vector<TapTable::Read> reads;
  for (const std::vector<Entry>& list : lists) {
    reads.clear();
    for (const Entry& entry : list) {
      for_taps(entry, dims_, [&](std::int64_t tap, double weight) {
        reads.push_back({tap, {entry.other, static_cast<float>(weight)}});
      });
    }
    table_.add_point(reads);
  }
  most_ = std::min(count_, points_);
  if (training) table_back_ = table_.transposed(points_);
}

std::vector<Neighbours::Entry> Neighbours::of(std::int64_t point) const {
  const auto dims = static_cast<std::size_t>(dims_);
  return entries_at(std::span(coordinates_).subspan(static_cast<std::size_t>(point) * dims, dims), point);
}

bool Neighbours::is_of(std::span<const float> coordinates) const {
  return std::equal(coordinates.begin(), coordinates.end(), coordinates_.begin(), coordinates_.end());
}

std::size_t Neighbours::bytes() const {
  constexpr std::size_t kTree = 16;  // of a point, about
  return table_.bytes() + table_back_.bytes() + coordinates_.size() * sizeof(float) +
         kTree * static_cast<std::size_t>(points_);
}

}  // namespace lano::kernels
