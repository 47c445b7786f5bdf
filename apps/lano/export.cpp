#include "runtime/onnx/export.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "command.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "data/npy.h"
#include "edge.h"
#include "runtime/onnx/graph.h"

namespace lano::cli {
namespace {

struct ExportOptions {
  std::string model, out, mesh, coordinates;
  std::int64_t agents = 0;
  bool force = false;
};

// "64x64" -> {64, 64}
Shape parse_mesh(const std::string& text) {
  Shape mesh;
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    const bool separated = next != end && *next == 'x' && next + 1 != end;
    if (error != std::errc{} || extent < 1 || (next != end && !separated)) {
      fail_usage("exporting a model", "--mesh like 64x64", fmt::format("'{}'", text));
    }
    mesh.push_back(extent);
    at = next + (separated ? 1 : 0);
  }
  return mesh;
}

void run_export(const ExportOptions& o) {
  if (!o.out.ends_with(".onnx"))
    fail_usage("exporting a model", "--onnx FILE ending in .onnx", fmt::format("'{}'", o.out));
  refuse_to_overwrite(o.out, o.force);
  onnx::ExportOptions options{parse_mesh(o.mesh), {}, o.agents};
  const ModelFile file = read_model_file(o.model);
  if (!o.coordinates.empty()) {
    NumpyArray array = read_numpy(o.coordinates, "");
    options.coordinates = std::move(array.values);
    if (array.shape.size() > 1) array.shape.pop_back();
    if (options.mesh.empty()) options.mesh = array.shape;
  }
  const onnx::Exported exported = onnx::export_model(file, options);
  write_file_atomically(o.out, exported.bytes);
  if (o.agents > 0 && exported.agents != o.agents) {
    fmt::print(stderr, "using {} agents: the nearest good patch grid to {}\n", exported.agents, o.agents);
  }
  const double megabytes = static_cast<double>(exported.bytes.size()) / 1e6;
  fmt::print("{}: ONNX, opset {}, {:.1f} MB; {} -> {}\n", o.out, onnx::kOpset, megabytes,
             fmt::join(exported.inputs, ", "), exported.output);
}

}  // namespace

void add_export(CLI::App& app) {
  auto o = std::make_shared<ExportOptions>();
  CLI::App* command =
      app.add_subcommand("export", "write a model for other runtimes: ONNX, with physical inputs and outputs");
  command->add_option("model", o->model, "the model file")->required();
  command->add_option("--onnx", o->out, "the file to write")->required();
  command->add_option("--mesh", o->mesh,
                      "another mesh than the trained one, such as 64x64; a grid keeps its position in the domain");
  command->add_option("--coords", o->coordinates, "positions of the points of that grid, .npy [shape..., dims]");
  command->add_option("--agents", o->agents, "use another number of agent tokens than in training")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--force", o->force, "replace an existing file");
  command->footer(
      "Example: lano export runs/darcy/model.safetensors --onnx darcy.onnx\n"
      "The batch is free; the number of points is free for clouds and fixed on grids and meshes (docs/runtime.md).");
  command->callback([o] { run_export(*o); });
}

}  // namespace lano::cli
