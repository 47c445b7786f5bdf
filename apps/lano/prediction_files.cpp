#include "prediction_files.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "command.h"
#include "core/error.h"
#include "data/npy.h"
#include "edge.h"
#include "evaluate/set_fit.h"
#include "report/picture.h"
#include "report/vtk.h"

namespace lano::cli {
namespace {

Query from_dataset(const PredictOptions& o, const ModelFile& model) {
  const DatasetReader reader(o.data);
  check_fits(model.set, reader.description(), fmt::format("predicting from '{}'", o.data));
  const auto ids = o.samples.empty() ? reader.indices(std::string_view(o.split)) : o.samples;
  if (ids.empty()) fail_usage("predicting", "at least one sample", fmt::format("none in split '{}'", o.split));
  return {reader.description(), reader.read(ids)};
}

void check_finite(const std::vector<float>& values, const std::string& doing) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) fail(doing, "finite numbers", fmt::format("{} at value {}", values[i], i));
  }
}

// [shape..., channels] or [S, shape..., channels]; the channel axis may be left out where there is one channel.
// Returns S and reduces `shape` to the mesh.
std::int64_t strip_shape(Shape& shape, std::size_t axes, std::int64_t channels, const std::string& doing) {
  const Shape given = shape;
  if (!shape.empty() && shape.size() > axes && shape.back() == channels && (channels > 1 || shape.size() > axes + 1))
    shape.pop_back();
  std::int64_t samples = 1;
  if (shape.size() == axes + 1) {
    samples = shape.front();
    shape.erase(shape.begin());
  }
  if (shape.size() != axes || samples < 1) {
    fail(doing, fmt::format("an array [samples, {} axes, {} channels]", axes, channels), shape_text(given));
  }
  return samples;
}

Query from_arrays(const PredictOptions& o, const ModelFile& model) {
  const std::string doing = fmt::format("predicting from '{}'", o.input.empty() ? o.coords : o.input);
  if (!model.set.time.empty())
    fail_usage(doing, "--data: a time-dependent model takes its times from a dataset", "arrays");
  Query query{model.set, {}};
  const std::size_t axes = model.set.geometry == Geometry::points ? 1 : model.set.shape.size();
  Samples& s = query.samples;
  if (!o.input.empty()) {
    NumpyArray input = read_numpy(o.input, "");
    check_finite(input.values, doing);
    s.count = strip_shape(input.shape, axes, model.set.input_channels(), doing);
    query.set.shape = input.shape;
    s.input = std::move(input.values);
    if (static_cast<std::int64_t>(s.input.size()) != s.count * query.set.points() * model.set.input_channels()) {
      fail(doing, fmt::format("{} input channels", model.set.input_channels()), shape_text(input.shape));
    }
  } else if (model.set.input_channels() > 0) {
    fail_usage("predicting", "--input or --data: this model takes input fields", "none");
  }
  if (!o.coords.empty()) {
    NumpyArray coords = read_numpy(o.coords, "");
    check_finite(coords.values, doing);
    if (coords.shape.size() < 2 || coords.shape.back() != model.set.dims()) {
      fail(doing, fmt::format("coordinates with {} numbers a point in the last axis", model.set.dims()),
           shape_text(coords.shape));
    }
    Shape shape = coords.shape;
    shape.pop_back();
    const std::int64_t sets = shape.size() == axes + 1 ? shape.front() : 1;
    if (shape.size() == axes + 1) shape.erase(shape.begin());
    if (o.input.empty()) {
      query.set.shape = shape;
      s.count = sets;
    }
    if (shape != query.set.shape || (sets != 1 && sets != s.count)) {
      fail(doing, fmt::format("coordinates of {} samples of {}", s.count, shape_text(query.set.shape)),
           shape_text(coords.shape));
    }
    s.shared_coordinates = sets == 1 && s.count != 1;
    s.coordinates = std::move(coords.values);
  } else {
    if (model.coordinates.empty() || query.set.shape != model.set.shape) {
      fail_usage(doing, fmt::format("the training grid {} or --coords", shape_text(model.set.shape)),
                 shape_text(query.set.shape), "give the coordinates of your points with --coords FILE.npy");
    }
    s.shared_coordinates = s.count != 1;
    s.coordinates = model.coordinates;
  }
  s.points = query.set.points();
  for (std::int64_t i = 0; i < s.count; ++i) s.ids.push_back(i);
  return query;
}

