#include "libtorch/features.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model_spec/lano_sizes.h"

namespace lano {

torch::Tensor position_features(Position position, const LanoShape& shape, const torch::Tensor& coordinates) {
  if (position == Position::coordinates) return coordinates;
  std::vector<torch::Tensor> axes;
  for (std::size_t a = 0; a < static_cast<std::size_t>(shape.dims); ++a) {
    axes.push_back(torch::linspace(shape.reference_box[2 * a], shape.reference_box[2 * a + 1], kReferenceNodes,
                                   coordinates.options()));
  }
  const torch::Tensor nodes =
      shape.dims == 1 ? axes[0].unsqueeze(1) : torch::stack(torch::meshgrid(axes, "ij"), -1).view({-1, shape.dims});
  // Distances from differences, never from matrix products, which lose half the digits near a node.
  return torch::cdist(coordinates, nodes.unsqueeze(0).expand({coordinates.size(0), -1, -1}), 2.0, /*compute_mode=*/2);
}

torch::Tensor unit_coordinates(const LanoShape& shape, const torch::Tensor& coordinates) {
  if (shape.reference_box.empty()) return coordinates;
  std::vector<double> low, extent;
  for (std::size_t a = 0; a < static_cast<std::size_t>(shape.dims); ++a) {
    const double length = shape.reference_box[2 * a + 1] - shape.reference_box[2 * a];
    low.push_back(shape.reference_box[2 * a]);
    extent.push_back(length > 0 ? length : 1);
  }
  return (coordinates - torch::tensor(low, coordinates.options())) / torch::tensor(extent, coordinates.options());
}

torch::Tensor time_waves(const LanoShape& shape, const torch::Tensor& time, std::int64_t width,
                         torch::TensorOptions options) {
  const std::int64_t half = std::max<std::int64_t>(1, width / 2);
  const torch::Tensor tau = ((time - shape.time_origin) / shape.time_step).to(options.dtype());
  const torch::Tensor frequency =
      torch::exp(torch::arange(half, options) * (-std::log(10000.0) / static_cast<double>(half)));
  const torch::Tensor angle = torch::outer(tau, frequency);
  const torch::Tensor wave = torch::cat({torch::sin(angle), torch::cos(angle)}, -1);
  return wave.size(1) < width ? torch::constant_pad_nd(wave, {0, width - wave.size(1)}) : wave;
}

}  // namespace lano
