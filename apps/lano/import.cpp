#include <fmt/format.h>

#include <charconv>

#include "command.h"
#include "console.h"
#include "core/error.h"
#include "data/array_import.h"
#include "data/array_source.h"
#include "data/benchmark_import.h"
#include "data/dataset.h"
#include "edge.h"
#include "set_lines.h"

namespace lano::cli {
namespace {

struct ImportOptions {
  ArrayImport import;
  BenchmarkImport benchmark;
  std::vector<std::string> train, test;  // files, or with --benchmark a number of samples each
  std::vector<std::string> validation;   // a share, or files
  std::vector<std::string> from, shuffle;
  std::string out;
  bool force = false;
};

template <class Number>
std::optional<Number> whole_text_number(const std::string& text) {
  Number number{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// --train or --test of a benchmark: a number of samples, which --train-count and --test-count may also give.
std::optional<std::int64_t> sample_count(const char* option, const std::vector<std::string>& words,
                                         const std::optional<std::int64_t>& counted) {
  if (words.empty()) return counted;
  const auto count = whole_text_number<std::int64_t>(words.front());
  if (words.size() != 1 || !count || *count < 0) {
    fail_usage("importing a benchmark", fmt::format("{} with a number of samples", option),
               fmt::format("'{}'", fmt::join(words, " ")), "files go to --from");
  }
  return count;
}

// --validation: a share of the training samples, or files with separate samples.
void read_validation(const ImportOptions& o, ArrayImport& import) {
  if (o.validation.empty()) return;
  const auto share = whole_text_number<double>(o.validation.front());
  if (o.validation.size() == 1 && share) {
    import.validation_share = *share;
  } else if (share || !has_array_extension(o.validation.front())) {
    fail_usage("reading --validation", "a share of the training samples, such as 0.1, or files with samples",
               fmt::format("'{}'", fmt::join(o.validation, " ")));
  } else {
    import.validation.files.assign(o.validation.begin(), o.validation.end());
  }
}

std::int64_t run_benchmark(const ImportOptions& o) {
  const ArrayWords& words = o.import.words;
  if (!words.output.empty() || !words.input.empty() || !words.coords.empty() || !o.import.time.empty()) {
    fail_usage_plainly("importing a benchmark", "the arrays of a benchmark are known",
                       "leave out --input, --output, --coords and --time");
  }
  BenchmarkImport import = o.benchmark;
  import.from.assign(o.from.begin(), o.from.end());
  import.train_count = sample_count("--train", o.train, o.import.train_count);
  import.test_count = sample_count("--test", o.test, o.import.test_count);
  ArrayImport with_share;
  read_validation(o, with_share);
  import.validation_share = with_share.validation_share;
  return import_benchmark(import, o.out);
}

std::int64_t run_arrays(const ImportOptions& o) {
  if (o.benchmark.stride || o.benchmark.time_stride) {
    fail_usage_plainly("importing arrays", "--stride and --time-stride need --benchmark",
                       fmt::format("the benchmarks are {}", fmt::join(importable_benchmarks(), ", ")));
  }
  ArrayImport import = o.import;
  import.files.assign(o.from.begin(), o.from.end());
  import.train.files.assign(o.train.begin(), o.train.end());
  import.test.files.assign(o.test.begin(), o.test.end());
  read_validation(o, import);
  if (!o.shuffle.empty()) {
    const std::string& seed = o.shuffle.front();
    import.shuffle = seed.empty() ? 0 : whole_text_number<std::uint64_t>(seed);
    if (!import.shuffle) fail_usage("reading --shuffle", "a seed, a whole number", fmt::format("'{}'", seed));
  }
  return import_arrays(import, o.out, console());
}

// What was understood, from the file that was written.
void print_summary(const std::string& path, std::int64_t samples) {
  const DatasetReader reader(path);
  const auto count = [&](Split split) { return reader.indices(split).size(); };
  fmt::print("{}: {} samples\n", path, samples);
  fmt::print("  splits       train {}, validation {}, test {}\n", count(Split::train), count(Split::validation),
             count(Split::test));
  print_set_lines(reader);
}

// --input and the like for one split alone.
void add_part(CLI::App* command, const std::string& split, ArrayWords& words) {
  const std::string group = "Arrays of one split";
  const auto text = [&](const char* what) { return fmt::format("as --{}, for the {} samples only", what, split); };
  const auto one = [](CLI::Option* option) { option->expected(1)->take_all(); };
  one(command->add_option(fmt::format("--{}-input", split), words.input, text("input"))->group(group));
  command->add_option(fmt::format("--{}-output", split), words.output, text("output"))->group(group);
  one(command->add_option(fmt::format("--{}-coords", split), words.coords, text("coords"))->group(group));
  one(command->add_option(fmt::format("--{}-input-coords", split), words.input_coords, text("input-coords"))
          ->group(group));
  command->add_option(fmt::format("--{}-cells", split), words.cells, text("cells"))->group(group);
}

// One of these words; the help shows them as {grid,mesh,points}.
template <class Value>
CLI::Validator one_of(const std::map<std::string, Value>& words) {
  CLI::Validator choice = CLI::CheckedTransformer(words);
  std::vector<std::string> names;
  for (const auto& [name, value] : words) names.push_back(name);
  return choice.description(fmt::format("{{{}}}", fmt::join(names, ",")));
}

}  // namespace

void add_import(CLI::App& app) {
  auto o = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand(
      "import", "make a dataset file from your own arrays (NumPy, MATLAB, HDF5, PyTorch) or public benchmark files");
  command->add_option("--from", o->from,
                      "files in which names are looked up; with --benchmark: the folder or the files");
  command->add_option("--train", o->train, "files with training samples; with --benchmark: how many samples");
  command->add_option("--test", o->test, "files with test samples; with --benchmark: how many samples");
  command->add_option("--validation", o->validation,
                      "share of the training samples kept for validation (default 0.1), or files with samples");
  ArrayWords& words = o->import.words;
  command
      ->add_option("--input", words.input,
                   "input field, or parameters [samples, k] (repeatable): an array's name in those files, a .npy file, "
                   "FILE:NAME, or a list with one array per sample (a folder of .npy, FILE:PATTERN with *)")
      ->expected(1)
      ->take_all();
  command->add_option("--output", words.output, "output field, named in the same way");
  command
      ->add_option(
          "--coords", words.coords,
          "coordinates [shape..., dims] or [samples, shape..., dims], or one array per coordinate (repeatable); "
          "optional for grids")
      ->expected(1)
      ->take_all();
  command
      ->add_option(
          "--input-coords", words.input_coords,
          "coordinates of the input if it lies on other points, as --coords; 'box' for a grid of another resolution")
      ->expected(1)
      ->take_all();
  command->add_option("--cells", words.cells,
                      "triangles, quadrilaterals or tetrahedra of a cloud: [cells, corners], or one array per sample");
  command->add_option("--cell-kind", o->import.cell_kind,
                      "line, triangle, quadrilateral, tetrahedron or hexahedron; default by corners and dimensions");
  command
      ->add_option(
          "--time", o->import.time,
          "the output depends on time: its axis (first, last, axis=N), and its step (0.05) or the array of its times "
          "(NAME, FILE:NAME); repeatable")
      ->expected(1)
      ->take_all();
  command->add_option("--initial", o->import.initial, "number of first frames that become input")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--out", o->out, "the dataset file to write")->required();
  command
      ->add_option("--geometry", o->import.geometry,
                   "grid, mesh (curved coordinates) or points; default by the coordinates")
      ->transform(one_of<Geometry>({{"grid", Geometry::grid}, {"mesh", Geometry::mesh}, {"points", Geometry::points}}))
      ->type_name("TEXT");
  command
      ->add_option(
          "--grid-points", o->import.grid_points,
          "where a grid without --coords has its points: nodes (both ends), centres (of cells), left (ends of cells)")
      ->transform(one_of<GridPoints>(
          {{"nodes", GridPoints::nodes}, {"centres", GridPoints::centres}, {"left", GridPoints::left}}))
      ->type_name("TEXT");
  command->add_option("--box", o->import.box, "the domain: lower and upper end of each axis; default the unit box");
  command
      ->add_option("--periodic", o->import.periodic,
                   "periodic axes of a grid or mesh: their numbers from 0, or names (0,1 or x,y)")
      ->delimiter(',');
  command->add_option("--samples", o->import.samples, "axis of samples: first or last")
      ->transform(one_of<SampleAxis>({{"first", SampleAxis::first}, {"last", SampleAxis::last}}))
      ->type_name("TEXT");
  command->add_option("--channels", o->import.channels, "axis of channels in input and output: none, first or last")
      ->transform(one_of<ChannelAxis>(
          {{"none", ChannelAxis::none}, {"first", ChannelAxis::first}, {"last", ChannelAxis::last}}))
      ->type_name("TEXT");
  command->add_option("--shuffle", o->shuffle, "draw the splits at random; --shuffle SEED for another seed than 0")
      ->expected(0, 1);
  command->add_option("--train-count", o->import.train_count, "use only this many training samples, the first ones")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--test-count", o->import.test_count,
                   "number of test samples; without --test the last ones, default a tenth")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--name", o->import.name, "name of the dataset; default that of the file");
  command->add_flag("--force", o->force, "replace an existing file");
  add_part(command, "train", o->import.train.words);
  add_part(command, "validation", o->import.validation.words);
  add_part(command, "test", o->import.test.words);
  const std::string benchmarks = "Public benchmarks";
  command
      ->add_option("--benchmark", o->benchmark.benchmark,
                   fmt::format("public files as published: {}", fmt::join(importable_benchmarks(), ", ")))
      ->group(benchmarks);
  command
      ->add_option("--stride", o->benchmark.stride,
                   "with --benchmark: keep every K-th point per axis; default 5 for darcy, else 1")
      ->group(benchmarks);
  command->add_option("--time-stride", o->benchmark.time_stride, "with --benchmark pdebench: keep every K-th time")
      ->group(benchmarks);
  command->footer(
      "Arrays have one sample per row: [samples, shape...], with --channels and --time one more axis each.\n"
      "Names and units: --input permeability[m2]=a.npy, --output u[m/s],v[m/s]=flow.h5:velocity\n"
      "'lano info FILE' lists the arrays of a file and suggests a command.\n"
      "Example: lano import --input a.npy --output u.npy --out mine.h5\n"
      "Example: lano import --from data.mat --input coeff --output sol --shuffle --out mine.h5\n"
      "Example: lano import --train train.npz --test test.npz --input x --output y --grid-points left --out mine.h5\n"
      "Example: lano import --from d.mat --train-input f_train --train-output u_train --test-input f_test "
      "--test-output "
      "u_test --out mine.h5\n"
      "Example: lano import --from burgers.hdf5 --output tensor --coords x-coordinate --time t-coordinate --initial 1 "
      "--out burgers.h5\n"
      "Example: lano import --from ns.mat --output u --time last --time 1.0 --initial 10 --grid-points left "
      "--periodic x,y --out ns.h5\n"
      "Example: lano import --output clouds/pressure --coords clouds/points --out clouds.h5\n"
      "Benchmarks, from the files their authors publish:\n"
      "  elasticity  Random_UnitCell_XY_10.npy, Random_UnitCell_sigma_10.npy\n"
      "  plasticity  plas_N987_T20.mat\n"
      "  airfoil     NACA_Cylinder_X.npy, NACA_Cylinder_Y.npy, NACA_Cylinder_Q.npy\n"
      "  pipe        Pipe_X.npy, Pipe_Y.npy, Pipe_Q.npy\n"
      "  darcy       piececonst_r421_N1024_smooth1.mat, piececonst_r421_N1024_smooth2.mat\n"
      "  pdebench    one HDF5 file with 'tensor', such as 2D_DarcyFlow_beta1.0_Train.hdf5\n"
      "Example: lano import --benchmark darcy --from downloads --train 1000 --test 200 --out darcy.h5");
  command->callback([o, command] {
    refuse_to_overwrite(o->out, o->force);
    if (command->count("--name") == 0) o->import.name = std::filesystem::path(o->out).stem().string();
    if (command->count("--shuffle") > 0 && o->shuffle.empty()) o->shuffle = {""};
    const std::int64_t samples = o->benchmark.benchmark.empty() ? run_arrays(*o) : run_benchmark(*o);
    print_summary(o->out, samples);
  });
}

}  // namespace lano::cli
