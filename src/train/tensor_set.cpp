#include "train/tensor_set.h"

#include <span>

namespace lano {
namespace {

torch::Tensor to_tensor(std::span<const float> values, const Shape& shape, const ChannelMap* map) {
  torch::Tensor tensor = torch::empty(at::IntArrayRef(shape), torch::kFloat32);
  const std::span<float> to(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
  if (map != nullptr) {
    map->encode(values, to);
  } else {
    std::copy(values.begin(), values.end(), to.begin());
  }
  return tensor;
}

torch::Tensor index_of(const std::vector<std::int64_t>& rows) { return torch::tensor(rows, torch::kInt64); }

ChannelMap fit(std::span<const float> values, std::int64_t points, std::int64_t channels) {
  ChannelStatistics statistics(channels);
  const auto step = static_cast<std::size_t>(points * channels);
  for (std::size_t at = 0; step > 0 && at < values.size(); at += step) statistics.add(values.subspan(at, step));
  return statistics.map();
}

}  // namespace

TensorSet::TensorSet(const Samples& s, const SetDescription& d, const Normaliser& normaliser)
    : size_(s.count),
      mesh_(d.geometry == Geometry::points ? Shape{} : d.shape),
      coordinates_(to_tensor(s.coordinates, {s.shared_coordinates ? 1 : s.count, s.points, d.dims()},
                             &normaliser.coordinates)),
      input_(to_tensor(s.input, {s.count, s.points, d.input_channels()}, &normaliser.input)) {
  if (!s.output.empty()) output_ = to_tensor(s.output, {s.count, s.points, d.output_channels()}, nullptr);
}

Batch TensorSet::batch(const std::vector<std::int64_t>& rows) const {
  const torch::Tensor index = index_of(rows);
  const auto count = static_cast<std::int64_t>(rows.size());
  const bool shared = coordinates_.size(0) == 1;
  return {shared ? coordinates_.expand({count, -1, -1}) : coordinates_.index_select(0, index),
          input_.index_select(0, index), mesh_};
}

torch::Tensor TensorSet::truth(const std::vector<std::int64_t>& rows) const {
  return output_.index_select(0, index_of(rows));
}

Normaliser fit_normaliser(const Samples& train, const SetDescription& d, bool scale_coordinates, bool scale_input,
                          bool scale_output) {
  return {scale_coordinates ? fit(train.coordinates, d.points(), d.dims()) : ChannelMap::identity(d.dims()),
          scale_input ? fit(train.input, d.points(), d.input_channels()) : ChannelMap::identity(d.input_channels()),
          scale_output ? fit(train.output, d.points(), d.output_channels()) : ChannelMap::identity(d.output_channels())};
}

torch::Tensor decode_output(const torch::Tensor& network, const ChannelMap& map) {
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  const torch::Tensor scale = torch::tensor(map.scale(), options).to(network.dtype());
  const torch::Tensor shift = torch::tensor(map.shift(), options).to(network.dtype());
  return network * scale + shift;
}

}  // namespace lano
