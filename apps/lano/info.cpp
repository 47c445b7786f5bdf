#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cluster/start.h"
#include "command.h"
#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/threads.h"
#include "core/version.h"
#include "data/array_source.h"
#include "data/dataset.h"
#include "data/import_suggestion.h"
#include "kernels/tile_kernels.h"
#include "model_spec/architecture.h"
#include "model_spec/model_catalogue.h"
#include "report/png_file.h"
#include "report/run_list.h"
#include "report/sheet.h"
#include "runtime/model_file.h"
#include "set_lines.h"

namespace lano::cli {
namespace {

constexpr std::size_t kMostText = 20000;  // of one entry, as a file has it

// Samples as one picture, a row each, or side by side if they have one or two fields. None given: a few of each split.
void plot_dataset(const DatasetReader& reader, const std::string& out, std::vector<std::int64_t> ids) {
  const SetDescription& d = reader.description();
  if (ids.empty()) {
    for (const Split split : {Split::train, Split::validation, Split::test}) {
      const std::vector<std::int64_t> all = reader.indices(split);
      ids.insert(
          ids.end(), all.begin(),
          all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), split == Split::train ? 2 : 1)));
    }
  }
  PanelRows rows;
  for (const std::int64_t id : ids) {
    const Samples one = reader.read(std::vector<std::int64_t>{id});
    SetDescription set = d;
    set.shape = d.geometry == Geometry::points ? Shape{one.points_of(0)} : d.shape;
    const std::vector<float> kept = reader.read_kept(id);
    const std::vector<std::int64_t> cells = reader.cell_kind() ? reader.read_cells(id) : std::vector<std::int64_t>();
    PanelRows fields = sample_panels(set, {one.coordinates, one.input, one.output, kept, cells}, reader.cell_kind());
    for (auto& row : fields) {
      for (Panel& panel : row) panel.title = fmt::format("Sample {}: {}", id, panel.title);
    }
    constexpr std::size_t kAcross = 4;
    if (!rows.empty() && fields.size() == 1 && rows.back().size() + fields[0].size() <= kAcross) {
      rows.back().insert(rows.back().end(), fields[0].begin(), fields[0].end());
    } else {
      rows.insert(rows.end(), fields.begin(), fields.end());
    }
  }
  write_file_atomically(out, encode_png(draw_sheet(rows)));
  std::string columns;
  for (const auto* fields : {&d.input, &d.output, &d.kept}) {
    for (const FieldInfo& field : *fields) columns += (columns.empty() ? "" : " | ") + field.name;
  }
  fmt::print("picture: {} (columns: {}{})\n", out, plain_text(columns, kMostText),
             d.time.size() < 2 ? ""
             : d.dims() == 1   ? ", output with time downwards"
                               : ", output at several times");
}

void print_dataset(const std::string& path, const std::string& plot, const std::vector<std::int64_t>& samples) {
  const DatasetReader reader(path);
  fmt::print("{}: dataset '{}', {} samples\n", plain_text(path, kMostText), reader.description().name, reader.size());
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    fmt::print("  {:<12} {}\n", split_name(split), reader.indices(split).size());
  }
  print_set_lines(reader);
  fmt::print("  contents     {:016x}\n", reader.hash());
  if (!plot.empty()) plot_dataset(reader, plot, samples);
}

// The recipe is TOML: its lines stay lines.
void print_provenance(nlohmann::json provenance) {
  std::string recipe;
  if (provenance.is_object() && provenance.contains("recipe") && provenance["recipe"].is_string()) {
    recipe = provenance["recipe"].get<std::string>();
    provenance.erase("recipe");
  }
  print_json_lines("provenance", provenance.dump());
  if (recipe.empty()) return;
  fmt::print("  recipe\n");
  std::istringstream lines(recipe.substr(0, kMostText));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) fmt::print("    {}\n", plain_text(line, 400));
  }
}

void print_model(const std::string& path) {
  const ModelFile model = read_model_file(path);
  fmt::print("{}: model '{}', {} parameters in {} tensors\n", plain_text(path, kMostText),
             plain_text(architecture_name(model.architecture), 100), model.parameter_count(), model.weights.size());
  print_json_lines("architecture", model.architecture.dump());
  fmt::print("  trained on   {}\n", plain_text(model.set.name, 400));
  print_set_lines(channels_as_times(model.set));
  if (!model.set.channel_times.empty())
    fmt::print("  network      all times at once, {} channels\n", model.set.output_channels());
  print_provenance(model.provenance);
}

