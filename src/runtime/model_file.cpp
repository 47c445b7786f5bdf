#include "runtime/model_file.h"

#include <fmt/format.h>

#include <cmath>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "model_spec/parameter_name.h"

namespace lano {
namespace {

using nlohmann::json;

// Stored among the tensors, but no parameters.
constexpr const char* kCoordinates = "set.coordinates";
constexpr const char *kMeanMesh = "set.mean_mesh", *kMeanOutput = "set.mean_output";
constexpr std::string_view kBuffers = "buffers.";  // opens the names of running statistics

}  // namespace

std::int64_t ModelFile::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : weights)
    count += static_cast<std::int64_t>(tensor.values.size()) / (is_complex_weight(name) ? 2 : 1);
  return count;
}

namespace {

// A run has its model in its folder once it has ended: what is meant where the folder is named, or the file of a run
// that has not.
void check_is_there(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return;
  const bool folder = fs::is_directory(path, ignored);
  const fs::path run = folder ? path : path.parent_path();
  if (!fs::exists(run / "config.toml", ignored)) return;
  const std::string doing = fmt::format("reading model '{}'", path.string());
  if (folder && fs::exists(run / "model.safetensors", ignored))
    fail(doing, "a model file", "the folder of a run", fmt::format("name '{}'", (run / "model.safetensors").string()));
  if (!folder && fs::exists(path, ignored)) return;
  if (fs::exists(run / "evaluation.json", ignored))
    fail_plainly(doing, "the run is finished, but its model file is gone", "train it again");
  fail_plainly(doing, "the run is not finished and has no model yet",
               fmt::format("if it was stopped, resume it with 'lano train --resume {}'", run.string()));
}

}  // namespace

ModelFile read_model_file(const std::filesystem::path& path) {
  check_is_there(path);
  return parse_model_file(read_file(path, "reading model"), fmt::format("reading model '{}'", path.string()));
}

ModelFile parse_model_file(std::string_view bytes, const std::string& doing) {
  TensorFile file = parse_safetensors(bytes, doing);
  const auto metadata = [&](const char* key) -> const std::string& {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end()) {
      fail_plainly(doing, fmt::format("the metadata '{}' is missing", key),
                   "name a model file written by 'lano train'");
    }
    return found->second;
  };
  if (metadata("format") != "lano-model") fail(doing, "format lano-model", metadata("format"));
  if (metadata("format_version") != std::to_string(kModelVersion)) {
    fail(doing, fmt::format("model format version {}", kModelVersion), metadata("format_version"), "use a newer lano");
  }
  ModelFile model;
  const auto parsed = [&](const char* key) { return parse_json(metadata(key), doing, key); };
  model.architecture = parsed("architecture");
  model.provenance = parsed("provenance");
  const json& architecture = model.architecture;
  if (!architecture.is_object() || !architecture.contains("name") || !architecture["name"].is_string()) {
    fail(doing, "an architecture with the name of its model", architecture.type_name(),
         "the file is damaged: copy it again");
  }
  try {
    model.set = set_description_from_json(parsed("set"));
    model.normaliser = normaliser_from_json(parsed("normaliser"));
  } catch (const json::exception& error) {
    fail(doing, "well-formed metadata", json_reason(error), "the file is damaged: copy it again");
  }
  const SetDescription& set = model.set;
  const Normaliser& map = model.normaliser;
  if (map.coordinates.channels() != set.dims() || map.input.channels() != set.input_channels() ||
      map.output.channels() != set.output_channels()) {
    fail_plainly(doing, "the normaliser has other channels than the fields", "the file is damaged: copy it again");
  }
  if (!map.increment.empty() && architecture.value("task", "") != "autoregressive")
    fail_plainly(doing, "it has increments, but does not step in time", "the file is damaged: copy it again");
  if (set.dims() < 1 || set.output_channels() < 1 || set.shape.empty()) {
    fail_plainly(doing, "it has no coordinates, output fields or axes", "the file is damaged: copy it again");
  }
  std::int64_t points = 1;
  for (const std::int64_t extent : set.shape) {
    if (extent < 1 || extent > (std::int64_t{1} << 40) / points) {
      fail(doing, "axes of at least one point that fit in memory", shape_text(set.shape),
           "the file is damaged: copy it again");
    }
    points *= extent;
  }
  const auto check_mean = [&](const MeanField& field, const char* name) {
    const auto values = file.tensors.find(name);
    if (field.empty() ? values == file.tensors.end()
                      : values != file.tensors.end() && set.geometry != Geometry::points &&
                            values->second.shape == Shape{points, field.channels()}) {
      return;
    }
    fail_plainly(doing, "a mean field is missing or does not fit the mesh of the dataset",
                 "the file is damaged: copy it again");
  };
  check_mean(map.mean_mesh, kMeanMesh);
  check_mean(map.mean_output, kMeanOutput);
  if (!map.mean_output.empty() && architecture.value("task", "") == "autoregressive")
    fail_plainly(doing, "it has a mean output, but steps in time", "the file is damaged: copy it again");
  const auto coordinates = file.tensors.find(kCoordinates);
  if (coordinates != file.tensors.end() && coordinates->second.shape != Shape{points, set.dims()}) {
    fail(doing, fmt::format("coordinates of shape {}", shape_text({points, set.dims()})),
         shape_text(coordinates->second.shape), "the file is damaged: copy it again");
  }
  for (const auto& [name, tensor] : file.tensors) {
    for (const float value : tensor.values) {
      if (!std::isfinite(value)) fail(doing, "finite weights", fmt::format("{} in '{}'", value, name), "train again");
    }
  }
  for (const auto& [name, field] :
       {std::pair(kMeanMesh, &model.normaliser.mean_mesh), std::pair(kMeanOutput, &model.normaliser.mean_output)}) {
    if (auto node = file.tensors.extract(name))
      *field = MeanField(set.shape, std::move(node.mapped().values), field->scale());
  }
  if (auto node = file.tensors.extract(kCoordinates)) model.coordinates = std::move(node.mapped().values);
  for (auto at = file.tensors.begin(); at != file.tensors.end();) {
    const auto here = at++;
    if (!here->first.starts_with(kBuffers)) continue;
    auto node = file.tensors.extract(here);
    model.buffers[node.key().substr(kBuffers.size())] = std::move(node.mapped());
  }
  model.weights = std::move(file.tensors);
  return model;
}

std::string format_model_file(const ModelFile& model) {
  TensorFile file;
  file.metadata = {{"format", "lano-model"},
                   {"format_version", std::to_string(kModelVersion)},
                   {"architecture", model.architecture.dump()},
                   {"set", to_json(model.set).dump()},
                   {"normaliser", to_json(model.normaliser).dump()},
                   {"provenance", model.provenance.dump()}};
  file.tensors = model.weights;
  for (const auto& [name, tensor] : model.buffers) file.tensors[std::string(kBuffers) + name] = tensor;
  if (!model.coordinates.empty()) {
    file.tensors[kCoordinates] = {{model.set.points(), model.set.dims()}, model.coordinates};
  }
  for (const auto& [name, field] :
       {std::pair(kMeanMesh, &model.normaliser.mean_mesh), std::pair(kMeanOutput, &model.normaliser.mean_output)}) {
    if (!field->empty()) file.tensors[name] = {{model.set.points(), field->channels()}, field->values()};
  }
  return format_safetensors(file);
}

void write_model_file(const std::filesystem::path& path, const ModelFile& model) {
  write_file_atomically(path, format_model_file(model));
}

}  // namespace lano
