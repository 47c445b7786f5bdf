#include "data/sample_set.h"

#include <algorithm>
#include <numeric>

#include "core/hilbert.h"

namespace lano {
namespace {

std::vector<float> encoded(const ChannelMap& map, std::vector<float> values) {
  map.encode(values, values);
  return values;
}

std::span<float> writable(std::span<const float> values) { return {const_cast<float*>(values.data()), values.size()}; }

// Point order[i] comes to place i.
void permute_rows(std::span<float> values, std::int64_t channels, const std::vector<std::int64_t>& order) {
  const std::vector<float> before(values.begin(), values.end());
  const auto width = static_cast<std::size_t>(channels);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::copy_n(before.begin() + order[i] * channels, width, values.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
}

void append(std::vector<float>& to, const std::vector<float>& from, std::int64_t first, std::int64_t count) {
  to.insert(to.end(), from.begin() + first, from.begin() + first + count);
}

}  // namespace

std::int64_t FieldBatch::points() const { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}); }

SampleSet::SampleSet(Samples s, const SetDescription& d, const Normaliser& normaliser,
                     const std::vector<double>& order_box)
    : size_(s.count),
      frames_(s.frames),
      dims_(d.dims()),
      inputs_(d.input_channels() + normaliser.mean_mesh.channels()),
      outputs_(d.output_channels()),
      packed_(!s.counts.empty()),
      mesh_(d.geometry == Geometry::points ? Shape{} : d.shape),
      time_(d.time) {
  for (std::int64_t i = 0; i <= s.count; ++i) first_.push_back(s.first_point(i));
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
      const std::vector<std::int64_t> order = hilbert_order(coords, d.dims(), input, d.input_channels(), order_box);
      permute_rows(writable(coords), d.dims(), order);
      permute_rows(writable(input), d.input_channels(), order);
      if (s.output.empty()) continue;
      const auto output = writable(s.output_of(i, d.output_channels()));
      const std::size_t frame = output.size() / static_cast<std::size_t>(s.frames);
      for (std::int64_t t = 0; t < s.frames; ++t) {
        permute_rows(output.subspan(static_cast<std::size_t>(t) * frame, frame), d.output_channels(), order);
      }
    }
  }
  shared_ = s.shared_coordinates;
  if (normaliser.mean_mesh.empty()) {
    input_ = encoded(normaliser.input, std::move(s.input));
  } else {
    for (std::int64_t i = 0; i < s.count; ++i) {
      const std::vector<float> one =
          normaliser.encode_input(mesh_, s.coordinates_of(i, d.dims()), s.input_of(i, d.input_channels()));
      input_.insert(input_.end(), one.begin(), one.end());
    }
  }
  coordinates_ = encoded(normaliser.coordinates, std::move(s.coordinates));
  output_ = std::move(s.output);
}

FieldBatch SampleSet::batch(const std::vector<Item>& items) const {
  FieldBatch batch;
  batch.packed = packed_;
  batch.shared_coordinates = shared_;
  batch.mesh = mesh_;
  batch.spacing = spacing_;
  batch.origin = origin_;
  if (shared_) batch.coordinates = coordinates_;
  for (const Item& item : items) {
    const std::int64_t points = points_of(item.row), first = first_[at(item.row)];
    batch.sizes.push_back(points);
    if (!time_.empty()) batch.times.push_back(time_[at(item.frame)]);
    if (!shared_) append(batch.coordinates, coordinates_, first * dims_, points * dims_);
    append(batch.input, input_, first * inputs_, points * inputs_);
  }
  return batch;
}

std::vector<float> SampleSet::truth(const std::vector<Item>& items) const {
  std::vector<float> values;
  for (const Item& item : items) {
    const std::int64_t frame = points_of(item.row) * outputs_;
    append(values, output_, first_[at(item.row)] * frames_ * outputs_ + item.frame * frame, frame);
  }
  return values;
}

}  // namespace lano
