// Layout: /coords [1 or S,N,dx], /input [S,N,da], /output [S,N,du] or [S,T,N,du], /kept [S,N,dk], /split [S], /time
// [T]; cells as dataset_cells.cpp has them; clouds of different sizes: /offsets [S+1] and the arrays [P,dx], [P,da],
// [P,du] over all P points. Attributes hold the SetDescription as text (docs/formats.md). Arrays of samples are chunked
// by sample, so random access reads one.
#include "data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/error.h"
#include "core/fnv.h"
#include "core/strict_json.h"
#include "data/hdf5_file.h"

namespace lano {
namespace {

using nlohmann::json;

// HDF5 may be built without thread safety, and training reads ahead beside validation: one reader at a time in the
// process.
std::mutex one_at_a_time;

Shape output_shape(const SetDescription& d, std::int64_t samples) {
  if (d.time.empty()) return {samples, d.points(), d.output_channels()};
  return {samples, static_cast<std::int64_t>(d.time.size()), d.points(), d.output_channels()};
}

std::int64_t median(std::vector<std::int64_t> counts) {
  std::nth_element(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2), counts.end());
  return counts[counts.size() / 2];
}

Shape by_sample(Shape shape) {
  shape[0] = 1;
  return shape;
}

void check_finite(std::span<const float> values, const std::filesystem::path& path, const char* array,
                  std::int64_t sample) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      fail(fmt::format("reading '{}'", path.string()), fmt::format("finite numbers in /{}", array),
           fmt::format("{} in sample {} at value {}", values[i], sample, i),
           "remove or mend that sample and import the set again");
    }
  }
}

void check_size(std::span<const float> values, std::int64_t expected, const char* what) {
  if (static_cast<std::int64_t>(values.size()) != expected) {
    fail("writing a sample", fmt::format("{} values of {}", expected, what), std::to_string(values.size()));
  }
}

}  // namespace

DatasetWriter::DatasetWriter(const std::filesystem::path& path, SetDescription description, std::vector<Split> splits,
                             std::span<const float> shared_coordinates)
    : pending_(path),
      description_(std::move(description)),
      written_(splits.size()),
      shared_(!shared_coordinates.empty()),
      file_(std::make_unique<Hdf5File>(Hdf5File::create(pending_.temporary()))) {
  const SetDescription& d = description_;
  const auto samples = static_cast<std::int64_t>(splits.size());
  const Shape coords_shape{shared_ ? 1 : samples, d.points(), d.dims()};
  file_->make_floats("coords", coords_shape, by_sample(coords_shape));
  if (shared_) {
    check_size(shared_coordinates, d.points() * d.dims(), "coordinates");
    file_->write_rows("coords", 0, 1, shared_coordinates);
  }
  const Shape input_shape{samples, d.points(), d.input_channels()};
  file_->make_floats("input", input_shape, by_sample(input_shape));
  file_->make_floats("output", output_shape(d, samples), by_sample(output_shape(d, samples)));
  const Shape kept_shape{samples, d.points(), d.kept_channels()};
  if (!d.kept.empty()) file_->make_floats("kept", kept_shape, by_sample(kept_shape));
  write_attributes(splits);
}

