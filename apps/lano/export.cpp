#include "runtime/onnx/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "command.h"
#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "data/npy.h"
#include "edge.h"
#include "runtime/onnx/graph.h"
#include "serve/export_page.h"
#include "serve/sample_source.h"

namespace lano::cli {
namespace {

struct ExportOptions {
  std::string model, out, mesh, coordinates, page;
  std::vector<std::string> data;
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

// One HTML file with the model, the runtime and some test samples.
void export_page(const ExportOptions& o) {
  if (!o.page.ends_with(".html"))
    fail_usage("exporting a page", "--page FILE ending in .html", fmt::format("'{}'", o.page));
  refuse_to_overwrite(o.page, o.force);
  const std::string runtime = serve::read_web_runtime(program_folder());
  std::vector<std::string> samples;
  if (!o.data.empty()) {
    constexpr std::int64_t kMostSamples = 8, kMostBytes = 600000;
    const serve::SampleSource source(o.data);
    const serve::ServedModel model("page", Operator::load(o.model));
    std::size_t bytes = 0;
    for (std::int64_t i = 0; i < std::min(kMostSamples, source.count(model)) && bytes < kMostBytes; ++i) {
      samples.push_back(source.sample(model, i));
      bytes += samples.back().size();
    }
    if (samples.empty())
      fail_plainly("exporting a page",
                   fmt::format("'{}' has no test samples of this model's problem", fmt::join(o.data, "', '")),
                   "give the dataset the model was trained on, or leave out --data");
  }
  const std::string page = serve::page_with_model(o.model, runtime, samples);
  write_file_atomically(o.page, page);
  fmt::print("{}: {:.2f} MB, opens in a browser without a server; {} test samples inside\n", o.page,
             static_cast<double>(page.size()) / 1e6, samples.size());
}

void run_export(const ExportOptions& o) {
  if (o.page.empty() == o.out.empty())
    fail_usage_plainly("exporting a model",
                       o.page.empty() ? "no file is named" : "--onnx and --page exclude each other",
                       o.page.empty() ? "add --onnx FILE or --page FILE" : "give one of them");
  if (!o.page.empty()) return export_page(o);
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
      app.add_subcommand("export", "write a model for other runtimes: ONNX, or a self-contained page for browsers");
  command->add_option("model", o->model, "the model file")->required();
  command->add_option("--onnx", o->out, "the ONNX file to write");
  command->add_option("--page", o->page,
                      "the page of 'lano serve' with this model in one HTML file that needs no server");
  command->add_option("--data", o->data, "with --page: a dataset whose first test samples the page shows")
      ->allow_extra_args(false);
  command->add_option("--mesh", o->mesh,
                      "a mesh other than the trained one, such as 64x64; a grid keeps its position in the domain");
  command->add_option("--coords", o->coordinates, "positions of the points of that grid, .npy [shape..., dims]");
  command->add_option("--agents", o->agents, "use another number of agent tokens than in training")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--force", o->force, "replace an existing file");
  command->footer(
      "Example: lano export runs/darcy/model.safetensors --onnx darcy.onnx\n"
      "Example: lano export runs/darcy/model.safetensors --page darcy.html --data darcy.h5\n"
      "The batch is free; the number of points is free for clouds and fixed on grids and meshes (docs/runtime.md).");
  command->callback([o] { run_export(*o); });
}

}  // namespace lano::cli