void write_h5(const std::string& path, const Query& q, const Prediction& prediction) {
  SetDescription set = q.set;
  set.generator = nlohmann::json{{"program", "lano predict"}}.dump();
  set.kept.clear();  // the solver's further fields are not predicted
  const Samples& s = q.samples;
  // A roll-out beyond the set's frames goes on in equal steps.
  const double step = set.time.size() > 1 ? set.time[1] - set.time[0] : 1;
  while (!set.time.empty() && static_cast<std::int64_t>(set.time.size()) < prediction.frames)
    set.time.push_back(set.time.back() + step);
  if (!set.time.empty()) set.time.resize(static_cast<std::size_t>(prediction.frames));
  std::span<const float> shared;
  if (s.shared_coordinates) shared = s.coordinates;
  const std::vector<Split> splits(static_cast<std::size_t>(s.count), Split::test);
  const auto writer = s.counts.empty() ? std::make_unique<DatasetWriter>(path, set, splits, shared)
                                       : std::make_unique<DatasetWriter>(path, set, splits, s.counts);
  for (std::int64_t i = 0; i < s.count; ++i) {
    const auto coords = s.shared_coordinates ? std::span<const float>() : s.coordinates_of(i, set.dims());
    writer->write(i, coords, s.input_of(i, set.input_channels()), prediction.of(q.samples, i, q.set.output_channels()));
  }
  writer->commit();
}

void write_array(const std::string& path, const Query& q, const Prediction& prediction) {
  if (!q.samples.counts.empty())
    fail_usage("predicting", "samples of one size for .npy", "clouds of different sizes", "write .h5");
  Shape shape{q.samples.count};
  if (!q.set.time.empty()) shape.push_back(prediction.frames);
  shape.insert(shape.end(), q.set.shape.begin(), q.set.shape.end());
  shape.push_back(q.set.output_channels());
  write_npy(path, shape, prediction.values);
}

// One file a sample and frame; with several samples or frames the name gets their numbers.
std::filesystem::path vtk_name(const std::filesystem::path& path, const Query& q, std::int64_t frames, std::int64_t i,
                               std::int64_t frame) {
  std::string name = path.stem().string();
  if (q.samples.count > 1) name += fmt::format("-{:04}", q.samples.ids[static_cast<std::size_t>(i)]);
  if (frames > 1) name += fmt::format("-t{:03}", frame);
  std::filesystem::path to = path;
  return to.replace_filename(name + path.extension().string());
}

void write_vtk_files(const std::filesystem::path& path, const Query& q, const Prediction& prediction, bool force) {
  const Samples& s = q.samples;
  for (std::int64_t i = 0; i < s.count; ++i) {
    for (std::int64_t frame = 0; frame < prediction.frames; ++frame) {
      refuse_to_overwrite(vtk_name(path, q, prediction.frames, i, frame).string(), force);
    }
  }
  for (std::int64_t i = 0; i < s.count; ++i) {
    SetDescription set = q.set;
    if (!s.counts.empty()) set.shape = {s.points_of(i)};
    for (std::int64_t frame = 0; frame < prediction.frames; ++frame) {
      const auto to = vtk_name(path, q, prediction.frames, i, frame);
      std::vector<std::vector<float>> columns;
      std::vector<std::string> names;
      const auto add = [&](std::span<const float> values, const std::vector<FieldInfo>& fields) {
        for (std::size_t c = 0; c < fields.size(); ++c) {
          columns.push_back(channel(values, static_cast<std::int64_t>(fields.size()), static_cast<std::int64_t>(c)));
          names.push_back(fields[c].name);
        }
      };
      const auto size = static_cast<std::size_t>(s.points_of(i) * set.output_channels());
      add(s.input_of(i, set.input_channels()), set.input);
      add(prediction.of(q.samples, i, q.set.output_channels()).subspan(static_cast<std::size_t>(frame) * size, size),
          set.output);
      std::vector<VtkField> fields;
      for (std::size_t c = 0; c < columns.size(); ++c) fields.push_back({names[c], columns[c]});
      write_vtk(to, set, s.coordinates_of(i, set.dims()), fields);
    }
  }
}

