// The dataset as an HDF5 file, written and opened. Layout: /coords [1 or S,N,dx], /input [S,N,da], /output [S,N,du] or
// [S,T,N,du], /kept [S,N,dk], /split [S], /time [T]; cells as dataset_cells.cpp has them; clouds of different sizes:
// /offsets [S+1] and the arrays [P,dx], [P,da], [P,du] over all P points. Attributes hold the SetDescription as text
// (docs/formats.md). Arrays of samples are chunked by sample, so random access reads one.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strict_json.h"
#include "data/dataset.h"
#include "data/hdf5_file.h"

namespace lano {
namespace {

using nlohmann::json;

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

void check_size(std::span<const float> values, std::int64_t expected, const char* what) {
  if (static_cast<std::int64_t>(values.size()) != expected) {
    fail("writing a sample", fmt::format("{} values of {}", expected, what), std::to_string(values.size()));
  }
}

class DatasetFileSource final : public DatasetSource {
 public:
  explicit DatasetFileSource(Hdf5File file) : file_(std::move(file)) {}
  const Hdf5File& file() const { return file_; }
  void read_rows(const char* array, std::int64_t first, std::int64_t count, std::span<float> values) const override {
    file_.read_rows(array, first, count, values);
  }
  void read_points(const char* array, std::int64_t row, std::int64_t frame, std::int64_t first, std::int64_t count,
                   std::span<float> values) const override {
    std::vector<AxisRange> ranges{{row, 1, 1}};
    if (frame >= 0) ranges.push_back({frame, 1, 1});
    ranges.push_back({first, count, 1});
    ranges.push_back({0, file_.shape(array).back(), 1});
    file_.read_slab(array, ranges, values);
  }
  std::vector<std::int64_t> read_index_rows(const char* array, std::int64_t first, std::int64_t count) const override {
    return file_.read_index_rows(array, first, count);
  }

