// The normaliser between physical values and what the network sees: one affine map per channel, fitted on the training
// split only, in double, and stored in the model file. It is applied between dataset and model, and inverted after the
// model. Arrays are [points, channels], channels fastest. A constant channel keeps scale 1, so nothing is divided by
// zero.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "normalise/mean_field.h"

namespace lano {

// y = (x - shift) / scale, each channel its own.
class ChannelMap {
 public:
  ChannelMap() = default;
  ChannelMap(std::vector<double> shift, std::vector<double> scale);
  static ChannelMap identity(std::int64_t channels);

  std::int64_t channels() const { return static_cast<std::int64_t>(shift_.size()); }
  const std::vector<double>& shift() const { return shift_; }
  const std::vector<double>& scale() const { return scale_; }

  void encode(std::span<const float> physical, std::span<float> network) const;
  void decode(std::span<const float> network, std::span<float> physical) const;

 private:
  std::vector<double> shift_, scale_;
};

// Running mean and variance of each channel in double (Chan, Golub, LeVeque): add whole samples in a fixed order and
// the result has the same bits for any thread count. Safe for huge offsets (1e8 +/- 1).
class ChannelStatistics {
 public:
  explicit ChannelStatistics(std::int64_t channels);
  void add(std::span<const float> values);  // [points, channels]
  ChannelMap map() const;                   // shift = mean, scale = standard deviation, 1 where that is 0

 private:
  std::vector<double> mean_, squares_;
  double count_ = 0;
};

struct Normaliser {
  ChannelMap coordinates, input, output;
  // Of each output channel, for models that step in time: the network gives the change of the normalised state in these
  // units. Empty: it gives the next state itself.
  std::vector<double> increment = {};
  // Of deformed meshes: the displacement from it is an input after the fields. Empty: it is not.
  MeanField mean_mesh = {};
  // On meshes: decoded values are differences from it. Empty: they are the values. Not of models that step in time.
  MeanField mean_output = {};

  // Fields and displacement as a network takes them, [N, da + displacement], of one sample on this mesh.
  std::vector<float> encode_input(const Shape& mesh, std::span<const float> points,
                                  std::span<const float> fields) const;
};

// network [points, channels], what a stepping network gave, becomes the next normalised state: state + increment *
// network. Nothing happens where `increment` is empty.
void add_increment(std::span<const double> increment, std::span<const float> state, std::span<float> network);

// Without the values of the mean fields, which are not text: the model file has them among its tensors.
nlohmann::json to_json(const Normaliser& normaliser);
Normaliser normaliser_from_json(const nlohmann::json& json);

}  // namespace lano
