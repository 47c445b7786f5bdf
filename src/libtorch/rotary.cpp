#include "libtorch/rotary.h"

#include <cmath>

namespace lano {

torch::Tensor rotary_angles(const torch::Tensor& coordinates, std::int64_t channels, double scale) {
  const std::int64_t pairs = channels / (2 * coordinates.size(2));
  const torch::Tensor waves = scale * torch::exp(torch::arange(pairs, coordinates.options()) *
                                                 (-std::log(10000.0) / static_cast<double>(pairs)));
  return (coordinates.unsqueeze(-1) * waves).flatten(2).unsqueeze(1);
}

torch::Tensor rotate_pairs(const torch::Tensor& x, const torch::Tensor& angles) {
  const std::int64_t turned = 2 * angles.size(3);
  const torch::Tensor pairs = x.narrow(3, 0, turned).unflatten(3, {-1, 2}), cosine = torch::cos(angles),
                      sine = torch::sin(angles);
  const torch::Tensor a = pairs.select(4, 0), b = pairs.select(4, 1);
  const torch::Tensor out = torch::stack({a * cosine - b * sine, a * sine + b * cosine}, -1).flatten(3);
  return turned == x.size(3) ? out : torch::cat({out, x.narrow(3, turned, x.size(3) - turned)}, 3);
}

}  // namespace lano
