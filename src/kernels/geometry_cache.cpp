#include "kernels/geometry_cache.h"

namespace lano::kernels {

std::shared_ptr<const Geometry> GeometryCache::of(std::int64_t points, const Shape& mesh,
                                                  const std::vector<double>& spacing, const std::vector<double>& origin,
                                                  const std::vector<std::int64_t>& patches) {
  constexpr std::int64_t kMostKept = std::int64_t{1} << 22;  // points: about a gigabyte of tables
  const Key key{points, mesh, spacing, origin, patches};
  const std::lock_guard lock(mutex_);
  if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
  const Layout layout = lano_layout(config_, shape_, points, mesh, spacing, origin, {});
  const std::vector<std::int64_t> trained =
      shape_.patches.empty() ? std::vector<std::int64_t>{config_.agents} : shape_.patches;
  auto made =
      std::make_shared<const Geometry>(make_geometry(config_, trained, patches, points, mesh, layout.axes, training_));
  if (points > kMostKept) return made;
  if (points_kept_ + points > kMostKept) {
    kept_.clear();
    points_kept_ = 0;
  }
  points_kept_ += points;
  kept_.emplace(key, made);
  return made;
}

}  // namespace lano::kernels
