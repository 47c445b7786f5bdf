// Reading, whatever holds the numbers: a file (dataset_file.cpp) or memory. Samples are copied in the requested order
// and checked for numbers that are not finite.
#include "data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/fnv.h"
#include "core/turn_axes.h"

namespace lano {
namespace {

// HDF5 may be built without thread safety, and training reads ahead during validation: one reader at a time in the
// process.
std::mutex one_at_a_time;

void check_finite(std::span<const float> values, const std::string& doing, const char* array, std::int64_t sample) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      fail(doing, fmt::format("finite numbers in /{}", array),
           fmt::format("{} in sample {} at value {}", values[i], sample, i),
           "correct or remove that sample and import the dataset again");
    }
  }
}

}  // namespace

std::mutex& DatasetReader::reading_mutex() { return one_at_a_time; }

std::string DatasetReader::doing() const {
  return path_.empty() ? "reading the arrays" : fmt::format("reading '{}'", path_.string());
}

void DatasetReader::check_unchanged() const {
  if (path_.empty()) return;  // arrays in memory are their owner's
  const FileIdentity now = identity_of(path_);
  if (now == identity_) return;
  fail_plainly(doing(),
               now == FileIdentity{} ? "the file was removed since it was opened"
                                     : "the file was changed or replaced since it was opened",
               "do not touch a dataset while it is in use, and start again");
}

DatasetReader::~DatasetReader() = default;
DatasetReader::DatasetReader(DatasetReader&&) noexcept = default;

// What a description must say to be used, whatever comes with it.
void DatasetReader::check_description() const {
  const std::string doing = this->doing();
  const SetDescription& d = description_;
  std::int64_t points = 1;
  for (const std::int64_t extent : d.shape) {
    if (extent < 1 || extent > (std::int64_t{1} << 40) / points)
      fail(doing, "axes of at least one point", shape_text(d.shape));
    points *= extent;
  }
  if (d.shape.empty() || d.dims() < 1 || (d.geometry == Geometry::grid && d.shape.size() != d.coordinates.size())) {
    fail(doing, "at least one axis, and on a grid as many coordinates as axes",
         fmt::format("{} and {} coordinates", shape_text(d.shape), d.dims()), "import it as a mesh");
  }
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  if (d.box.size() != 2 * d.coordinates.size() || !finite(d.box) || !finite(d.time)) {
    fail(doing, "a box with two finite ends for each coordinate, and finite times",
         fmt::format("{} ends for {} coordinates", d.box.size(), d.dims()), "make the file again");
  }
  check_span(d, doing);
  if (d.given_frames < 1 || d.given_frames > std::max<std::int64_t>(1, std::ssize(d.time)))
    fail(doing, "given_frames among the frames of the output", std::to_string(d.given_frames), "make the file again");
  if (!d.periodic.empty() && (d.geometry == Geometry::points || d.periodic.size() != d.shape.size())) {
    fail(doing, "periodic with one flag per axis of a grid or mesh",
         fmt::format("{} flags for {} {}", d.periodic.size(), geometry_name(d.geometry), shape_text(d.shape)),
         "make the file again");
  }
  // The last of the input channels are frames of the output: there must be that many.
  if (!finite(d.initial_time) || (!d.initial_time.empty() && d.time.empty()) ||
      std::ssize(d.initial_time) * d.output_channels() > d.input_channels()) {
    fail(doing, "initial_time with one finite time per frame among the input fields",
         fmt::format("{} times for {} input fields", d.initial_time.size(), d.input_channels()), "make the file again");
  }
}

std::vector<std::int64_t> DatasetReader::indices(Split split) const {
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i] == split) ids.push_back(static_cast<std::int64_t>(i));
  }
  return ids;
}

std::vector<std::int64_t> DatasetReader::indices(std::string_view split_or_all) const {
  if (split_or_all != "all") return indices(parse_split(split_or_all));
  std::vector<std::int64_t> ids(static_cast<std::size_t>(size_));
  for (std::int64_t i = 0; i < size_; ++i) ids[static_cast<std::size_t>(i)] = i;
  return ids;
}

Samples DatasetReader::read(std::span<const std::int64_t> ids) const {
  try {
    check_unchanged();
    Samples samples = read_samples(ids);
    check_unchanged();
    return samples;
  } catch (const std::bad_alloc&) {
    fail(doing(), "samples that fit in memory", fmt::format("{} of {} points", ids.size(), description_.points()),
         "ask for fewer samples");
  }
}

