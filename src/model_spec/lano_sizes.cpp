#include "model_spec/lano_sizes.h"

#include <cmath>
#include <string>

#include "core/error.h"

namespace lano {

std::int64_t position_width(Position position, std::int64_t dims) {
  if (position == Position::coordinates) return dims;
  std::int64_t width = 1;
  for (std::int64_t a = 0; a < dims; ++a) width *= kReferenceNodes;
  return width;
}

std::vector<float> reference_nodes(const LanoShape& shape) {
  const auto nodes = static_cast<std::size_t>(position_width(Position::reference, shape.dims)),
             dims = static_cast<std::size_t>(shape.dims);
  std::vector<float> values;
  for (std::size_t node = 0; node < nodes; ++node) {
    std::size_t stride = nodes;
    for (std::size_t a = 0; a < dims; ++a) {
      stride /= kReferenceNodes;
      const double share =
          static_cast<double>(node / stride % kReferenceNodes) / static_cast<double>(kReferenceNodes - 1);
      values.push_back(static_cast<float>(shape.reference_box[2 * a] +
                                          share * (shape.reference_box[2 * a + 1] - shape.reference_box[2 * a])));
    }
  }
  return values;
}

std::vector<std::int64_t> patches_for(const LanoConfig& config, const LanoShape& shape, std::int64_t agents) {
  constexpr const char* kDoing = "choosing the agents";
  if (agents < 1 || agents > (std::int64_t{1} << 24))
    fail_usage(kDoing, "at least 1 and at most 2^24", std::to_string(agents));
  if (agents == config.agents) return shape.patches.empty() ? std::vector<std::int64_t>{agents} : shape.patches;
  if (config.agent_tokens == Agents::latent) {
    fail_usage(kDoing, std::to_string(config.agents) + ", as trained: latent agents are learned one by one",
               std::to_string(agents));
  }
  return shape.patches.empty() ? std::vector<std::int64_t>{agents} : nearest_patches(agents, shape.mesh);
}

double nearness_of_head(std::int64_t head, std::int64_t heads) {
  // From the whole domain to about one patch, evenly in the logarithm.
  constexpr double kFarthest = 0.05, kNearest = 1, kOnly = 0.2;
  if (head == 0 && heads > 1) return 0;
  if (heads <= 2) return kOnly;
  return kFarthest * std::pow(kNearest / kFarthest, static_cast<double>(head - 1) / static_cast<double>(heads - 2));
}

}  // namespace lano
