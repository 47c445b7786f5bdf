#include "normalise/normaliser.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "normalise/displacement.h"

namespace lano {
namespace {

nlohmann::json map_to_json(const ChannelMap& map) { return {{"shift", map.shift()}, {"scale", map.scale()}}; }

ChannelMap map_from_json(const nlohmann::json& json) {
  return {json.at("shift").get<std::vector<double>>(), json.at("scale").get<std::vector<double>>()};
}

}  // namespace

ChannelMap::ChannelMap(std::vector<double> shift, std::vector<double> scale)
    : shift_(std::move(shift)), scale_(std::move(scale)) {
  if (shift_.size() != scale_.size()) {
    fail("making a normaliser", "as many scales as shifts",
         std::to_string(scale_.size()) + " and " + std::to_string(shift_.size()));
  }
  for (std::size_t c = 0; c < scale_.size(); ++c) {
    if (!std::isfinite(shift_[c]) || !std::isfinite(scale_[c]) || scale_[c] == 0) {
      fail("making a normaliser", "finite shifts and finite scales other than 0",
           "shift " + std::to_string(shift_[c]) + ", scale " + std::to_string(scale_[c]) + " in channel " +
               std::to_string(c));
    }
  }
}

ChannelMap ChannelMap::identity(std::int64_t channels) {
  const auto count = static_cast<std::size_t>(channels);
  return {std::vector<double>(count, 0.0), std::vector<double>(count, 1.0)};
}

void ChannelMap::encode(std::span<const float> physical, std::span<float> network) const {
  const std::size_t channels = shift_.size();
  for (std::size_t i = 0; i < physical.size(); ++i) {
    const std::size_t c = i % channels;
    network[i] = static_cast<float>((static_cast<double>(physical[i]) - shift_[c]) / scale_[c]);
  }
}

void ChannelMap::decode(std::span<const float> network, std::span<float> physical) const {
  const std::size_t channels = shift_.size();
  for (std::size_t i = 0; i < network.size(); ++i) {
    const std::size_t c = i % channels;
    physical[i] = static_cast<float>(static_cast<double>(network[i]) * scale_[c] + shift_[c]);
  }
}

ChannelStatistics::ChannelStatistics(std::int64_t channels)
    : mean_(static_cast<std::size_t>(channels)), squares_(static_cast<std::size_t>(channels)) {}

void ChannelStatistics::add(std::span<const float> values) {
  const std::size_t channels = mean_.size();
  if (channels == 0 || values.empty()) return;
  const std::size_t points = values.size() / channels;
  const auto n = static_cast<double>(points);
  for (std::size_t c = 0; c < channels; ++c) {
    // Two passes over the sample: its mean, then its squared deviations from it.
    double mean = 0;
    for (std::size_t p = 0; p < points; ++p) mean += values[p * channels + c];
    mean /= n;
    double squares = 0;
    for (std::size_t p = 0; p < points; ++p) {
      const double deviation = values[p * channels + c] - mean;
      squares += deviation * deviation;
    }
    // Merge: the deviation between the two means carries the rest of the variance.
    const double delta = mean - mean_[c];
    squares_[c] += squares + delta * delta * count_ * n / (count_ + n);
    mean_[c] += delta * n / (count_ + n);
  }
  count_ += n;
}

ChannelMap ChannelStatistics::map() const {
  std::vector<double> scale(mean_.size(), 1.0);
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const double deviation = count_ > 0 ? std::sqrt(squares_[c] / count_) : 0;
    // Deviations at the level of float rounding of the mean are a constant channel, not data.
    if (deviation > 1e-9 * std::abs(mean_[c])) scale[c] = deviation;
  }
  return {mean_, scale};
}

nlohmann::json to_json(const Normaliser& normaliser) {
  nlohmann::json json{{"coordinates", map_to_json(normaliser.coordinates)},
                      {"input", map_to_json(normaliser.input)},
                      {"output", map_to_json(normaliser.output)}};
  if (!normaliser.increment.empty()) json["increment"] = normaliser.increment;
  if (!normaliser.mean_mesh.empty()) json["displacement"] = normaliser.mean_mesh.scale();
  if (!normaliser.mean_output.empty()) json["mean_output"] = true;
  return json;
}

Normaliser normaliser_from_json(const nlohmann::json& json) {
  Normaliser normaliser{
      map_from_json(json.at("coordinates")), map_from_json(json.at("input")), map_from_json(json.at("output")), {}};
  if (json.contains("increment")) {
    normaliser.increment = json.at("increment").get<std::vector<double>>();
    const bool fits = static_cast<std::int64_t>(normaliser.increment.size()) == normaliser.output.channels() &&
                      std::all_of(normaliser.increment.begin(), normaliser.increment.end(),
                                  [](double unit) { return unit > 0 && std::isfinite(unit); });
    if (!fits)
      fail_plainly("reading a normaliser", "increments must be above 0, one per output channel", "the file is damaged");
  }
  if (json.contains("displacement")) {
    std::vector<double> scale = json.at("displacement").get<std::vector<double>>();
    const bool fits =
        static_cast<std::int64_t>(scale.size()) == normaliser.coordinates.channels() &&
        std::all_of(scale.begin(), scale.end(), [](double unit) { return unit > 0 && std::isfinite(unit); });
    if (!fits)
      fail_plainly("reading a normaliser", "displacements must be above 0, one per coordinate", "the file is damaged");
    normaliser.mean_mesh = MeanField({}, {}, std::move(scale));
  }
  if (json.value("mean_output", false)) normaliser.mean_output = MeanField({}, {}, normaliser.output.scale());
  return normaliser;
}

std::vector<float> Normaliser::encode_input(const Shape& mesh, std::span<const float> points,
                                            std::span<const float> fields) const {
  std::vector<float> all(fields.size());
  input.encode(fields, all);
  if (mean_mesh.empty()) return all;
  const std::vector<float> moved = Displacement(mean_mesh, mesh).of(points, 0, 0, element_count(mesh));
  const auto da = static_cast<std::size_t>(input.channels()), dx = static_cast<std::size_t>(mean_mesh.channels());
  const std::vector<float> before = std::move(all);
  all.clear();
  for (std::size_t p = 0; p < moved.size() / dx; ++p) {
    all.insert(all.end(), before.begin() + static_cast<std::ptrdiff_t>(p * da),
               before.begin() + static_cast<std::ptrdiff_t>((p + 1) * da));
    all.insert(all.end(), moved.begin() + static_cast<std::ptrdiff_t>(p * dx),
               moved.begin() + static_cast<std::ptrdiff_t>((p + 1) * dx));
  }
  return all;
}

void add_increment(std::span<const double> increment, std::span<const float> state, std::span<float> network) {
  for (std::size_t i = 0; !increment.empty() && i < network.size(); ++i) {
    network[i] = static_cast<float>(static_cast<double>(state[i]) +
                                    increment[i % increment.size()] * static_cast<double>(network[i]));
  }
}

}  // namespace lano
