// Multilinear: each axis gives the interval around the target and its fraction; 2^dims corners with the products as
// weights. Clouds: points are sorted into boxes of about two; rings of boxes around the target are searched until the
// farthest kept point is nearer than the next ring. Cost O(N 2^dims) and about O(N + M).
#include "data/interpolation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace lano {
namespace {

using Axes = std::vector<std::vector<double>>;

// The coordinates along each axis, where the points are a grid of independent, rising axes.
std::optional<Axes> grid_axes(const Shape& shape, std::span<const float> points, std::size_t dims) {
  if (shape.size() != dims) return std::nullopt;
  Shape stride(dims, 1);
  for (std::size_t a = dims; a-- > 1;) stride[a - 1] = stride[a] * shape[a];
  const auto at = [&](std::int64_t p, std::size_t a) { return double{points[static_cast<std::size_t>(p) * dims + a]}; };
  Axes axes(dims);
  for (std::size_t a = 0; a < dims; ++a) {
    for (std::int64_t i = 0; i < shape[a]; ++i) axes[a].push_back(at(i * stride[a], a));
    if (std::adjacent_find(axes[a].begin(), axes[a].end(), std::greater_equal<>()) != axes[a].end())
      return std::nullopt;
  }
  for (std::int64_t p = 0; p < element_count(shape); ++p) {
    for (std::size_t a = 0; a < dims; ++a) {
      const double extent = std::max(axes[a].back() - axes[a].front(), 1e-30);
      const double expected = axes[a][static_cast<std::size_t>(p / stride[a] % shape[a])];
      if (!(std::abs(at(p, a) - expected) <= 1e-6 * extent)) return std::nullopt;
    }
  }
  return axes;
}

InterpolationPlan plan_on_grid(const Axes& axes, std::span<const float> targets) {
  const std::size_t dims = axes.size(), corners = std::size_t{1} << dims;
  InterpolationPlan plan{corners, {}, {}, true};
  for (std::size_t t = 0; t < targets.size(); t += dims) {
    std::vector<std::int64_t> low(dims);
    std::vector<double> fraction(dims, 0.0);
    for (std::size_t a = 0; a < dims; ++a) {
      const std::vector<double>& axis = axes[a];
      const double x = std::clamp(double{targets[t + a]}, axis.front(), axis.back());
      const auto above = std::upper_bound(axis.begin(), axis.end(), x) - axis.begin();
      low[a] = std::clamp<std::int64_t>(above - 1, 0, std::max<std::int64_t>(0, std::ssize(axis) - 2));
      if (axis.size() < 2) continue;
      const auto i = static_cast<std::size_t>(low[a]);
      fraction[a] = (x - axis[i]) / (axis[i + 1] - axis[i]);
    }
    for (std::size_t corner = 0; corner < corners; ++corner) {
      std::int64_t index = 0;
      double weight = 1;
      for (std::size_t a = 0; a < dims; ++a) {
        const bool upper = (corner >> a & 1) != 0;
        weight *= upper ? fraction[a] : 1 - fraction[a];
        index = index * std::ssize(axes[a]) + std::min<std::int64_t>(low[a] + upper, std::ssize(axes[a]) - 1);
      }
      plan.sources.push_back(index);
      plan.weights.push_back(static_cast<float>(weight));
    }
  }
  return plan;
}

// Points in boxes, for searches of neighbours.
class Boxes {
 public:
  Boxes(std::span<const float> points, std::size_t dims) : points_(points), dims_(dims) {
    const std::size_t count = points.size() / dims;
    low_.assign(dims, std::numeric_limits<double>::max());
    std::vector<double> high(dims, std::numeric_limits<double>::lowest());
    for (std::size_t i = 0; i < points.size(); ++i) {
      low_[i % dims] = std::min(low_[i % dims], double{points[i]});
      high[i % dims] = std::max(high[i % dims], double{points[i]});
    }
    double extent = 0;
    for (std::size_t a = 0; a < dims; ++a) extent = std::max(extent, high[a] - low_[a]);
    // Cubes, so that rings are round; flat axes have one box.
    const double side = std::ceil(std::pow(static_cast<double>(count) / 2, 1.0 / static_cast<double>(dims)));
    size_ = std::max(extent / std::clamp(side, 1.0, 1024.0), 1e-30);
    std::size_t boxes = 1;
    for (std::size_t a = 0; a < dims; ++a) {
      counts_.push_back(1 + static_cast<std::int64_t>((high[a] - low_[a]) / size_));
      boxes *= static_cast<std::size_t>(counts_.back());
    }
    members_.resize(boxes);
    for (std::size_t p = 0; p < count; ++p) members_[box_of(p)].push_back(static_cast<std::int64_t>(p));
  }

