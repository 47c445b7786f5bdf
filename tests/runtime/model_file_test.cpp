#include "runtime/model_file.h"

#include <cmath>

#include "core/atomic_file.h"
#include "scratch.h"

namespace lano::model_file_test {
namespace {

ModelFile small_model() {
  ModelFile model;
  model.architecture = {{"name", "lano"}, {"width", 8}};
  model.set.name = "darcy";
  model.set.shape = {2, 2};
  model.set.coordinates = {{"x", "1"}, {"y", "1"}};
  model.set.input = {{"a", "1"}};
  model.set.output = {{"u", "Pa"}};
  model.coordinates = {0, 0, 0, 1, 1, 0, 1, 1};
  model.normaliser = {ChannelMap::identity(2), ChannelMap({7.5}, {4.5}), ChannelMap({1e-3}, {1.0 / 3})};
  model.provenance = {{"seed", 3}};
  model.weights["w"] = {{2, 3}, {1, 2, 3, 4, 5, 6}};
  return model;
}

TEST(ModelFile, ReadsWhatItWrites) {
  test::Scratch scratch;
  write_model_file(scratch / "m.safetensors", small_model());
  const ModelFile read = read_model_file(scratch / "m.safetensors");
  EXPECT_EQ(read.architecture, small_model().architecture);
  EXPECT_EQ(read.set.output[0].unit, "Pa");
  EXPECT_EQ(read.coordinates, small_model().coordinates);
  EXPECT_EQ(read.normaliser.output.scale(), small_model().normaliser.output.scale());
  EXPECT_EQ(read.weights.at("w").values, small_model().weights.at("w").values);
  EXPECT_EQ(read.parameter_count(), 6);  // coordinates are no parameters
}

TEST(ModelFile, TheSameModelGivesTheSameBytes) {
  test::Scratch scratch;
  write_model_file(scratch / "a.safetensors", small_model());
  write_model_file(scratch / "b.safetensors", read_model_file(scratch / "a.safetensors"));
  EXPECT_EQ(read_file(scratch / "a.safetensors", "r"), read_file(scratch / "b.safetensors", "r"));
}

TEST(ModelFile, ForeignAndDamagedFilesAreRefused) {
  test::Scratch scratch;
  TensorFile foreign;
  foreign.tensors["w"] = {{1}, {1}};
  write_safetensors(scratch / "foreign.safetensors", foreign);
  EXPECT_ERROR_WITH(read_model_file(scratch / "foreign.safetensors"), "metadata 'format'");
  auto model = small_model();
  model.weights["w"].values[2] = NAN;
  write_model_file(scratch / "nan.safetensors", model);
  EXPECT_ERROR_WITH(read_model_file(scratch / "nan.safetensors"), "finite weights");
  model = small_model();
  model.normaliser.output = ChannelMap::identity(2);
  write_model_file(scratch / "map.safetensors", model);
  EXPECT_ERROR_WITH(read_model_file(scratch / "map.safetensors"), "the normaliser has other channels than the fields");
  model = small_model();
  model.coordinates.resize(1000, 0.5f);  // more than the grid has points
  TensorFile long_coordinates;
  write_model_file(scratch / "good.safetensors", small_model());
  long_coordinates = read_safetensors(scratch / "good.safetensors");
  long_coordinates.tensors["set.coordinates"] = {{500, 2}, model.coordinates};
  write_safetensors(scratch / "coordinates.safetensors", long_coordinates);
  EXPECT_ERROR_WITH(read_model_file(scratch / "coordinates.safetensors"), "coordinates of shape [4, 2]");
  model = small_model();
  model.set.shape = {1 << 30, 1 << 30};
  model.coordinates.clear();
  write_model_file(scratch / "shape.safetensors", model);
  EXPECT_ERROR_WITH(read_model_file(scratch / "shape.safetensors"), "fit in memory");
  TensorFile newer = read_safetensors(scratch / "nan.safetensors");
  newer.metadata["format_version"] = "99";
  write_safetensors(scratch / "newer.safetensors", newer);
  EXPECT_ERROR_WITH(read_model_file(scratch / "newer.safetensors"), "use a newer lano");
}

TEST(ModelFile, OfARunThatHasNoneNamesTheRun) {
  const test::Scratch scratch;
  const std::filesystem::path run = scratch / "run";
  make_folder(run);
  EXPECT_ERROR_WITH(read_model_file(run / "model.safetensors"), "nothing at that path");
  write_file_atomically(run / "config.toml", "");
  EXPECT_ERROR_WITH(
      read_model_file(run / "model.safetensors"),
      "the run is not finished and has no model yet; if it was stopped, resume it with 'lano train --resume " +
          run.string() + "'");
  EXPECT_ERROR_WITH(read_model_file(run), "the run is not finished");
  write_file_atomically(run / "evaluation.json", "");
  EXPECT_ERROR_WITH(read_model_file(run / "model.safetensors"), "the run is finished, but its model file is gone");
  write_file_atomically(run / "model.safetensors", "");
  EXPECT_ERROR_WITH(read_model_file(run), "the folder of a run; name '" + (run / "model.safetensors").string());
}

}  // namespace
}  // namespace lano::model_file_test
