#include <fmt/format.h>

#include "command.h"
#include "data/numpy_import.h"
#include "edge.h"

namespace lano::cli {
namespace {

struct Options {
  NumpyImport import;
  std::string out;
  bool force = false;
};

}  // namespace

void add_import(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("import", "make a dataset file from your own NumPy arrays");
  command->add_option("--train", o->import.train_files, ".npz files with training samples");
  command->add_option("--test", o->import.test_files, ".npz files with test samples");
  command->add_option("--input", o->import.input, "input field: an array's name in the .npz, or a .npy file");
  command->add_option("--output", o->import.output, "output field: an array's name in the .npz, or a .npy file")->required();
  command->add_option("--coords", o->import.coords, "coordinates [shape..., dims] or [samples, shape..., dims]; grids may do without");
  command->add_option("--out", o->out, "the dataset file to write")->required();
  command->add_option("--geometry", o->import.geometry, "grid, mesh (curved coordinates) or points")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Geometry>{{"grid", Geometry::grid}, {"mesh", Geometry::mesh}, {"points", Geometry::points}}));
  command->add_option("--grid-points", o->import.grid_points,
                      "where a grid without --coords has its points: nodes (both ends), centres (of cells), left (ends of cells)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, GridPoints>{
          {"nodes", GridPoints::nodes}, {"centres", GridPoints::centres}, {"left", GridPoints::left}}));
  command->add_option("--box", o->import.box, "the domain: lower and upper end of each axis; default the unit box");
  command->add_option("--channels", o->import.channels, "axis of channels in input and output: none, first or last")
      ->transform(CLI::CheckedTransformer(std::map<std::string, ChannelAxis>{
          {"none", ChannelAxis::none}, {"first", ChannelAxis::first}, {"last", ChannelAxis::last}}));
  command->add_option("--train-count", o->import.train_count, "use the first so many training samples")->check(CLI::NonNegativeNumber);
  command->add_option("--test-count", o->import.test_count, "so many test samples; without --test the last ones, default a tenth")->check(CLI::NonNegativeNumber);
  command->add_option("--validation", o->import.validation_share, "share of the training samples kept for validation")->capture_default_str();
  command->add_option("--name", o->import.name, "name of the set")->capture_default_str();
  command->add_flag("--force", o->force, "replace an existing file");
  command->footer(
      "Arrays have one sample a row: [samples, shape...], with --channels one more axis.\n"
      "Example: lano import --input a.npy --output u.npy --out mine.h5\n"
      "Example: lano import --train train.npz --test test.npz --input x --output y --grid-points left --out mine.h5");
  command->callback([o] {
    refuse_to_overwrite(o->out, o->force);
    const std::int64_t samples = import_numpy(o->import, o->out);
    fmt::print("{}: {} samples\n", o->out, samples);
  });
}

}  // namespace lano::cli
