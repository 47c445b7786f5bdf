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

std::span<float> writable(std::span<const float> values) { return {const_cast<float*>(values.data()), values.size()}; }

// Point order[i] comes to place i.
void permute_rows(std::span<float> values, std::int64_t channels, const std::vector<std::int64_t>& order) {
  const std::vector<float> before(values.begin(), values.end());
  const auto width = static_cast<std::size_t>(channels);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t c = 0; c < width; ++c) values[i * width + c] = before[static_cast<std::size_t>(order[i]) * width + c];
  }
}

torch::Tensor channel_row(const std::vector<double>& values, const torch::Tensor& like) {
  return torch::tensor(values, torch::kFloat64).to(like.dtype());
}

}  // namespace

TensorSet::TensorSet(Samples s, const SetDescription& d, const Normaliser& normaliser, const std::vector<double>& order_box)
    : size_(s.count),
      frames_(s.frames),
      points_(s.points),
      counts_(s.counts),
      mesh_(d.geometry == Geometry::points ? Shape{} : d.shape),
      time_(d.time) {
  for (std::int64_t i = 0; !counts_.empty() && i < s.count; ++i) first_.push_back(s.first_point(i));
  if (d.geometry == Geometry::grid && s.on_one_mesh()) {
    if (uniform_grid_spacing(d.shape, s.coordinates, &spacing_)) {
      origin_.assign(s.coordinates.begin(), s.coordinates.begin() + d.dims());
    }
  }
  if (d.geometry == Geometry::points && !order_box.empty()) {
    if (s.shared_coordinates) {  // inputs break ties, so the order is each sample's own
      const std::vector<float> once = s.coordinates;
      for (std::int64_t i = 1; i < s.count; ++i) s.coordinates.insert(s.coordinates.end(), once.begin(), once.end());
      s.shared_coordinates = false;
    }
    for (std::int64_t i = 0; i < s.count; ++i) {
      const auto coords = s.coordinates_of(i, d.dims()), input = s.input_of(i, d.input_channels());
      order_.push_back(hilbert_order(coords, d.dims(), input, d.input_channels(), order_box));
      permute_rows(writable(coords), d.dims(), order_.back());
      permute_rows(writable(input), d.input_channels(), order_.back());
      if (s.output.empty()) continue;
      const auto output = writable(s.output_of(i, d.output_channels()));
      const std::size_t frame = output.size() / static_cast<std::size_t>(s.frames);
      for (std::int64_t t = 0; t < s.frames; ++t) {
        permute_rows(output.subspan(static_cast<std::size_t>(t) * frame, frame), d.output_channels(), order_.back());
      }
    }
  }
  const auto arranged = [&](std::int64_t rows, std::int64_t channels) {
    return counts_.empty() ? Shape{rows, s.points, channels} : Shape{s.first_point(s.count), channels};
  };
  coordinates_ = to_tensor(s.coordinates, arranged(s.shared_coordinates ? 1 : s.count, d.dims()), &normaliser.coordinates);
  input_ = to_tensor(s.input, arranged(s.count, d.input_channels()), &normaliser.input);
  if (!s.output.empty()) output_ = to_tensor(s.output, arranged(s.count * s.frames, d.output_channels()), nullptr);
}

torch::Tensor TensorSet::rows_of(const torch::Tensor& values, const std::vector<std::int64_t>& rows) const {
  if (counts_.empty()) return values.index_select(0, torch::tensor(rows, torch::kInt64));
  std::vector<torch::Tensor> clouds;
  for (const std::int64_t row : rows) clouds.push_back(values.narrow(0, first_[static_cast<std::size_t>(row)], points_of(row)));
  return torch::cat(clouds, 0).unsqueeze(0);
}

Batch TensorSet::batch(const std::vector<Item>& items) const {
  std::vector<std::int64_t> rows;
  std::vector<double> times;
  for (const Item& item : items) {
    rows.push_back(item.row);
    if (!time_.empty()) times.push_back(time_[static_cast<std::size_t>(item.frame)]);
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  Batch batch;
  const bool shared = counts_.empty() && coordinates_.size(0) == 1 && size_ != 1;
  batch.coordinates = shared ? coordinates_.expand({count, -1, -1}) : rows_of(coordinates_, rows);
  batch.input = rows_of(input_, rows);
  batch.mesh = mesh_;
  batch.spacing = spacing_;
  batch.origin = origin_;
  if (!counts_.empty()) {
    for (const std::int64_t row : rows) batch.counts.push_back(points_of(row));
  }
  if (!times.empty()) batch.time = torch::tensor(times, torch::kFloat64);
  return batch;
}

torch::Tensor TensorSet::truth(const std::vector<Item>& items) const {
  std::vector<std::int64_t> rows;
  for (const Item& item : items) rows.push_back(item.row * frames_ + item.frame);
  return rows_of(output_, rows);
}

void TensorSet::restore_order(std::int64_t row, std::int64_t channels, std::span<const float> from, std::span<float> to) const {
  if (order_.empty()) {
    std::copy(from.begin(), from.end(), to.begin());
    return;
  }
  const auto& order = order_[static_cast<std::size_t>(row)];
  const auto width = static_cast<std::size_t>(channels);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t c = 0; c < width; ++c) to[static_cast<std::size_t>(order[i]) * width + c] = from[i * width + c];
  }
}

NormaliserFit::NormaliserFit(const SetDescription& d, bool scale_coordinates, bool scale_input, bool scale_output)
    : description_(d),
      scale_coordinates_(scale_coordinates),
      scale_input_(scale_input),
      scale_output_(scale_output),
      coordinates_(d.dims()),
      input_(d.input_channels()),
      output_(d.output_channels()) {}

void NormaliserFit::add(const Samples& samples, bool first_piece) {
  const SetDescription& d = description_;
  for (std::int64_t i = 0; i < samples.count; ++i) {
    if (scale_coordinates_ && (!samples.shared_coordinates || (first_piece && i == 0))) coordinates_.add(samples.coordinates_of(i, d.dims()));
    if (scale_input_) input_.add(samples.input_of(i, d.input_channels()));
    if (scale_output_) output_.add(samples.output_of(i, d.output_channels()));
  }
}

Normaliser NormaliserFit::result() const {
  const auto map = [](bool scale, const ChannelStatistics& statistics, std::int64_t channels) {
    return scale ? statistics.map() : ChannelMap::identity(channels);
  };
  return {map(scale_coordinates_, coordinates_, description_.dims()), map(scale_input_, input_, description_.input_channels()),
          map(scale_output_, output_, description_.output_channels())};
}

torch::Tensor decode_output(const torch::Tensor& network, const ChannelMap& map) {
  return network * channel_row(map.scale(), network) + channel_row(map.shift(), network);
}

torch::Tensor encode_output(const torch::Tensor& physical, const ChannelMap& map) {
  return (physical - channel_row(map.shift(), physical)) / channel_row(map.scale(), physical);
}

}  // namespace lano