DatasetWriter::DatasetWriter(const std::filesystem::path& path, SetDescription description, std::vector<Split> splits,
                             const std::vector<std::int64_t>& counts)
    : pending_(path),
      description_(std::move(description)),
      written_(splits.size()),
      shared_(false),
      offsets_{0},
      file_(std::make_unique<Hdf5File>(Hdf5File::create(pending_.temporary()))) {
  SetDescription& d = description_;
  if (d.geometry != Geometry::points || !d.time.empty() || !d.kept.empty() || counts.size() != splits.size() ||
      counts.empty()) {
    fail("writing clouds of different sizes", "steady point clouds and one count a sample",
         fmt::format("{} counts for {} samples of a {}", counts.size(), splits.size(), geometry_name(d.geometry)));
  }
  for (const std::int64_t count : counts) {
    if (count < 1) fail("writing clouds of different sizes", "at least one point a sample", std::to_string(count));
    offsets_.push_back(offsets_.back() + count);
  }
  d.shape = {median(counts)};
  const std::int64_t total = offsets_.back(), chunk = std::min<std::int64_t>(total, 4096);
  file_->make_floats("coords", {total, d.dims()}, {chunk, d.dims()});
  file_->make_floats("input", {total, d.input_channels()}, {chunk, std::max<std::int64_t>(1, d.input_channels())});
  file_->make_floats("output", {total, d.output_channels()}, {chunk, d.output_channels()});
  file_->write_integers("offsets", offsets_);
  write_attributes(splits);
}

void DatasetWriter::write_attributes(const std::vector<Split>& splits) {
  const SetDescription& d = description_;
  std::vector<std::uint8_t> codes;
  for (const Split split : splits) codes.push_back(static_cast<std::uint8_t>(split));
  file_->write_bytes("split", codes);
  if (!d.time.empty()) file_->write_doubles("time", d.time);
  file_->set_attribute("format", "lano-dataset");
  file_->set_attribute("format_version", std::to_string(kDatasetVersion));
  file_->set_attribute("name", d.name);
  file_->set_attribute("geometry", std::string(geometry_name(d.geometry)));
  file_->set_attribute("shape", json(d.shape).dump());
  file_->set_attribute("box", json(d.box).dump());
  file_->set_attribute("fields", fields_to_json(d).dump());
  file_->set_attribute("generator", d.generator.empty() ? "{}" : d.generator);
  if (!d.span.empty()) file_->set_attribute("span", json(d.span).dump());
  if (d.given_frames != 1) file_->set_attribute("given_frames", json(d.given_frames).dump());
  if (!d.periodic.empty()) file_->set_attribute("periodic", json(d.periodic).dump());
  if (!d.initial_time.empty()) file_->set_attribute("initial_time", json(d.initial_time).dump());
}

DatasetWriter::~DatasetWriter() = default;

void DatasetWriter::write(std::int64_t sample, std::span<const float> coordinates, std::span<const float> input,
                          std::span<const float> output, std::span<const float> kept) {
  const SetDescription& d = description_;
  const auto at = static_cast<std::size_t>(sample);
  const bool ragged = !offsets_.empty();
  const std::int64_t points = ragged ? offsets_.at(at + 1) - offsets_.at(at) : d.points();
  check_size(coordinates, shared_ ? 0 : points * d.dims(), "coordinates");
  check_size(input, points * d.input_channels(), "input");
  check_size(kept, points * d.kept_channels(), "kept fields");
  check_size(output, ragged ? points * d.output_channels() : element_count(output_shape(d, 1)), "output");
  const std::int64_t first = ragged ? offsets_[at] : sample, rows = ragged ? points : 1;
  const std::lock_guard lock(mutex_);
  if (!shared_) file_->write_rows("coords", first, rows, coordinates);
  file_->write_rows("input", first, rows, input);
  file_->write_rows("output", first, rows, output);
  if (!d.kept.empty()) file_->write_rows("kept", first, rows, kept);
  written_.at(at) = true;
}

void DatasetWriter::commit() {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    if (!written_[i])
      fail("finishing a dataset", fmt::format("all {} samples", written_.size()),
           fmt::format("sample {} not written", i));
  }
  file_->close();
  pending_.publish();
}

bool is_dataset_file(const std::filesystem::path& path) {
  if (!Hdf5File::is_hdf5(path)) return false;
  const std::lock_guard lock(one_at_a_time);
  try {
    return Hdf5File::open(path).attribute("format") == "lano-dataset";
  } catch (const Error&) {
    return false;
  }
}

