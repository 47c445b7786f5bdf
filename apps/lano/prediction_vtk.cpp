// One file per sample and frame, and for several frames a collection (.pvd) with their times. With several samples or
// frames names get their numbers: u-0003-t017.vtu is frame 17 of sample 3, u-0003.pvd the series.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "edge.h"
#include "prediction_files.h"
#include "report/picture.h"
#include "report/vtk.h"

namespace lano::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostFiles = 100'000;

// Of the files with fields: a collection has those of its geometry.
std::string field_ending(const fs::path& out, const Query& q) {
  if (out.extension() != ".pvd") return out.extension().string();
  return q.set.geometry == Geometry::points ? ".vtu" : ".vts";
}

bool has_series(const fs::path& out, const Query& q) { return q.frames() > 1 || out.extension() == ".pvd"; }

std::string sample_name(const fs::path& out, const Query& q, std::int64_t sample) {
  std::string name = out.stem().string();
  if (q.samples.count > 1) name += fmt::format("-{:04}", q.samples.ids[static_cast<std::size_t>(sample)]);
  return name;
}

std::string frame_name(const fs::path& out, const Query& q, std::int64_t sample, std::int64_t frame) {
  std::string name = sample_name(out, q, sample);
  const std::size_t digits = std::max<std::size_t>(3, std::to_string(q.frames() - 1).size());
  if (q.frames() > 1) name += fmt::format("-t{:0{}}", frame, digits);
  return name + field_ending(out, q);
}

std::string series_name(const fs::path& out, const Query& q, std::int64_t sample) {
  return sample_name(out, q, sample) + ".pvd";
}

// The arrays of one file. Names are kept apart: an input with the name of an output gets "_input" appended.
class Columns {
 public:
  void add(std::span<const float> values, const std::vector<FieldInfo>& fields, const std::string& suffix) {
    for (std::size_t c = 0; c < fields.size(); ++c) {
      columns_.push_back(channel(values, std::ssize(fields), static_cast<std::int64_t>(c)));
      names_.push_back(fields[c].name + suffix);
    }
  }
  std::vector<VtkField> fields() const {
    std::vector<VtkField> all;
    for (std::size_t c = 0; c < columns_.size(); ++c) all.push_back({names_[c], columns_[c]});
    return all;
  }

 private:
  std::vector<std::vector<float>> columns_;
  std::vector<std::string> names_;
};

std::vector<FieldInfo> input_names(const SetDescription& set) {
  std::vector<FieldInfo> names = set.input;
  for (FieldInfo& field : names) {
    const bool taken = std::any_of(set.output.begin(), set.output.end(),
                                   [&](const FieldInfo& output) { return output.name == field.name; });
    if (taken) field.name += "_input";
  }
  return names;
}

}  // namespace

bool is_vtk(const fs::path& out) {
  return out.extension() == ".vts" || out.extension() == ".vtu" || out.extension() == ".pvd";
}

void check_vtk_output(const fs::path& out, const Query& q, bool force) {
  if (out.extension() == ".vts" && q.set.geometry == Geometry::points)
    fail_usage(fmt::format("writing '{}'", out.string()), "a grid or mesh for .vts", "a point cloud", "write .vtu");
  if (q.samples.count * q.frames() > kMostFiles)
    fail_usage("predicting", fmt::format("at most {} files, one per sample and frame", kMostFiles),
               std::to_string(q.samples.count * q.frames()), "write .h5, or predict fewer");
  for (std::int64_t i = 0; i < q.samples.count; ++i) {
    fs::path to = out;
    for (std::int64_t frame = 0; frame < q.frames(); ++frame)
      refuse_to_overwrite(to.replace_filename(frame_name(out, q, i, frame)).string(), force);
    if (has_series(out, q)) refuse_to_overwrite(to.replace_filename(series_name(out, q, i)).string(), force);
  }
}

void write_vtk_files(const fs::path& out, const Query& q, const Prediction& prediction) {
  const Samples& s = q.samples;
  for (std::int64_t i = 0; i < s.count; ++i) {
    SetDescription set = q.set;
    if (!s.counts.empty()) set.shape = {s.points_of(i)};
    std::optional<VtkCells> cells;
    if (q.cell_kind) cells = VtkCells{*q.cell_kind, q.cells_of(i)};
    const auto size = static_cast<std::size_t>(s.points_of(i) * set.output_channels());
    std::vector<VtkFrame> series;
    fs::path to = out;
    for (std::int64_t frame = 0; frame < prediction.frames; ++frame) {
      const auto predicted =
          prediction.of(s, i, set.output_channels()).subspan(static_cast<std::size_t>(frame) * size, size);
      Columns columns;
      columns.add(s.input_of(i, set.input_channels()), input_names(set), "");
      columns.add(predicted, set.output, "");
      if (const std::span<const float> truth = q.truth(i, frame); !truth.empty()) {
        std::vector<float> error(size);
        std::transform(predicted.begin(), predicted.end(), truth.begin(), error.begin(), std::minus<>());
        columns.add(truth, set.output, "_truth");
        columns.add(error, set.output, "_error");
      }
      series.push_back({q.time_of(frame), frame_name(out, q, i, frame)});
      write_vtk(to.replace_filename(series.back().file), set, s.coordinates_of(i, set.dims()), columns.fields(), cells);
    }
    if (has_series(out, q)) write_vtk_series(to.replace_filename(series_name(out, q, i)), series);
  }
}

}  // namespace lano::cli