// Every array of a file that is no dataset of ours, and how it might become one.
void print_arrays(const std::string& path) {
  const std::vector<ArrayInfo> arrays = list_arrays(path);
  fmt::print("{}: {} array{}\n", plain_text(path, kMostText), arrays.size(), arrays.size() == 1 ? "" : "s");
  constexpr std::size_t kShown = 200;
  std::size_t widest = 4;
  for (const ArrayInfo& array : arrays) widest = std::max(widest, std::min<std::size_t>(40, array.name.size()));
  for (std::size_t i = 0; i < std::min(kShown, arrays.size()); ++i) {
    const ArrayInfo& array = arrays[i];
    fmt::print("  {:<{}}  {:<20} {}\n", array.name.empty() ? "-" : plain_text(array.name, 400), widest,
               array.readable || !array.shape.empty() ? shape_text(array.shape) : "", plain_text(array.type, 200));
  }
  if (arrays.size() > kShown) fmt::print("  ... and {} more\n", arrays.size() - kShown);
  std::vector<std::filesystem::path> beside;
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, none))
    beside.push_back(folder / entry.path().filename());
  const std::string command = suggest_import(path, arrays, beside);
  if (!command.empty())
    fmt::print("To make a dataset of it, by names and shapes (check what is input and what is output):\n  {}\n",
               plain_text(command, kMostText));
}

std::string count_text(std::int64_t count) { return count < 0 ? "?" : count == 0 ? "-" : grouped_digits(count); }

void print_models() {
  const std::string line = "{:<11} {:<11} {:>11} {:>11}  {:<20} {:<31} {}\n";
  fmt::print(fmt::runtime(line), "model", "family", "parameters", "on points", "geometries", "cost of a layer",
             "paper");
  for (const ModelInfo& m : model_catalogue()) {
    std::string geometries;
    for (const auto& [takes, name, flat] :
         {std::tuple(m.grid, "grid", m.flat_grids), std::tuple(m.mesh, "mesh", m.flat_grids),
          std::tuple(m.points, "points", m.flat_points)}) {
      if (takes) geometries += fmt::format("{}{}{}", geometries.empty() ? "" : " ", name, flat ? "*" : "");
    }
    fmt::print(fmt::runtime(line), m.name, m.family, count_text(m.grid_parameters), count_text(m.points_parameters),
               geometries, m.cost, m.paper);
  }
  fmt::print(
      "\nParameters at 8 layers, 8 heads, width 128, feed-forward ratio 2, 128 agents, 64 slices, 12 modes; one input "
      "channel; on an {0}x{0} grid,\n"
      "and 'on points' on a cloud of {1} points. * in two dimensions only: two axes, points of the plane.\n"
      "N points, C width, H heads, M agents, G slices, E experts, F features, T tokens, k wavelets, w window, K modes "
      "and n points along an axis;\n"
      "costs of attention are in addition to the O(N C^2) pointwise maps. Train one with 'lano train --set "
      "model.name=NAME'.\n",
      kStandardSide, kStandardPoints);
}

void print_system() {
  const std::string_view chosen = kernels::kernels().name;  // LANO_SIMD may be wrong: then nothing is printed
  fmt::print("lano {}\nthreads      {} (OpenMP)\n", kVersion, thread_count());
  std::string available;
  for (const kernels::Simd simd : kernels::available_simd())
    available += (available.empty() ? "" : ", ") + kernels::simd_name(simd);
  fmt::print("MPI          {}\n", mpi_text());
  fmt::print("kernels      {} (of {}; LANO_SIMD chooses)\n", chosen, available);
  const auto program = program_folder() / "lano-torch";
  if (!std::filesystem::exists(program)) {
    fmt::print("LibTorch     not built in: LANO trains and predicts, the operators of the comparison do not\n");
    return;
  }
  std::fflush(stdout);
  if (!run_child(program, {"system"}).good()) {
    throw Error("lano-torch failed to report on LibTorch; see the lines above");
  }
}

}  // namespace

void add_info(CLI::App& app) {
  struct InfoOptions {
    std::string file;
    bool system = false, models = false, draw = false;
    std::string plot;
    std::vector<std::int64_t> samples;
  };
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command =
      app.add_subcommand("info", "describe a dataset, a model or a file of arrays, or this installation");
  command->add_option("file", options->file,
                      "a dataset (.h5), a model (.safetensors), or any file with arrays (.npy .npz .mat .h5 .pt)");
  command->add_flag("--plot", options->draw, "draw a picture of a few samples of a dataset");
  command->add_option("--plot-to", options->plot, "the picture to write; default FILE.png");
  command->add_option("--sample", options->samples,
                      "with --plot: these samples (repeatable); default a few of each split");
  command->add_flag("--system", options->system, "threads, LibTorch and BLAS of this installation");
  command->add_flag("--models", options->models,
                    "every operator: parameters at the standard size, cost, geometries, source");
  command->footer("Example: lano info darcy.h5 --plot");
  command->callback([options] {
    if (options->system) print_system();
    if (options->models) print_models();
    if (options->file.empty()) {
      if (!options->system && !options->models)
        fail_usage_plainly("lano info", "no file is given",
                           "name a file, or use --system or --models; see 'lano info --help'");
    } else if (options->file.ends_with(".safetensors")) {
      print_model(options->file);
    } else if (has_array_extension(options->file) && !is_dataset_file(options->file)) {
      print_arrays(options->file);
    } else {
      const bool draw = options->draw || !options->plot.empty();
      print_dataset(options->file,
                    !draw                   ? ""
                    : options->plot.empty() ? options->file + ".png"
                                            : options->plot,
                    options->samples);
    }
  });
}

}  // namespace lano::cli