 private:
  Hdf5File file_;
};

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
    fail("writing clouds of different sizes", "steady point clouds and one count per sample",
         fmt::format("{} counts for {} samples of a {}", counts.size(), splits.size(), geometry_name(d.geometry)));
  }
  for (const std::int64_t count : counts) {
    if (count < 1) fail("writing clouds of different sizes", "at least one point per sample", std::to_string(count));
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

DatasetWriter::DatasetWriter(const std::filesystem::path& path, SetDescription description, std::vector<Split> splits,
                             InParts in_parts)
    : pending_(path),
      description_(std::move(description)),
      shared_(in_parts.shared_coordinates),
      file_(std::make_unique<Hdf5File>(Hdf5File::create(pending_.temporary()))) {
  const SetDescription& d = description_;
  const auto samples = static_cast<std::int64_t>(splits.size());
  file_->make_in_one_piece("coords", {shared_ ? 1 : samples, d.points(), d.dims()});
  file_->make_in_one_piece("input", {samples, d.points(), d.input_channels()});
  file_->make_in_one_piece("output", output_shape(d, samples));
  write_attributes(splits);
}

DatasetWriter::Room DatasetWriter::make_room() {
  Room room{pending_.temporary(), file_->place("coords"), file_->place("input"), file_->place("output")};
  file_->close();
  file_ = nullptr;
  return room;
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
  if (file_ != nullptr) file_->close();
  pending_.publish();
}

bool is_dataset_file(const std::filesystem::path& path) {
  if (!Hdf5File::is_hdf5(path)) return false;
  const std::lock_guard lock(DatasetReader::reading_mutex());
  try {
    return Hdf5File::open(path).attribute("format") == "lano-dataset";
  } catch (const Error&) {
    return false;
  }
}

DatasetReader::DatasetReader(const std::filesystem::path& path, InitialFrames initial) : path_(path) {
  const std::lock_guard lock(reading_mutex());
  identity_ = identity_of(path);
  auto source = std::make_unique<DatasetFileSource>(Hdf5File::open(path));
  read_description(source->file());
  check_description();
  check_arrays(source->file());
  check_cells(source->file());
  source_ = std::move(source);
  check_unchanged();
  if (initial == InitialFrames::output) show_initial_as_output();
}

void DatasetReader::read_description(const Hdf5File& file) {
  const std::string doing = this->doing();
  const auto format = file.attribute("format");
  if (!format || *format != "lano-dataset") {
    fail(doing, "a LANO dataset (attribute format = lano-dataset)", "an HDF5 file of another kind",
         "import it with 'lano import'");
  }
  const auto required = [&](const char* name) {
    const auto text = file.attribute(name);
    if (!text) fail_plainly(doing, fmt::format("the attribute '{}' is missing", name), "make the file again");
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
    if (const auto span = file.attribute("span"))
      description_.span = parse_json(*span, doing, "span").get<std::vector<double>>();
    if (const auto periodic = file.attribute("periodic"))
      description_.periodic = parse_json(*periodic, doing, "periodic").get<std::vector<bool>>();
    if (const auto given = file.attribute("given_frames"))
      description_.given_frames = whole_number(parse_json(*given, doing, "given_frames"), doing, "given_frames");
    if (const auto initial = file.attribute("initial_time"))
      description_.initial_time = parse_json(*initial, doing, "initial_time").get<std::vector<double>>();
  } catch (const json::exception& error) {
    fail(doing, "well-formed attributes shape, box, periodic and fields", json_reason(error), "make the file again");
  }
  if (file.has("time")) description_.time = file.read_doubles("time");
}

void DatasetReader::check_arrays(const Hdf5File& file) {
  const std::string doing = this->doing();
  const SetDescription& d = description_;
  const auto expect = [&](const char* name, const Shape& found, const Shape& expected) {
    if (found != expected)
      fail(doing, fmt::format("/{} of shape {}", name, shape_text(expected)), shape_text(found), "make the file again");
  };
  has_output_ = file.has("output");
  if (file.has("offsets")) {
    offsets_ = file.read_integers("offsets");
    if (d.geometry != Geometry::points || offsets_.size() < 2 || offsets_.front() != 0) {
      fail_plainly(doing, "/offsets must belong to point clouds and start at 0", "make the file again");
    }
    for (std::size_t i = 1; i < offsets_.size(); ++i) {
      if (offsets_[i] <= offsets_[i - 1])
        fail(doing, "rising /offsets", std::to_string(offsets_[i]), "make the file again");
      counts_.push_back(offsets_[i] - offsets_[i - 1]);
    }
    size_ = static_cast<std::int64_t>(counts_.size());
    const std::int64_t total = offsets_.back();
    expect("coords", file.shape("coords"), {total, d.dims()});
    expect("input", file.shape("input"), {total, d.input_channels()});
    if (has_output_) expect("output", file.shape("output"), {total, d.output_channels()});
  } else {
    const Shape input = file.shape("input");
    size_ = input.empty() ? 0 : input[0];
    expect("input", input, {size_, d.points(), d.input_channels()});
    const Shape coords = file.shape("coords");
    shared_ = !coords.empty() && coords[0] == 1 && size_ != 1;
    expect("coords", coords, {shared_ ? 1 : size_, d.points(), d.dims()});
    if (has_output_) expect("output", file.shape("output"), output_shape(d, size_));
    if (!d.kept.empty()) expect("kept", file.shape("kept"), {size_, d.points(), d.kept_channels()});
  }
  const auto codes = file.read_integers("split");  // wider than they are stored: a code of 256 is invalid
  if (static_cast<std::int64_t>(codes.size()) != size_) {
    fail(doing, fmt::format("{} entries in /split", size_), std::to_string(codes.size()));
  }
  for (const std::int64_t code : codes) {
    if (code < 0 || code > 2) fail(doing, "0, 1 or 2 in /split", std::to_string(code));
    splits_.push_back(static_cast<Split>(code));
  }
}

}  // namespace lano
