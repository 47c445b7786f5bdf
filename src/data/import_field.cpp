#include "data/import_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lano {
namespace {

constexpr std::int64_t kMostChannels = 4096;  // each gets a name
constexpr std::int64_t kMostParameters = 64;  // per sample; more are a field on other points
constexpr std::int64_t kValuesAtOnce = std::int64_t{1} << 24;

// Samples [first, first + count); the file that a bad number is in is named.
void check_all_finite(std::span<const float> values, const ArraySource& source, bool rows, std::int64_t first,
                      std::int64_t count) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  const std::int64_t each = std::max<std::int64_t>(1, std::ssize(values) / std::max<std::int64_t>(1, count));
  const std::int64_t sample = first + (bad - values.begin()) / each;
  fail(rows ? source.doing_row(sample) : source.doing(), "finite numbers", fmt::format("{} in sample {}", *bad, sample),
       "correct or remove that sample");
}

// Of space and, where `channels` is set, channels, for one sample; without samples and time.
ImportField::Axes axes_of(const NamedArray& named, SampleAxis samples, ChannelAxis channels,
                          std::optional<std::size_t> time) {
  ImportField::Axes axes;
  axes.samples = sample_axis(named, samples);
  axes.time = time;
  std::vector<std::size_t> rest;
  for (std::size_t a = 0; a < named.array->shape().size(); ++a) {
    if (a != *axes.samples && (!time || a != *time)) rest.push_back(a);
  }
  if (channels != ChannelAxis::none && !rest.empty())
    axes.channels = channels == ChannelAxis::first ? rest.front() : rest.back();
  return axes;
}

}  // namespace

ImportField::ImportField(NamedArray named, const Axes& axes) : named_(std::move(named)), axes_(axes) {
  const Shape& extents = named_.array->shape();
  if (element_count(extents) == 0)
    fail(doing(), "an array with values", shape_text(extents), "import it without that array");
  if (axes.samples) order_.push_back(*axes.samples);
  if (axes.time) order_.push_back(*axes.time);
  for (std::size_t a = 0; a < extents.size(); ++a) {
    if (axes.samples == a || axes.time == a || axes.channels == a) continue;
    order_.push_back(a);
    shape_.push_back(extents[a]);
  }
  if (axes.channels) order_.push_back(*axes.channels);
  if (axes.samples) samples_ = extents[*axes.samples];
  if (axes.time) frames_ = extents[*axes.time];
  if (axes.channels) channels_ = extents[*axes.channels];
  if (channels_ > kMostChannels) {
    fail(doing(), fmt::format("at most {} channels", kMostChannels), shape_text(extents),
         "see --channels in 'lano import --help'");
  }
}

ImportField::ImportField(NamedArray named, ChannelAxis channels) : named_(std::move(named)) {
  samples_ = std::ssize(named_.list);
  channels_first_ = channels == ChannelAxis::first;
  const auto width = [&](const Shape& shape) { return shape.size() < 2 ? 1 : shape[channels_first_ ? 0 : 1]; };
  channels_ = width(named_.list.front()->shape());
  for (const auto& part : named_.list) {
    if (part->shape().empty() || part->shape().size() > 2 || element_count(part->shape()) == 0 ||
        width(part->shape()) != channels_ || channels_ > kMostChannels) {
      fail(part->doing(), fmt::format("one array [points] or [points, {}] per sample", channels_),
           shape_text(part->shape()), "samples of different sizes are clouds of points");
    }
  }
}

std::int64_t ImportField::points_of(std::int64_t sample) const {
  if (!ragged()) return element_count(shape_);
  const Shape& shape = named_.list[static_cast<std::size_t>(sample)]->shape();
  return shape[shape.size() == 2 && channels_first_ ? 1 : 0];
}

