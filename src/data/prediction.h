// What a model predicts for some samples, as numbers one behind the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace lano {

struct Prediction {
  std::int64_t frames = 1;
  std::vector<float> values;  // [S, frames, N, du], physical, samples one behind the other as in Samples

  // [frames, N, channels] of sample i.
  std::span<const float> of(const Samples& samples, std::int64_t i, std::int64_t channels) const {
    const std::int64_t width = frames * channels;
    return std::span(values).subspan(static_cast<std::size_t>(samples.first_point(i) * width), static_cast<std::size_t>(samples.points_of(i) * width));
  }
};

}  // namespace lano
