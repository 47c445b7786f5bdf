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
  // The next one beyond; where there is none, all are read, the farthest at half weight.
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
      lists[static_cast<std::size_t>(i)] = entries_at(
          std::span(coordinates_).subspan(static_cast<std::size_t>(i * dims_), static_cast<std::size_t>(dims_)), i);
    }
  });
  first_.reserve(lists.size() + 1);
  for (const std::vector<Entry>& list : lists) {
    entries_.insert(entries_.end(), list.begin(), list.end());
    first_.push_back(static_cast<std::int64_t>(entries_.size()));
    most_ = std::max(most_, static_cast<std::int64_t>(list.size()));
  }
  most_ = std::max(most_, std::min(count_, points_));  // of new points, too
  if (!training) return;
  back_first_.assign(lists.size() + 1, 0);
  for (const Entry& entry : entries_) ++back_first_[static_cast<std::size_t>(entry.other) + 1];
  for (std::size_t j = 0; j < lists.size(); ++j) {
    most_ = std::max(most_, back_first_[j + 1]);
    back_first_[j + 1] += back_first_[j];
  }
  back_.resize(entries_.size());
  std::vector<std::int64_t> next(back_first_.begin(), back_first_.end() - 1);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (std::int64_t e = first_[i]; e < first_[i + 1]; ++e) {
      const auto read = static_cast<std::size_t>(entries_[static_cast<std::size_t>(e)].other);
      back_[static_cast<std::size_t>(next[read]++)] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(e)};
    }
  }
}

bool Neighbours::is_of(std::span<const float> coordinates) const {
  return std::equal(coordinates.begin(), coordinates.end(), coordinates_.begin(), coordinates_.end());
}

std::size_t Neighbours::bytes() const {
  return entries_.size() * sizeof(Entry) + back_.size() * sizeof(Back) + coordinates_.size() * sizeof(float) +
         (first_.size() + back_first_.size()) * sizeof(std::int64_t) + static_cast<std::size_t>(points_) * 16;
}

}  // namespace lano::kernels