std::vector<float> ImportField::read(std::int64_t first, std::int64_t count) const {
  if (ragged()) {
    const ArraySource& part = *named_.list[static_cast<std::size_t>(first)];
    std::vector<float> values = part.read_all();
    if (channels_first_ && part.shape().size() == 2) values = permuted(values, part.shape(), {1, 0});
    check_all_finite(values, part, false, first, 1);
    return values;
  }
  std::vector<AxisRange> ranges = named_.array->whole();
  if (axes_.samples) ranges[*axes_.samples] = {first, count, 1};
  std::vector<float> values = named_.array->read(ranges);
  if (!std::is_sorted(order_.begin(), order_.end())) {
    Shape counts;
    for (const AxisRange& range : ranges) counts.push_back(range.count);
    values = permuted(values, counts, order_);
  }
  check_all_finite(values, *named_.array, named_.by_sample, axes_.samples ? first : 0, axes_.samples ? count : 1);
  return values;
}

std::int64_t ImportField::at_once() const {
  if (ragged()) return 1;
  const std::int64_t each = frames_ * element_count(shape_) * channels_;
  return std::max<std::int64_t>(1, kValuesAtOnce * (named_.array->costly_parts() ? 8 : 1) / each);
}

std::size_t sample_axis(const NamedArray& named, SampleAxis where) {
  return named.by_sample || where == SampleAxis::first ? 0 : named.array->shape().size() - 1;
}

ImportField output_field(NamedArray named, const ArrayImport& options, std::optional<std::size_t> time_axis) {
  if (!named.list.empty()) {
    if (time_axis || !options.time.empty())
      fail(named.doing(), "samples of one size, since there is time", "samples of different sizes",
           "clouds of different sizes are steady");
    return {std::move(named), options.channels};
  }
  const Shape& shape = named.array->shape();
  const std::size_t least = 2 + (options.channels != ChannelAxis::none ? 1 : 0) + (time_axis ? 1 : 0);
  if (shape.size() < least) {
    fail(named.doing(),
         fmt::format("an output of at least {} axes: samples{}, points{}", least, time_axis ? ", time" : "",
                     least - (time_axis ? 1 : 0) > 2 ? ", channels" : ""),
         shape_text(shape), "see --channels, --time and --samples in 'lano import --help'");
  }
  const ImportField::Axes axes = axes_of(named, options.samples, options.channels, time_axis);
  return {std::move(named), axes};
}

ImportField input_field(NamedArray named, const ArrayImport& options, const ImportField& output, bool elsewhere) {
  if (!named.list.empty()) {
    ImportField field(std::move(named), options.channels);
    for (std::int64_t i = 0; i < field.samples() && !elsewhere; ++i) {
      if (field.samples() != output.samples() || field.points_of(i) != output.points_of(i))
        fail(field.doing(), fmt::format("{} points in sample {}, as the output has", output.points_of(i), i),
             fmt::format("{} points, {} samples", field.points_of(i), field.samples()),
             "give the input's own points with --input-coords");
    }
    return field;
  }
  const Shape shape = named.array->shape();
  const std::int64_t samples = output.samples();
  const auto fits = [&](const ImportField::Axes& axes) {
    Shape space;
    for (std::size_t a = 0; a < shape.size(); ++a) {
      if (axes.samples != a && axes.channels != a) space.push_back(shape[a]);
    }
    return shape[*axes.samples] == samples && !output.ragged() && space == output.shape();
  };
  if (!shape.empty() && element_count(shape) > 0) {
    // With the given axis of channels, or without one; then parameters, one row per sample.
    for (const ChannelAxis channels : {options.channels, ChannelAxis::none}) {
      const ImportField::Axes axes = axes_of(named, options.samples, channels, std::nullopt);
      if (fits(axes)) return {std::move(named), axes};
    }
    if (shape.size() <= 2 && !elsewhere) {
      for (const std::size_t axis : {std::size_t{0}, shape.size() - 1}) {
        if (shape[axis] != samples || (shape.size() == 2 && shape[1 - axis] > kMostParameters)) continue;
        ImportField::Axes axes;
        axes.samples = axis;
        if (shape.size() == 2) axes.channels = 1 - axis;
        return {std::move(named), axes};
      }
    }
    const ImportField::Axes axes = axes_of(named, options.samples, options.channels, std::nullopt);
    if (elsewhere && shape[*axes.samples] == samples) return {std::move(named), axes};
  }
  fail(named.doing(),
       fmt::format("input for {} samples of {}, or at most {} parameters for each", samples,
                   output.ragged() ? "different sizes" : fmt::format("shape {}", shape_text(output.shape())),
                   kMostParameters),
       shape_text(shape),
       elsewhere ? "its samples must be as many as the output's"
                 : "an input on other points needs --input-coords; see --channels and --samples, too");
}

