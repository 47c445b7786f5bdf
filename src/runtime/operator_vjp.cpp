// The transposed derivative of a prediction, through the backward pass of training. With the features of a point
//   f = [position(x), (a - shift)/scale, displacement(c), (s - shift)/scale],  x = (c - shift)/scale
// and the prediction u = scale network(f) + shift, or s + increment scale network(f) of models that step,
//   dL/dnetwork = scale dL/du,  dL/df by kernels/network_backward.cpp,  dL/da = dL/df / scale, ...
// The weights' gradients are computed on the way and discarded: about a third of the work.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "runtime/operator_parts.h"

namespace lano {
namespace {

constexpr const char* kDoing = "taking a derivative";

LanoGradients gradients_in(const LanoConfig& config, const LanoShape& shape, std::vector<float>& flat) {
  std::int64_t size = 0;
  make_lano_tensors<float*>(config, shape, [&](const std::string&, const Shape& each) -> float* {
    size += element_count(each);
    return nullptr;
  });
  flat.resize(static_cast<std::size_t>(size));
  float* at = flat.data();
  return make_lano_tensors<float*>(config, shape, [&](const std::string&, const Shape& each) {
    float* const place = at;
    at += element_count(each);
    return place;
  });
}

void check_slopes(std::span<const float> slopes, std::int64_t points, std::int64_t channels) {
  if (std::ssize(slopes) != points * channels)
    fail_usage(kDoing, fmt::format("{} slopes: {} points of {} channels", points * channels, points, channels),
               std::to_string(slopes.size()));
  if (!std::all_of(slopes.begin(), slopes.end(), [](float value) { return std::isfinite(value); }))
    fail_plainly(kDoing, "the slopes of the output are not finite");
}

}  // namespace

// Slopes of the features [N, width], in the model's order, become those of what the features were made of.
Operator::Slopes Operator::Parts::physical_slopes(const Arranged& arranged, std::span<const float> feature_slopes,
                                                  std::span<const float> output_slopes) const {
  const Points& points = arranged.points;
  const Normaliser& map = file.normaliser;
  const std::int64_t n = points.count, dims = file.set.dims(), in = file.set.input_channels(),
                     out = file.set.output_channels(), moved = displaced(), states = state_channels(),
                     place = positions.width(), width = place + shape.input_channels;
  const auto room = [&](std::int64_t channels) { return std::vector<float>(static_cast<std::size_t>(n * channels)); };
  Slopes found{room(dims), room(in), room(states)};
  std::vector<float> x(static_cast<std::size_t>(dims));
  std::vector<double> dx(x.size()), from_displacement(moved > 0 ? found.coordinates.size() : 0, 0.0);
  if (moved > 0) {  // of meshes, which keep their own order
    std::vector<double> slopes;
    slopes.reserve(from_displacement.size());
    for (std::int64_t i = 0; i < n; ++i) {
      const float* const row = feature_slopes.data() + i * width + place + in;
      slopes.insert(slopes.end(), row, row + dims);
    }
    arranged.displacement->pull_back(slopes, from_displacement);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t point = points.order.empty() ? i : points.order[static_cast<std::size_t>(i)];
    const float* const row = feature_slopes.data() + i * width;
    map.coordinates.encode(
        points.coordinates.subspan(static_cast<std::size_t>(point * dims), static_cast<std::size_t>(dims)), x);
    positions.back(x, row, dx);
    for (std::int64_t d = 0; d < dims; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      double slope = dx[axis] / map.coordinates.scale()[axis];
      const auto to = static_cast<std::size_t>(point * dims + d);
      if (moved > 0) slope += from_displacement[to];
      found.coordinates[to] = static_cast<float>(slope);
    }
    for (std::int64_t c = 0; c < in; ++c)
      found.input[static_cast<std::size_t>(point * in + c)] =
          static_cast<float>(static_cast<double>(row[place + c]) / map.input.scale()[static_cast<std::size_t>(c)]);
    for (std::int64_t s = 0; s < states; ++s) {
      const std::int64_t frame = s / out, c = s % out;
      double slope = static_cast<double>(row[place + in + moved + s]) / map.output.scale()[static_cast<std::size_t>(c)];
      if (!map.increment.empty() && frame + 1 == states / out)  // the prediction is the newest frame plus a change
        slope += static_cast<double>(output_slopes[static_cast<std::size_t>(point * out + c)]);
      found.state[static_cast<std::size_t>((frame * n + point) * out + c)] = static_cast<float>(slope);
    }
  }
  return found;
}

Operator::Slopes Operator::vjp(std::span<const float> coordinates, std::span<const float> input,
                               std::span<const float> output_slopes, const Call& call) const {
  const Parts& p = *parts_;
  std::call_once(p.trainable_made, [&p] {
    p.trainable.network =
        std::make_unique<kernels::Network>(kernels::network_shape(p.config, p.shape), p.weights.network, true);
    p.trainable.geometries = std::make_unique<kernels::GeometryCache>(p.config, p.shape, true);
  });
  const Parts::Arranged a = p.arrange(coordinates, input, call, *p.trainable.geometries);
  const Normaliser& map = p.file.normaliser;
  const std::int64_t points = a.points.count, out = set().output_channels(),
                     width = p.positions.width() + p.shape.input_channels;
  check_slopes(output_slopes, points, out);
  std::vector<float> features(static_cast<std::size_t>(points * width)), answer(static_cast<std::size_t>(points * out)),
      slopes(answer.size()), feature_slopes(features.size());
  p.stream(a.points, {}).read(0, points, features.data());
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(out), c = i % static_cast<std::size_t>(out),
                      from = a.points.order.empty() ? row : static_cast<std::size_t>(a.points.order[row]);
    const double scale = map.output.scale()[c] * (map.increment.empty() ? 1 : map.increment[c]);
    slopes[i] =
        static_cast<float>(scale * static_cast<double>(output_slopes[from * static_cast<std::size_t>(out) + c]));
  }
  const kernels::Sample sample = a.sample(0);
  const float* const time = a.points.time.empty() ? nullptr : a.points.time.data();
  const auto tape = p.trainable.network->record({&sample, 1}, features.data(), time, answer.data());
  std::vector<float> weights, time_slopes(a.points.time.size());
  const LanoGradients to = gradients_in(p.config, p.shape, weights);
  p.trainable.network->backward(*tape, features.data(), slopes.data(), to.network, feature_slopes.data(),
                                time == nullptr ? nullptr : time_slopes.data());
  return p.physical_slopes(a, feature_slopes, output_slopes);
}

}  // namespace lano