// With the frames of the file's output, before initial ones are moved there.
Samples DatasetReader::outline_in_file(std::span<const std::int64_t> ids) const {
  const SetDescription& d = description_;
  Samples samples;
  samples.count = static_cast<std::int64_t>(ids.size());
  samples.points = d.points();
  samples.frames = d.time.empty() ? 1 : static_cast<std::int64_t>(d.time.size()) - moved_frames_;
  samples.shared_coordinates = shared_;
  samples.own_coordinates = !shared_ && size_ > 1;
  samples.ids.assign(ids.begin(), ids.end());
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= size_) {
      fail(doing(), fmt::format("a sample below {}", size_), std::to_string(id));
    }
    if (!counts_.empty()) samples.counts.push_back(counts_[static_cast<std::size_t>(id)]);
  }
  return samples;
}

Samples DatasetReader::outline(std::span<const std::int64_t> ids) const {
  Samples samples = outline_in_file(ids);
  if (moved_frames_ > 0) samples.frames = has_output_ ? samples.frames + moved_frames_ : moved_frames_;
  return samples;
}

void DatasetSource::read_points(const char* array, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                std::span<float>) const {
  fail("reading a part of a sample", "a dataset in a file", fmt::format("the array '{}' in memory", array));
}

SampleSlab DatasetReader::read_part(std::int64_t id, std::int64_t first, std::int64_t count,
                                    std::int64_t frames) const {
  check_unchanged();
  const std::unique_lock lock(one_at_a_time);
  const std::string reading = doing();
  const SetDescription& d = description_;
  SampleSlab part{outline_in_file({&id, 1}), first, {}};
  Samples& samples = part.samples;
  if (!d.channel_times.empty()) fail_plainly(reading, "a part of the points has its times as frames only");
  if (d.geometry == Geometry::points || first < 0 || count < 0 || first + count > d.points())
    fail(reading, fmt::format("a part of the {} points of a grid or mesh", d.points()),
         fmt::format("{} from {} on", count, first));
  samples.points = count;
  samples.shared_coordinates = samples.own_coordinates = false;
  const auto append = [&](const char* name, std::vector<float>& to, std::int64_t row, std::int64_t frame,
                          std::int64_t begin, std::int64_t points, std::int64_t channels) {
    const std::size_t before = to.size();
    to.resize(before + static_cast<std::size_t>(points * channels));
    const std::span<float> values = std::span(to).subspan(before);
    if (values.empty()) return;
    source_->read_points(name, row, frame, begin, points, values);
    check_finite(values, reading, name, id);
  };
  const std::int64_t place = shared_ ? 0 : id;
  append("coords", samples.coordinates, place, -1, first, count, d.dims());
  for (const std::int64_t corner : d.geometry == Geometry::grid ? grid_corners(d.shape) : std::vector<std::int64_t>{})
    append("coords", part.corners, place, -1, corner, 1, d.dims());
  append("input", samples.input, id, -1, first, count, d.input_channels() + moved_frames_ * d.output_channels());
  samples.frames = has_output_ ? std::clamp<std::int64_t>(frames - moved_frames_, 0, samples.frames) : 0;
  for (std::int64_t frame = 0; frame < samples.frames; ++frame)
    append("output", samples.output, id, d.time.empty() ? -1 : frame, first, count, d.output_channels());
  if (moved_frames_ > 0) move_initial_frames(samples);
  check_unchanged();
  return part;
}

Samples DatasetReader::read_samples(std::span<const std::int64_t> ids) const {
  std::unique_lock lock(one_at_a_time, std::defer_lock);
  if (!path_.empty()) lock.lock();
  const std::string reading = doing();
  const SetDescription& d = description_;
  const std::int64_t inputs = d.input_channels() + moved_frames_ * d.output_channels();  // as the file has them
  const bool ragged = !offsets_.empty();
  Samples samples = outline_in_file(ids);
  // Appends the rows of one sample to `to`.
  const auto append = [&](const char* name, std::vector<float>& to, std::int64_t width, std::int64_t id,
                          std::int64_t sample) {
    const auto at = static_cast<std::size_t>(id);
    const std::int64_t first = ragged ? offsets_[at] : id, rows = ragged ? counts_[at] : 1;
    const std::size_t before = to.size();
    to.resize(before + static_cast<std::size_t>(rows * width));
    const std::span<float> values = std::span(to).subspan(before);
    source_->read_rows(name, first, rows, values);
    check_finite(values, reading, name, sample);
  };
  const std::int64_t points = ragged ? 1 : d.points();
  samples.coordinates.reserve(static_cast<std::size_t>(points * d.dims() * (shared_ ? 1 : samples.count)));
  samples.input.reserve(static_cast<std::size_t>(points * inputs * samples.count));
  if (has_output_)
    samples.output.reserve(static_cast<std::size_t>(points * samples.frames * d.output_channels() * samples.count));
  if (shared_) append("coords", samples.coordinates, points * d.dims(), 0, 0);
  for (const std::int64_t id : ids) {
    if (!shared_) append("coords", samples.coordinates, points * d.dims(), id, id);
    append("input", samples.input, points * inputs, id, id);
    if (has_output_) append("output", samples.output, points * samples.frames * d.output_channels(), id, id);
  }
  if (moved_frames_ > 0) move_initial_frames(samples);
  if (!d.channel_times.empty()) turn_times_into_channels(samples);
  return samples;
}

