#include "pde/strided_problem.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace lano {

StridedProblem::StridedProblem(std::unique_ptr<Problem> whole, std::int64_t stride)
    : whole_(std::move(whole)), full_(whole_->describe()), description_(full_), stride_(stride) {
  const bool fits = stride >= 1 && full_.shape.size() == 2 && stride < full_.shape[0] && stride < full_.shape[1];
  if (!fits) {
    fail_usage(fmt::format("generating {}", full_.name),
               fmt::format("a --stride that leaves two points on each axis of {}", shape_text(full_.shape)),
               std::to_string(stride));
  }
  if (full_.geometry == Geometry::mesh) description_.span = strided_span(full_.shape, full_.span, stride);
  for (std::int64_t& extent : description_.shape) extent = (extent - 1) / stride + 1;
  nlohmann::json about = nlohmann::json::parse(full_.generator);
  about["stride"] = stride;
  description_.generator = about.dump();
}

void StridedProblem::keep(std::span<const float> from, std::span<float> to, std::int64_t channels) const {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < full_.shape[0]; i += stride_) {
    for (std::int64_t j = 0; j < full_.shape[1]; j += stride_) {
      for (std::int64_t c = 0; c < channels; ++c)
        to[at++] = from[static_cast<std::size_t>((i * full_.shape[1] + j) * channels + c)];
    }
  }
}

std::vector<float> StridedProblem::coordinates() const {
  const std::vector<float> all = whole_->coordinates();
  if (all.empty()) return {};
  std::vector<float> some(static_cast<std::size_t>(description_.points() * full_.dims()));
  keep(all, some, full_.dims());
  return some;
}

bool StridedProblem::make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const {
  const auto room = [&](std::int64_t channels) {
    return std::vector<float>(static_cast<std::size_t>(full_.points() * channels));
  };
  const std::int64_t frames = full_.time.empty() ? 1 : static_cast<std::int64_t>(full_.time.size());
  std::vector<float> x = room(to.coordinates.empty() ? 0 : full_.dims()), a = room(full_.input_channels()),
                     u = room(frames * full_.output_channels()), k = room(full_.kept_channels());
  if (!whole_->make(sample, attempt, {x, a, u, k})) return false;
  if (!x.empty()) keep(x, to.coordinates, full_.dims());
  keep(a, to.input, full_.input_channels());
  keep(k, to.kept, full_.kept_channels());
  const auto frame = static_cast<std::size_t>(full_.points() * full_.output_channels()),
             kept = static_cast<std::size_t>(description_.points() * full_.output_channels());
  for (std::size_t t = 0; t < static_cast<std::size_t>(frames); ++t) {
    keep(std::span(u).subspan(t * frame, frame), to.output.subspan(t * kept, kept), full_.output_channels());
  }
  return true;
}

}  // namespace lano
