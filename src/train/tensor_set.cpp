#include "train/tensor_set.h"

#include "core/hilbert.h"

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

std::span<float> row_of(std::vector<float>& values, std::int64_t row, std::int64_t size) {
  return std::span(values).subspan(static_cast<std::size_t>(row * size), static_cast<std::size_t>(size));
}

// Point order[i] comes to place i.
void permute_rows(std::span<float> values, std::int64_t channels, const std::vector<std::int64_t>& order) {
  const std::vector<float> before(values.begin(), values.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::int64_t c = 0; c < channels; ++c) {
      values[i * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)] = before[static_cast<std::size_t>(order[i] * channels + c)];
    }
  }
}

ChannelMap fit(std::span<const float> values, std::int64_t points, std::int64_t channels) {
  ChannelStatistics statistics(channels);
  const auto step = static_cast<std::size_t>(points * channels);
  for (std::size_t at = 0; step > 0 && at < values.size(); at += step) statistics.add(values.subspan(at, step));
  return statistics.map();
}

}  // namespace

TensorSet::TensorSet(Samples s, const SetDescription& d, const Normaliser& normaliser, const std::vector<double>& order_box)
    : size_(s.count), mesh_(d.geometry == Geometry::points ? Shape{} : d.shape) {
  if (d.geometry == Geometry::points && !order_box.empty()) {
    if (s.shared_coordinates) {  // inputs break ties, so the order is each sample's own
      const std::vector<float> once = s.coordinates;
      for (std::int64_t i = 1; i < s.count; ++i) s.coordinates.insert(s.coordinates.end(), once.begin(), once.end());
      s.shared_coordinates = false;
    }
    for (std::int64_t i = 0; i < s.count; ++i) {
      const auto coords = row_of(s.coordinates, i, s.points * d.dims());
      const auto input = row_of(s.input, i, s.points * d.input_channels());
      order_.push_back(hilbert_order(coords, d.dims(), input, d.input_channels(), order_box));
      permute_rows(coords, d.dims(), order_.back());
      permute_rows(input, d.input_channels(), order_.back());
      if (!s.output.empty()) permute_rows(row_of(s.output, i, s.points * d.output_channels()), d.output_channels(), order_.back());
    }
  }
  coordinates_ = to_tensor(s.coordinates, {s.shared_coordinates ? 1 : s.count, s.points, d.dims()}, &normaliser.coordinates);
  input_ = to_tensor(s.input, {s.count, s.points, d.input_channels()}, &normaliser.input);
  if (!s.output.empty()) output_ = to_tensor(s.output, {s.count, s.points, d.output_channels()}, nullptr);
}

void TensorSet::restore_order(std::int64_t row, std::int64_t channels, std::span<const float> from, std::span<float> to) const {
  if (order_.empty()) {
    std::copy(from.begin(), from.end(), to.begin());
    return;
  }
  const auto& order = order_[static_cast<std::size_t>(row)];
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::int64_t c = 0; c < channels; ++c) {
      to[static_cast<std::size_t>(order[i] * channels + c)] = from[i * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)];
    }
  }
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