void DatasetReader::show_times_as_channels() {
  if (description_.time.empty())
    fail_usage_plainly(doing(), fmt::format("'{}' has no times", description_.name),
                       "leave out data.times = \"channels\"");
  if (moved_frames_ > 0)
    fail_usage_plainly(doing(), "its first frames are shown as states, which are no channels",
                       "set model.task = \"steady\"");
  description_ = times_as_channels(std::move(description_));
}

// [T, N, du] of each sample, as it is stored, becomes [N, T, du].
void DatasetReader::turn_times_into_channels(Samples& samples) const {
  if (samples.output.empty()) return;
  const auto times = description_.channel_times.size(), points = static_cast<std::size_t>(description_.points()),
             fields = static_cast<std::size_t>(description_.output_channels()) / times;
  std::vector<float> frames(times * points * fields);
  for (std::size_t from = 0; from < samples.output.size(); from += frames.size()) {
    const std::span<float> sample = std::span(samples.output).subspan(from, frames.size());
    std::copy(sample.begin(), sample.end(), frames.begin());
    turn_axes(frames, times, points, fields, sample);
  }
}

std::vector<float> DatasetReader::read_kept(std::int64_t id) const {
  const std::lock_guard lock(one_at_a_time);
  std::vector<float> values(static_cast<std::size_t>(description_.points() * description_.kept_channels()));
  if (!values.empty()) {
    source_->read_rows("kept", id, 1, values);
    check_finite(values, doing(), "kept", id);
  }
  return values;
}

std::vector<std::int64_t> DatasetReader::read_cells(std::int64_t id) const {
  if (!cell_kind_) return {};
  const std::string doing = this->doing();
  if (id < 0 || id >= size_) fail(doing, fmt::format("a sample below {}", size_), std::to_string(id));
  const auto at = static_cast<std::size_t>(id);
  const bool shared = cell_offsets_.empty();
  const std::int64_t first = shared ? 0 : cell_offsets_[at];
  const std::int64_t rows = (shared ? cell_count_ : cell_offsets_[at + 1]) - first;
  const std::int64_t points = counts_.empty() ? description_.points() : counts_[at];
  const std::lock_guard lock(reading_mutex());
  const std::vector<std::int64_t> corners = source_->read_index_rows("cells", first, rows);
  const auto bad = std::find_if(corners.begin(), corners.end(), [&](std::int64_t p) { return p < 0 || p >= points; });
  if (bad != corners.end())
    fail(doing, fmt::format("corners below {} in /cells", points), fmt::format("{} in sample {}", *bad, id),
         "make the file again");
  return corners;
}

std::uint64_t DatasetReader::hash() const {
  Fnv hash;
  hash.add(description_.time);
  for (std::int64_t id = 0; id < size_; ++id) {
    const Samples one = read(std::vector<std::int64_t>{id});
    if (!shared_ || id == 0) hash.add(one.coordinates);
    hash.add(one.input);
    hash.add(one.output);
    hash.add(read_kept(id));
    if (cell_kind_ && (id == 0 || !shared_cells())) hash.add(read_cells(id));
    hash.add(std::vector<std::uint8_t>{static_cast<std::uint8_t>(splits_[static_cast<std::size_t>(id)])});
  }
  return hash.value();
}

std::int64_t Samples::first_point(std::int64_t i) const {
  if (counts.empty()) return i * points;
  return std::accumulate(counts.begin(), counts.begin() + i, std::int64_t{0});
}

namespace {

std::span<const float> part(const std::vector<float>& values, std::int64_t first, std::int64_t count) {
  return std::span(values).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

}  // namespace

std::span<const float> Samples::coordinates_of(std::int64_t i, std::int64_t dims) const {
  return part(coordinates, (shared_coordinates ? 0 : first_point(i)) * dims, points_of(i) * dims);
}

std::span<const float> Samples::input_of(std::int64_t i, std::int64_t channels) const {
  return part(input, first_point(i) * channels, points_of(i) * channels);
}

std::span<const float> Samples::output_of(std::int64_t i, std::int64_t channels) const {
  return part(output, first_point(i) * frames * channels, points_of(i) * frames * channels);
}

}  // namespace lano