// One array: [shape..., dims], [S, shape..., dims], or on one axis [n] or [S, n].
bool ImportCoordinates::take_whole(NamedArray& array, const ArrayImport& options, const ImportField& like) {
  if (!array.list.empty()) {
    fields_.emplace_back(array, options.channels == ChannelAxis::first ? ChannelAxis::first : ChannelAxis::last);
    return true;
  }
  const Shape& shape = array.array->shape();
  const Shape& points = like.shape();
  const std::size_t rank = points.size();
  const auto at = [&](std::size_t skip) {  // the points' axes begin there
    return shape.size() >= skip + rank &&
           std::equal(points.begin(), points.end(), shape.begin() + static_cast<std::ptrdiff_t>(skip));
  };
  ImportField::Axes axes;
  const bool once = rank > 0 && !like.ragged();
  if (once && !array.by_sample && shape.size() == rank + 1 && at(0)) {
    axes.channels = rank;
  } else if (once && shape.size() == rank + 2 && shape.front() == like.samples() && at(1)) {
    axes.samples = 0;
    axes.channels = rank + 1;
  } else if (once && !array.by_sample && options.samples == SampleAxis::last && shape.size() == rank + 2 && at(0) &&
             shape.back() == like.samples()) {
    axes.samples = rank + 1;
    axes.channels = rank;
  } else if (rank == 1 && shape == points) {
    // x of a line, shared
  } else if (rank == 1 && shape.size() == 2 && shape.front() == like.samples() && at(1)) {
    axes.samples = 0;
  } else if (once && shape.size() == rank + 2 && shape.front() == 1 && at(1)) {
    axes.samples = 0;  // one set of coordinates, with an axis of samples all the same
    axes.channels = rank + 1;
  } else {
    return false;
  }
  fields_.emplace_back(array, axes);
  return true;
}

// One array per coordinate: [shape...], [S, shape...], or [n_a] along axis a.
void ImportCoordinates::take_axes(std::vector<NamedArray>& arrays, const ArrayImport& options, const ImportField& like,
                                  const char* whose) {
  const Shape& points = like.shape();
  product_ = points.size() > 1 && arrays.size() == points.size();
  for (std::size_t a = 0; a < arrays.size() && product_; ++a)
    product_ = arrays[a].list.empty() && element_count(arrays[a].array->shape()) == points[a];
  for (NamedArray& array : arrays) {
    if (!array.list.empty()) {
      fields_.emplace_back(array, ChannelAxis::none);
      continue;
    }
    const Shape& shape = array.array->shape();
    ImportField::Axes axes;
    if (!product_ && (array.by_sample || shape != points)) {
      axes.samples = sample_axis(array, options.samples);
      Shape rest = shape;
      if (!rest.empty()) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*axes.samples));
      if (rest != points || shape[*axes.samples] != like.samples()) {
        fail(array.doing(),
             fmt::format("one coordinate of {} points {}, for all samples or each of {}", whose, shape_text(points),
                         like.samples()),
             shape_text(shape), "give one array per coordinate, or one with x, y, z as its last axis");
      }
    }
    fields_.emplace_back(array, axes);
  }
}