  // The nearest `wanted` points by (squared distance, index).
  std::vector<std::pair<double, std::int64_t>> nearest(std::span<const float> target, std::size_t wanted) const {
    std::vector<std::int64_t> centre;
    for (std::size_t a = 0; a < dims_; ++a) {
      const double place = std::clamp((double{target[a]} - low_[a]) / size_, 0.0, static_cast<double>(counts_[a] - 1));
      centre.push_back(static_cast<std::int64_t>(place));
    }
    const std::int64_t farthest = *std::max_element(counts_.begin(), counts_.end());
    // A target outside the boxes is farther from every point than its nearest place inside is: the rule below holds.
    std::vector<std::pair<double, std::int64_t>> found;
    for (std::int64_t ring = 0; ring <= farthest; ++ring) {
      visit_ring(centre, ring, target, found);
      if (found.size() < wanted) continue;
      std::sort(found.begin(), found.end());
      const double reach = static_cast<double>(ring) * size_;  // all points nearer than this have been seen
      if (found[wanted - 1].first <= reach * reach) break;
    }
    std::sort(found.begin(), found.end());
    found.resize(std::min(found.size(), wanted));
    return found;
  }

 private:
  std::size_t box_of(std::size_t point) const {
    std::size_t index = 0;
    for (std::size_t a = 0; a < dims_; ++a) {
      const auto place = static_cast<std::int64_t>((double{points_[point * dims_ + a]} - low_[a]) / size_);
      index = index * static_cast<std::size_t>(counts_[a]) +
              static_cast<std::size_t>(std::clamp<std::int64_t>(place, 0, counts_[a] - 1));
    }
    return index;
  }

  void visit_ring(const std::vector<std::int64_t>& centre, std::int64_t ring, std::span<const float> target,
                  std::vector<std::pair<double, std::int64_t>>& found) const {
    std::vector<std::int64_t> at(dims_, -ring);
    while (true) {
      const bool on_ring = std::any_of(at.begin(), at.end(), [&](std::int64_t d) { return std::abs(d) == ring; });
      std::size_t index = 0;
      bool inside = on_ring;
      for (std::size_t a = 0; a < dims_ && inside; ++a) {
        const std::int64_t place = centre[a] + at[a];
        inside = place >= 0 && place < counts_[a];
        index = index * static_cast<std::size_t>(counts_[a]) + static_cast<std::size_t>(inside ? place : 0);
      }
      if (inside) {
        for (const std::int64_t p : members_[index]) {
          double distance = 0;
          for (std::size_t a = 0; a < dims_; ++a) {
            const double d = double{points_[static_cast<std::size_t>(p) * dims_ + a]} - target[a];
            distance += d * d;
          }
          found.emplace_back(distance, p);
        }
      }
      std::size_t axis = dims_;
      while (axis > 0 && at[axis - 1] == ring) at[--axis] = -ring;
      if (axis == 0) return;
      // Inside the ring only its two faces along the last axis matter.
      ++at[axis - 1];
      if (axis == dims_ && ring > 0) {
        const bool face = std::any_of(at.begin(), at.end() - 1, [&](std::int64_t d) { return std::abs(d) == ring; });
        if (!face) at.back() = ring;
      }
    }
  }

  std::span<const float> points_;
  std::size_t dims_;
  std::vector<double> low_;
  double size_ = 1;
  std::vector<std::int64_t> counts_;
  std::vector<std::vector<std::int64_t>> members_;
};

InterpolationPlan plan_in_cloud(std::span<const float> sources, std::span<const float> targets, std::size_t dims) {
  const std::size_t wanted = std::min(std::size_t{1} << dims, sources.size() / dims);
  const Boxes boxes(sources, dims);
  InterpolationPlan plan{wanted, {}, {}, false};
  for (std::size_t t = 0; t < targets.size(); t += dims) {
    const auto near = boxes.nearest(targets.subspan(t, dims), wanted);
    double sum = 0;
    const bool hit = near.front().first == 0;  // on a source point: its value, whole
    for (const auto& [distance, point] : near) sum += hit ? (distance == 0 ? 1.0 : 0.0) : 1 / distance;
    for (const auto& [distance, point] : near) {
      plan.sources.push_back(point);
      plan.weights.push_back(static_cast<float>((hit ? (distance == 0 ? 1.0 : 0.0) : 1 / distance) / sum));
    }
  }
  return plan;
}

}  // namespace

InterpolationPlan plan_interpolation(const Shape& shape, std::span<const float> sources, std::span<const float> targets,
                                     std::size_t dims) {
  if (const auto axes = grid_axes(shape, sources, dims)) return plan_on_grid(*axes, targets);
  return plan_in_cloud(sources, targets, dims);
}

std::vector<float> interpolate(const InterpolationPlan& plan, std::span<const float> values, std::size_t channels) {
  const std::size_t targets = plan.sources.size() / plan.per_point;
  std::vector<float> out(targets * channels);
  for (std::size_t t = 0; t < targets; ++t) {
    for (std::size_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < plan.per_point; ++k) {
        const std::size_t at = t * plan.per_point + k;
        sum += double{plan.weights[at]} * values[static_cast<std::size_t>(plan.sources[at]) * channels + c];
      }
      out[t * channels + c] = static_cast<float>(sum);
    }
  }
  return out;
}

}  // namespace lano
