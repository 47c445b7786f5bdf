// What a model predicts for some samples: the frames of each, rolled out where the model steps in time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "evaluate/predictor.h"

namespace lano {

struct Prediction {
  std::int64_t frames = 1;
  std::vector<float> values;  // [S, frames, N, du], physical, samples one behind the other as in Samples

  // [frames, N, channels] of sample i.
  std::span<const float> of(const Samples& samples, std::int64_t i, std::int64_t channels) const {
    const std::int64_t width = frames * channels;
    return std::span(values).subspan(static_cast<std::size_t>(samples.first_point(i) * width),
                                     static_cast<std::size_t>(samples.points_of(i) * width));
  }
};

// Time-conditional models give every frame of the dataset; autoregressive ones start from the samples' first frame,
// which is kept as frame 0, and step freely `steps` times (0: as many as the dataset has frames).
Prediction predict(Predictor& predictor, const SetDescription& description, const Samples& samples,
                   std::int64_t steps = 0);

}  // namespace lano
