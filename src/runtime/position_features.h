// What a LANO sees of a point's position: its normalised coordinates, or their distances to the nodes of a reference
// grid.
#pragma once

#include <span>
#include <vector>

#include "model_spec/lano_config.h"

namespace lano {

class PositionFeatures {
 public:
  PositionFeatures() = default;
  PositionFeatures(const LanoConfig& config, const LanoShape& shape);
  std::int64_t width() const { return width_; }
  // coordinates [dx] of one point, normalised -> to [width]
  void write(std::span<const float> coordinates, float* to) const;
  // The transposed derivative at that point: slopes of the features [width] -> those of the coordinates [dx].
  void back(std::span<const float> coordinates, const float* slopes, std::span<double> to) const;

 private:
  std::int64_t width_ = 0;
  std::vector<float> nodes_;  // [8^dx, dx]; empty: coordinates as they are
};

}  // namespace lano