ImportCoordinates::ImportCoordinates(std::vector<NamedArray> arrays, const ArrayImport& options,
                                     const ImportField& like, const char* whose)
    : shape_(like.shape()) {
  const Shape found = arrays.front().array ? arrays.front().array->shape() : Shape{};
  if (arrays.size() > 1) {
    take_axes(arrays, options, like, whose);
  } else if (!take_whole(arrays.front(), options, like)) {
    fail(arrays.front().doing(),
         like.ragged() ? fmt::format("one array [points, dims] for each of {} samples", like.samples())
                       : fmt::format("coordinates of {} points: [{}{}dims], or that for each of {} samples", whose,
                                     fmt::join(like.shape(), ", "), like.shape().empty() ? "" : ", ", like.samples()),
         shape_text(found), "the last axis holds x, y, z");
  }
  for (const ImportField& field : fields_) {
    dims_ += field.channels();
    shared_ = shared_ && !field.ragged() && field.samples() == 1 && (field.shared() || like.samples() != 1);
    samples_ = std::max(samples_, field.samples());
    const std::vector<FieldInfo>& given = field.named().fields;
    if (!given.empty() && std::ssize(given) != field.channels())
      fail_usage("naming coordinates", fmt::format("{} names", field.channels()), std::to_string(given.size()));
    names_.insert(names_.end(), given.begin(), given.end());
  }
  for (const ImportField& field : fields_) {
    const bool sizes = field.ragged() == like.ragged();
    bool same = sizes && (field.samples() == 1 || field.samples() == like.samples());
    for (std::int64_t i = 0; same && field.ragged() && i < like.samples(); ++i)
      same = field.points_of(i) == like.points_of(i);
    if (!same)
      fail(field.doing(), fmt::format("coordinates for {} samples, with as many points as {}", like.samples(), whose),
           fmt::format("{} samples, or other sizes", field.samples()), "the last axis holds x, y, z");
  }
  if (names_.size() != static_cast<std::size_t>(dims_)) {
    constexpr const char* kAxes[] = {"x", "y", "z"};
    names_.clear();
    for (std::int64_t a = 0; a < dims_; ++a) names_.push_back({a < 3 ? kAxes[a] : "w", "1"});
  }
}

std::vector<float> ImportCoordinates::read(std::int64_t first, std::int64_t count) const {
  std::vector<std::vector<float>> parts;
  for (const ImportField& field : fields_) {
    const bool once = field.samples() == 1 && !field.ragged();
    parts.push_back(field.read(once ? 0 : first, once ? 1 : count));
  }
  if (parts.size() == 1) return std::move(parts.front());
  const auto dims = static_cast<std::size_t>(dims_);
  std::vector<float> out;
  if (product_) {
    Shape stride(dims, 1);
    for (std::size_t a = dims; a-- > 1;) stride[a - 1] = stride[a] * shape_[a];
    for (std::int64_t p = 0; p < element_count(shape_); ++p) {
      for (std::size_t a = 0; a < dims; ++a)
        out.push_back(parts[a][static_cast<std::size_t>(p / stride[a] % shape_[a])]);
    }
    return out;
  }
  std::size_t most = 0;
  for (const auto& part : parts) most = std::max(most, part.size());
  out.resize(most * dims);  // shared coordinates are combined with those of each sample
  for (std::size_t i = 0; i < most; ++i) {
    for (std::size_t a = 0; a < dims; ++a) out[i * dims + a] = parts[a][i % parts[a].size()];
  }
  return out;
}

std::vector<FieldInfo> field_infos(const NamedArray& named, std::int64_t channels) {
  const std::vector<FieldInfo>& given = named.fields;
  if (std::ssize(given) == channels) return given;
  if (given.size() > 1)
    fail_usage(fmt::format("naming the fields of '{}'", named.name), fmt::format("{} names, or one", channels),
               std::to_string(given.size()), "NAME[UNIT],NAME[UNIT]=ARRAY");
  const FieldInfo stem = given.empty() ? FieldInfo{without_split_mark(named.name), "1"} : given.front();
  std::vector<FieldInfo> fields;
  for (std::int64_t c = 0; c < channels; ++c)
    fields.push_back({channels == 1 ? stem.name : fmt::format("{}_{}", stem.name, c), stem.unit});
  return fields;
}

}  // namespace lano
