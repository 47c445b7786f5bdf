#include "runtime/position_features.h"

#include <algorithm>
#include <cmath>

#include "model_spec/lano_sizes.h"

namespace lano {

PositionFeatures::PositionFeatures(const LanoConfig& config, const LanoShape& shape)
    : width_(position_width(config.position, shape.dims)) {
  if (config.position == Position::reference) nodes_ = reference_nodes(shape);
}

void PositionFeatures::write(std::span<const float> coordinates, float* to) const {
  if (nodes_.empty()) {
    std::copy(coordinates.begin(), coordinates.end(), to);
    return;
  }
  const std::size_t dims = coordinates.size();
  for (std::size_t node = 0; node < nodes_.size() / dims; ++node) {
    float sum = 0;
    for (std::size_t a = 0; a < dims; ++a) {
      const float difference = coordinates[a] - nodes_[node * dims + a];
      sum += difference * difference;
    }
    to[node] = std::sqrt(sum);
  }
}

// d|x - n|/dx = (x - n)/|x - n|; at the node itself, where there is none, zero.
void PositionFeatures::back(std::span<const float> coordinates, const float* slopes, std::span<double> to) const {
  if (nodes_.empty()) {
    std::copy_n(slopes, coordinates.size(), to.begin());
    return;
  }
  const std::size_t dims = coordinates.size();
  std::fill(to.begin(), to.end(), 0.0);
  std::vector<float> distances(nodes_.size() / dims);
  write(coordinates, distances.data());
  for (std::size_t node = 0; node < distances.size(); ++node) {
    if (distances[node] == 0) continue;
    for (std::size_t a = 0; a < dims; ++a)
      to[a] += static_cast<double>(slopes[node]) * static_cast<double>(coordinates[a] - nodes_[node * dims + a]) /
               static_cast<double>(distances[node]);
  }
}

}  // namespace lano
