#include "prediction_files.h"

#include <fmt/format.h>

#include "core/error.h"
#include "data/npy.h"
#include "edge.h"

namespace lano::cli {
SetDescription predicted_set(const Query& q) {
  SetDescription set = q.set;
  set.generator = nlohmann::json{{"program", "lano predict"}}.dump();
  set.kept.clear();  // the solver's further fields are not predicted
  return set;
}

void write_cells(const Query& q, DatasetWriter& writer) {
  if (!q.cell_kind) return;
  const std::int64_t corners = cell_corners(*q.cell_kind);
  if (q.cells.size() == 1 && q.samples.counts.empty()) {
    writer.make_cells(*q.cell_kind, std::ssize(q.cells.front()) / corners);
    writer.write_cells(0, q.cells.front());
    return;
  }
  std::vector<std::int64_t> counts;
  for (std::int64_t i = 0; i < q.samples.count; ++i) counts.push_back(std::ssize(q.cells_of(i)) / corners);
  writer.make_cells(*q.cell_kind, counts);
  for (std::int64_t i = 0; i < q.samples.count; ++i) writer.write_cells(i, q.cells_of(i));
}

namespace {

void write_h5(const std::string& path, const Query& q, const Prediction& prediction) {
  const SetDescription set = predicted_set(q);
  const Samples& s = q.samples;
  std::span<const float> shared;
  if (s.shared_coordinates) shared = s.coordinates;
  const std::vector<Split> splits(static_cast<std::size_t>(s.count), Split::test);
  const auto writer = s.counts.empty() ? std::make_unique<DatasetWriter>(path, set, splits, shared)
                                       : std::make_unique<DatasetWriter>(path, set, splits, s.counts);
  write_cells(q, *writer);
  for (std::int64_t i = 0; i < s.count; ++i) {
    const auto coords = s.shared_coordinates ? std::span<const float>() : s.coordinates_of(i, set.dims());
    writer->write(i, coords, s.input_of(i, set.input_channels()), prediction.of(q.samples, i, q.set.output_channels()));
  }
  writer->commit();
}

// [samples, shape..., channels], with times [samples, frames, shape..., channels].
Shape array_shape(const Query& q) {
  Shape shape{q.samples.count};
  if (!q.set.time.empty()) shape.push_back(q.frames());
  shape.insert(shape.end(), q.set.shape.begin(), q.set.shape.end());
  shape.push_back(q.set.output_channels());
  return shape;
}

void write_archive(const std::string& path, const Query& q, const Prediction& prediction) {
  Shape points = q.set.shape;
  if (!q.samples.shared_coordinates) points.insert(points.begin(), q.samples.count);
  points.push_back(q.set.dims());
  std::vector<NpzArray> arrays{{"output", array_shape(q), prediction.values},
                               {"coordinates", points, q.samples.coordinates}};
  if (!q.set.time.empty()) arrays.push_back({"time", {q.frames()}, {}, q.set.time});
  write_npz(path, arrays);
}

std::string frames_text(const Query& q) {
  if (q.set.time.empty()) return "";
  if (q.frames() == 1) return fmt::format(", t = {:g}", q.set.time.front());
  return fmt::format(", {} frames, t = {:g} to {:g}", q.frames(), q.set.time.front(), q.set.time.back());
}

}  // namespace

void check_output_name(const PredictOptions& o) {
  const std::filesystem::path out(o.out);
  const std::string kind = out.extension().string();
  if (kind != ".h5" && kind != ".npy" && kind != ".npz" && !is_vtk(out)) {
    fail_usage("predicting", "--out ending in .h5, .npy, .npz, .vts, .vtu or .pvd", fmt::format("'{}'", o.out));
  }
  if (!is_vtk(out)) refuse_to_overwrite(o.out, o.force);
}

void check_output(const PredictOptions& o, const Query& query) {
  const std::string kind = std::filesystem::path(o.out).extension().string();
  if ((kind == ".npy" || kind == ".npz") && !query.samples.counts.empty())
    fail_usage("predicting", fmt::format("samples of one size for {}", kind), "clouds of different sizes", "write .h5");
  if (is_vtk(o.out)) check_vtk_output(o.out, query, o.force);
}

void write_prediction(const PredictOptions& o, const Query& query, const Prediction& prediction, double seconds) {
  const std::string kind = std::filesystem::path(o.out).extension().string();
  if (kind == ".npy") {
    write_npy(o.out, array_shape(query), prediction.values);
  } else if (kind == ".npz") {
    write_archive(o.out, query, prediction);
  } else if (kind == ".h5") {
    write_h5(o.out, query, prediction);
  } else {
    write_vtk_files(o.out, query, prediction);
  }
  say_written(o, query, prediction.frames, seconds);
}

void say_written(const PredictOptions& o, const Query& query, std::int64_t frames, double seconds) {
  const auto count = static_cast<double>(query.samples.count);
  const bool several = is_vtk(o.out) && (query.samples.count > 1 || frames > 1);
  fmt::print("{}{}: {} prediction{} of {}{}; {:.2f} ms per sample, {:.3g} points/s\n", o.out,
             several ? " (numbered)" : "", query.samples.count, query.samples.count == 1 ? "" : "s",
             shape_text(query.set.shape), frames_text(query), 1e3 * seconds / count,
             static_cast<double>(query.samples.first_point(query.samples.count) * frames) / seconds);
}

}  // namespace lano::cli