DatasetReader::DatasetReader(const std::filesystem::path& path, InitialFrames initial) : path_(path) {
  const std::lock_guard lock(one_at_a_time);
  identity_ = identity_of(path);
  file_ = std::make_unique<Hdf5File>(Hdf5File::open(path));
  read_description();
  check_arrays();
  check_cells();
  check_unchanged();
  if (initial == InitialFrames::output) show_initial_as_output();
}

std::mutex& DatasetReader::reading_mutex() { return one_at_a_time; }

void DatasetReader::check_unchanged() const {
  const FileIdentity now = identity_of(path_);
  if (now == identity_) return;
  fail(fmt::format("reading '{}'", path_.string()), "the file as it was when it was opened",
       now == FileIdentity{} ? "none any more" : "one that was changed or replaced since",
       "leave a dataset alone while it is in use, and start again");
}

DatasetReader::~DatasetReader() = default;
DatasetReader::DatasetReader(DatasetReader&&) noexcept = default;

void DatasetReader::read_description() {
  const std::string doing = fmt::format("reading '{}'", path_.string());
  const auto format = file_->attribute("format");
  if (!format || *format != "lano-dataset") {
    fail(doing, "a LANO dataset (attribute format = lano-dataset)", "an HDF5 file of another kind",
         "bring it in with 'lano import'");
  }
  const auto required = [&](const char* name) {
    const auto text = file_->attribute(name);
    if (!text) fail(doing, fmt::format("the attribute '{}'", name), "none", "make the file again");
    return *text;
  };
  if (required("format_version") != std::to_string(kDatasetVersion)) {
    fail(doing, fmt::format("format version {}", kDatasetVersion), required("format_version"), "use a newer lano");
  }
  try {
    description_.name = plain_text(required("name"), 400);
    description_.geometry = parse_geometry(required("geometry"), doing);
    description_.shape = whole_numbers(parse_json(required("shape"), doing, "shape"), doing, "shape");
    description_.box = parse_json(required("box"), doing, "box").get<std::vector<double>>();
    fields_from_json(parse_json(required("fields"), doing, "fields"), description_);
    description_.generator = required("generator");
    if (const auto span = file_->attribute("span"))
      description_.span = parse_json(*span, doing, "span").get<std::vector<double>>();
    if (const auto given = file_->attribute("given_frames"))
      description_.given_frames = whole_number(parse_json(*given, doing, "given_frames"), doing, "given_frames");
    if (const auto periodic = file_->attribute("periodic"))
      description_.periodic = parse_json(*periodic, doing, "periodic").get<std::vector<bool>>();
    if (const auto initial = file_->attribute("initial_time"))
      description_.initial_time = parse_json(*initial, doing, "initial_time").get<std::vector<double>>();
  } catch (const json::exception& error) {
    fail(doing, "well-formed attributes shape, box, periodic and fields", json_reason(error), "make the file again");
  }
  if (file_->has("time")) description_.time = file_->read_doubles("time");
}