bool is_vtk(const std::string& kind) { return kind == ".vts" || kind == ".vtu"; }

}  // namespace

CLI::App* add_predict_word(CLI::App& app, const std::shared_ptr<PredictOptions>& o) {
  CLI::App* command = app.add_subcommand("predict", "use a model: fields out, as .h5, .npy, .vts or .vtu");
  command->add_option("model", o->model, "the model file")->required();
  command->add_option("--data", o->data, "a dataset file to take inputs from");
  command->add_option("--split", o->split, "with --data: train, validation, test or all")->capture_default_str();
  command->add_option("--sample", o->samples, "with --data: these samples only (repeatable)");
  command->add_option("--input", o->input, "input fields as .npy: [shape...] or [samples, shape..., channels]");
  command->add_option("--coords", o->coords, "coordinates as .npy [shape..., dims]; the training grid needs none");
  command->add_option("--out", o->out, "the file to write; its ending chooses the format")->required();
  command
      ->add_option("--steps", o->steps, "autoregressive models: steps from the first frame, 0: all frames of the set")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--agents", o->agents, "use another number of agent tokens than in training")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--force", o->force, "replace an existing file");
  command->add_option("--engine", o->engine, "fused kernels, or composite: plain LibTorch calls, the reference")
      ->check(CLI::IsMember({"fused", "composite"}))
      ->capture_default_str();
  add_device_option(command, o->device);
  command->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
  command->footer(
      "Example: lano predict runs/darcy/model.safetensors --data darcy.h5 --split test --out prediction.h5\n"
      "Example: lano predict runs/darcy/model.safetensors --input a.npy --out u.npy\n"
      "Example: lano predict runs/darcy/model.safetensors --data darcy.h5 --sample 3 --out sample3.vts   (ParaView)");
  return command;
}

void check_predict_options(const PredictOptions& o) {
  const std::string kind = std::filesystem::path(o.out).extension().string();
  if (kind != ".h5" && kind != ".npy" && !is_vtk(kind)) {
    fail_usage("predicting", "--out ending in .h5, .npy, .vts or .vtu", fmt::format("'{}'", o.out));
  }
  if (!is_vtk(kind)) refuse_to_overwrite(o.out, o.force);
  if (o.data.empty() == (o.input.empty() && o.coords.empty())) {
    fail_usage("predicting", "either --data, or --input and --coords", o.data.empty() ? "neither" : "both");
  }
}

Query read_query(const PredictOptions& o, const ModelFile& model) {
  return o.data.empty() ? from_arrays(o, model) : from_dataset(o, model);
}

void write_prediction(const PredictOptions& o, const Query& query, const Prediction& prediction, double seconds) {
  const std::filesystem::path out(o.out);
  const std::string kind = out.extension().string();
  if (kind == ".npy") {
    write_array(o.out, query, prediction);
  } else if (kind == ".h5") {
    write_h5(o.out, query, prediction);
  } else {
    write_vtk_files(out, query, prediction, o.force);
  }
  const auto count = static_cast<double>(query.samples.count);
  const bool several = is_vtk(kind) && (query.samples.count > 1 || prediction.frames > 1);
  fmt::print("{}{}: {} predictions of {}; {:.2f} ms a sample, {:.3g} points/s\n", o.out, several ? " (numbered)" : "",
             query.samples.count, shape_text(query.set.shape), 1e3 * seconds / count,
             static_cast<double>(query.samples.first_point(query.samples.count) * prediction.frames) / seconds);
}

}  // namespace lano::cli
