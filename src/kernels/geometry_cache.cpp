#include "kernels/geometry_cache.h"

#include "core/fnv.h"
#include "core/ranks.h"

namespace lano::kernels {

std::shared_ptr<const Geometry> GeometryCache::of(std::int64_t points, const Shape& mesh,
                                                  const std::vector<double>& spacing, const std::vector<double>& origin,
                                                  const std::vector<std::int64_t>& patches,
                                                  const std::vector<double>& stretch) {
  constexpr std::int64_t kMostKept = std::int64_t{1} << 22;  // points: about a gigabyte of tables
  const Key key{points, mesh, spacing, origin, patches, stretch};
  const std::lock_guard lock(mutex_);
  if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
  const Layout layout = lano_layout(config_, shape_, points, mesh, spacing, origin, {}, stretch);
  const std::vector<std::int64_t> trained =
      shape_.patches.empty() ? std::vector<std::int64_t>{config_.agents} : shape_.patches;
  // Of large meshes that are divided over several ranks, each rank writes out its own part (mesh_part.cpp).
  const bool tables = mesh_ranks().alone() || points <= kWorthATable;
  auto made = std::make_shared<const Geometry>(
      make_geometry(config_, trained, patches, points, mesh, layout.axes, training_, tables));
  if (points > kMostKept) return made;
  if (points_kept_ + points > kMostKept) {
    kept_.clear();
    points_kept_ = 0;
  }
  points_kept_ += points;
  kept_.emplace(key, made);
  return made;
}

std::shared_ptr<const Neighbours> GeometryCache::neighbours(std::span<const float> coordinates) {
  if (!reads_neighbours(config_, shape_)) return nullptr;
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  Fnv hash;
  hash.add(coordinates);
  {
    const std::lock_guard lock(mutex_);
    const auto found = clouds_.find(hash.value());
    if (found != clouds_.end() && found->second->is_of(coordinates)) return found->second;
  }
  const bool scaled = config_.dwc_spacing == DwcSpacing::physical;
  auto made = std::make_shared<const Neighbours>(coordinates, shape_.dims, scaled ? shape_.points : 0, training_);
  const std::size_t bytes = made->bytes();
  if (bytes > kMostBytes) return made;
  const std::lock_guard lock(mutex_);
  if (bytes_kept_ + bytes > kMostBytes) {
    clouds_.clear();
    bytes_kept_ = 0;
  }
  if (clouds_.insert_or_assign(hash.value(), made).second) bytes_kept_ += bytes;
  return made;
}

}  // namespace lano::kernels
