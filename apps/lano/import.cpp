#include <fmt/format.h>

#include <charconv>

#include "command.h"
#include "core/error.h"
#include "data/benchmark_import.h"
#include "data/numpy_import.h"
#include "edge.h"

namespace lano::cli {
namespace {

struct ImportOptions {
  NumpyImport import;
  BenchmarkImport benchmark;
  std::vector<std::string> train, test;  // files, or with --benchmark a number of samples each
  std::vector<std::string> from;
  std::string out;
  bool force = false;
};

// --train or --test of a benchmark: a number of samples, which --train-count and --test-count may also give.
std::optional<std::int64_t> sample_count(const char* option, const std::vector<std::string>& words,
                                         const std::optional<std::int64_t>& counted) {
  if (words.empty()) return counted;
  std::int64_t count = -1;
  const std::string& text = words.front();
  const auto result = std::from_chars(text.data(), text.data() + text.size(), count);
  if (words.size() != 1 || result.ec != std::errc() || result.ptr != text.data() + text.size() || count < 0) {
    fail_usage("importing a benchmark", fmt::format("{} with a number of samples", option),
               fmt::format("'{}'", fmt::join(words, " ")), "files go to --from");
  }
  return count;
}

std::int64_t run_benchmark(const ImportOptions& o) {
  if (!o.import.output.empty() || !o.import.input.empty() || !o.import.coords.empty()) {
    fail_usage("importing a benchmark", "--benchmark alone: it knows its arrays",
               "--input, --output or --coords as well");
  }
  BenchmarkImport import = o.benchmark;
  import.from.assign(o.from.begin(), o.from.end());
  import.train_count = sample_count("--train", o.train, o.import.train_count);
  import.test_count = sample_count("--test", o.test, o.import.test_count);
  import.validation_share = o.import.validation_share;
  return import_benchmark(import, o.out);
}

std::int64_t run_arrays(const ImportOptions& o) {
  if (!o.from.empty() || o.benchmark.stride || o.benchmark.time_stride) {
    fail_usage("importing arrays", "--benchmark with --from, --stride and --time-stride", "none",
               fmt::format("the benchmarks are {}", fmt::join(importable_benchmarks(), ", ")));
  }
  NumpyImport import = o.import;
  import.train_files.assign(o.train.begin(), o.train.end());
  import.test_files.assign(o.test.begin(), o.test.end());
  return import_numpy(import, o.out);
}

}  // namespace

void add_import(CLI::App& app) {
  auto o = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand(
      "import", "make a dataset file from your own arrays (NumPy, MATLAB, HDF5) or public benchmark files");
  command->add_option("--benchmark", o->benchmark.benchmark,
                      fmt::format("public files as published: {}", fmt::join(importable_benchmarks(), ", ")));
  command->add_option("--from", o->from, "with --benchmark: the folder with the published files, or the files");
  command->add_option("--stride", o->benchmark.stride,
                      "with --benchmark: keep every so many-th point an axis; default 5 for darcy, else 1");
  command->add_option("--time-stride", o->benchmark.time_stride,
                      "with --benchmark pdebench: keep every so many-th time");
  command->add_option("--train", o->train,
                      ".npz, .mat or .h5 files with training samples; with --benchmark: how many samples");
  command->add_option("--test", o->test,
                      ".npz, .mat or .h5 files with test samples; with --benchmark: how many samples");
  command->add_option("--input", o->import.input,
                      "input field: an array's name in those files, a .npy file, or FILE:NAME");
  command->add_option("--output", o->import.output,
                      "output field: an array's name in those files, a .npy file, or FILE:NAME");
  command->add_option("--coords", o->import.coords,
                      "coordinates [shape..., dims] or [samples, shape..., dims]; grids may do without");
  command->add_option("--out", o->out, "the dataset file to write")->required();
  command->add_option("--geometry", o->import.geometry, "grid, mesh (curved coordinates) or points")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Geometry>{
          {"grid", Geometry::grid}, {"mesh", Geometry::mesh}, {"points", Geometry::points}}));
  command
      ->add_option(
          "--grid-points", o->import.grid_points,
          "where a grid without --coords has its points: nodes (both ends), centres (of cells), left (ends of cells)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, GridPoints>{
          {"nodes", GridPoints::nodes}, {"centres", GridPoints::centres}, {"left", GridPoints::left}}));
  command->add_option("--box", o->import.box, "the domain: lower and upper end of each axis; default the unit box");
  command->add_option("--channels", o->import.channels, "axis of channels in input and output: none, first or last")
      ->transform(CLI::CheckedTransformer(std::map<std::string, ChannelAxis>{
          {"none", ChannelAxis::none}, {"first", ChannelAxis::first}, {"last", ChannelAxis::last}}));
  command->add_option("--train-count", o->import.train_count, "use the first so many training samples")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--test-count", o->import.test_count,
                   "so many test samples; without --test the last ones, default a tenth")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--validation", o->import.validation_share, "share of the training samples kept for validation")
      ->capture_default_str();
  command->add_option("--name", o->import.name, "name of the set")->capture_default_str();
  command->add_flag("--force", o->force, "replace an existing file");
  command->footer(
      "Arrays have one sample a row: [samples, shape...], with --channels one more axis.\n"
      "Example: lano import --input a.npy --output u.npy --out mine.h5\n"
      "Example: lano import --train train.npz --test test.npz --input x --output y --grid-points left --out mine.h5\n"
      "Example: lano import --input data.mat:coeff --output data.mat:sol --out mine.h5\n"
      "Benchmarks, from the files their authors publish:\n"
      "  elasticity  Random_UnitCell_XY_10.npy, Random_UnitCell_sigma_10.npy\n"
      "  plasticity  plas_N987_T20.mat\n"
      "  airfoil     NACA_Cylinder_X.npy, NACA_Cylinder_Y.npy, NACA_Cylinder_Q.npy\n"
      "  pipe        Pipe_X.npy, Pipe_Y.npy, Pipe_Q.npy\n"
      "  darcy       piececonst_r421_N1024_smooth1.mat, piececonst_r421_N1024_smooth2.mat\n"
      "  pdebench    one HDF5 file with 'tensor', such as 2D_DarcyFlow_beta1.0_Train.hdf5\n"
      "Example: lano import --benchmark darcy --from downloads --train 1000 --test 200 --out darcy.h5");
  command->callback([o] {
    refuse_to_overwrite(o->out, o->force);
    const std::int64_t samples = o->benchmark.benchmark.empty() ? run_arrays(*o) : run_benchmark(*o);
    fmt::print("{}: {} samples\n", o->out, samples);
  });
}

}  // namespace lano::cli
