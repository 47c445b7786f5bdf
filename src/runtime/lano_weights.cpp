#include "runtime/lano_weights.h"

#include <fmt/format.h>

#include "core/error.h"

namespace lano {
namespace {

LanoWeights lano_weights(const LanoConfig& config, const LanoShape& shape, const std::map<std::string, Tensor>& tensors,
                         const std::string& doing) {
  constexpr const char* kAdvice = "the file is damaged: copy it again";
  // Sizes beyond these are no model, and their products would not fit in 64 bits.
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (config.layers > static_cast<std::int64_t>(tensors.size()) || config.width > kMost || config.agents > kMost ||
      config.ffn_ratio > kMost || shape.dims > 3 || shape.input_channels > kMost || shape.output_channels > kMost) {
    fail_plainly(doing, "the architecture has other sizes than the weights", kAdvice);
  }
  std::size_t used = 0;
  // The stencil's axes may be written apart ([C, 3, 3]) or not, so sizes are compared after the first axis.
  const auto behind = [](const Shape& sizes) {
    std::int64_t product = 1;
    for (std::size_t a = 1; a < sizes.size(); ++a) product *= sizes[a];
    return product;
  };
  const auto find = [&](const std::string& name, const Shape& asked) -> const float* {
    const auto found = tensors.find(name);
    if (found == tensors.end())
      fail_plainly(doing, fmt::format("the tensor '{}' is missing", name), "the file is of another model");
    const Shape& given = found->second.shape;
    if (given.empty() || given[0] != asked[0] || behind(given) != behind(asked)) {
      fail(doing, fmt::format("'{}' of {} rows of {}", name, asked[0], behind(asked)), shape_text(given), kAdvice);
    }
    ++used;
    return found->second.values.data();
  };
  const LanoWeights w = make_lano_tensors<const float*>(config, shape, find);
  if (used != tensors.size())
    fail(doing, fmt::format("{} tensors", used), std::to_string(tensors.size()), "the file is of another model");
  return w;
}

}  // namespace

LanoParts lano_parts(const ModelFile& file, const std::string& doing) {
  LanoParts parts;
  lano_from_json(file.architecture, parts.config, parts.shape);
  const SetDescription& set = file.set;
  const LanoShape& shape = parts.shape;
  const std::int64_t state = state_channels(parts.config.task, parts.config.state_frames, set.output_channels());
  const std::int64_t moved = file.normaliser.mean_mesh.channels();
  if (shape.dims != set.dims() || shape.input_channels != set.input_channels() + moved + state ||
      shape.output_channels != set.output_channels()) {
    fail_plainly(doing, "the architecture has other channels than the fields", "the file is damaged: copy it again");
  }
  // A model that was trained further may know a mesh of other extents.
  if (set.geometry != Geometry::points && set.shape.size() != shape.mesh.size()) {
    fail(doing, "an architecture with the axes of its dataset",
         fmt::format("{} and {}", shape_text(shape.mesh), shape_text(set.shape)), "the file is damaged: copy it again");
  }
  if (!file.buffers.empty())
    fail(doing, "a LANO, which has no running statistics", std::to_string(file.buffers.size()),
         "the file is of another model");
  parts.weights = lano_weights(parts.config, shape, file.weights, doing);
  return parts;
}

}  // namespace lano