void DatasetReader::check_arrays() {
  const std::string doing = fmt::format("reading '{}'", path_.string());
  const SetDescription& d = description_;
  const auto expect = [&](const char* name, const Shape& found, const Shape& expected) {
    if (found != expected)
      fail(doing, fmt::format("/{} of shape {}", name, shape_text(expected)), shape_text(found), "make the file again");
  };
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
  // The last of the input channels are frames of the output: there must be so many.
  if (!finite(d.initial_time) || (!d.initial_time.empty() && d.time.empty()) ||
      std::ssize(d.initial_time) * d.output_channels() > d.input_channels()) {
    fail(doing, "initial_time with one finite time per frame among the input fields",
         fmt::format("{} times for {} input fields", d.initial_time.size(), d.input_channels()), "make the file again");
  }
  has_output_ = file_->has("output");
  if (file_->has("offsets")) {
    offsets_ = file_->read_integers("offsets");
    if (d.geometry != Geometry::points || offsets_.size() < 2 || offsets_.front() != 0) {
      fail(doing, "/offsets of point clouds, starting at 0", "something else", "make the file again");
    }
    for (std::size_t i = 1; i < offsets_.size(); ++i) {
      if (offsets_[i] <= offsets_[i - 1])
        fail(doing, "rising /offsets", std::to_string(offsets_[i]), "make the file again");
      counts_.push_back(offsets_[i] - offsets_[i - 1]);
    }
    size_ = static_cast<std::int64_t>(counts_.size());
    const std::int64_t total = offsets_.back();
    expect("coords", file_->shape("coords"), {total, d.dims()});
    expect("input", file_->shape("input"), {total, d.input_channels()});
    if (has_output_) expect("output", file_->shape("output"), {total, d.output_channels()});
  } else {
    const Shape input = file_->shape("input");
    size_ = input.empty() ? 0 : input[0];
    expect("input", input, {size_, d.points(), d.input_channels()});
    const Shape coords = file_->shape("coords");
    shared_ = !coords.empty() && coords[0] == 1 && size_ != 1;
    expect("coords", coords, {shared_ ? 1 : size_, d.points(), d.dims()});
    if (has_output_) expect("output", file_->shape("output"), output_shape(d, size_));
    if (!d.kept.empty()) expect("kept", file_->shape("kept"), {size_, d.points(), d.kept_channels()});
  }
  const auto codes = file_->read_integers("split");  // wider than they are stored: a code of 256 is none of ours
  if (static_cast<std::int64_t>(codes.size()) != size_) {
    fail(doing, fmt::format("{} entries in /split", size_), std::to_string(codes.size()));
  }
  for (const std::int64_t code : codes) {
    if (code < 0 || code > 2) fail(doing, "0, 1 or 2 in /split", std::to_string(code));
    splits_.push_back(static_cast<Split>(code));
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
    fail(fmt::format("reading '{}'", path_.string()), "samples that fit in memory",
         fmt::format("{} of {} points", ids.size(), description_.points()), "ask for fewer samples");
  }
}

Samples DatasetReader::read_samples(std::span<const std::int64_t> ids) const {
  const std::lock_guard lock(one_at_a_time);
  const SetDescription& d = description_;
  const std::int64_t frames = d.time.empty() ? 1 : static_cast<std::int64_t>(d.time.size()) - moved_frames_,
                     inputs = d.input_channels() + moved_frames_ * d.output_channels();  // as the file has them
  const bool ragged = !offsets_.empty();
  Samples samples;
  samples.count = static_cast<std::int64_t>(ids.size());
  samples.points = d.points();
  samples.frames = frames;
  samples.shared_coordinates = shared_;
  samples.own_coordinates = !shared_ && size_ > 1;
  samples.ids.assign(ids.begin(), ids.end());
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= size_) {
      fail(fmt::format("reading '{}'", path_.string()), fmt::format("a sample below {}", size_), std::to_string(id));
    }
    if (ragged) samples.counts.push_back(counts_[static_cast<std::size_t>(id)]);
  }
  // Appends the rows of one sample to `to`.
  const auto append = [&](const char* name, std::vector<float>& to, std::int64_t width, std::int64_t id,
                          std::int64_t sample) {
    const auto at = static_cast<std::size_t>(id);
    const std::int64_t first = ragged ? offsets_[at] : id, rows = ragged ? counts_[at] : 1;
    const std::size_t before = to.size();
    to.resize(before + static_cast<std::size_t>(rows * width));
    const std::span<float> values = std::span(to).subspan(before);
    file_->read_rows(name, first, rows, values);
    check_finite(values, path_, name, sample);
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
  return samples;
}

std::vector<float> DatasetReader::read_kept(std::int64_t id) const {
  const std::lock_guard lock(one_at_a_time);
  std::vector<float> values(static_cast<std::size_t>(description_.points() * description_.kept_channels()));
  if (!values.empty()) {
    file_->read_rows("kept", id, 1, values);
    check_finite(values, path_, "kept", id);
  }
  return values;
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
