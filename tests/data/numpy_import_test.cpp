#include "data/numpy_import.h"

#include <cmath>

#include "array_files.h"
#include "data/dataset.h"
#include "data/npy.h"
#include "scratch.h"

namespace lano::numpy_import_test {
namespace {

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

struct Arrays {
  test::Scratch scratch;
  NumpyImport options;
  Arrays() {
    write_npy(scratch / "a.npy", {10, 4, 3}, ramp(120));
    write_npy(scratch / "u.npy", {10, 4, 3}, ramp(120));
    options.input = (scratch / "a.npy").string();
    options.output = (scratch / "u.npy").string();
  }
};

TEST(NumpyImport, GridWithoutCoordinates) {
  Arrays arrays;
  arrays.options.grid_points = GridPoints::left;
  arrays.options.test_count = 2;
  EXPECT_EQ(import_numpy(arrays.options, arrays.scratch / "d.h5"), 10);
  const DatasetReader reader(arrays.scratch / "d.h5");
  EXPECT_EQ(reader.description().shape, (Shape{4, 3}));
  EXPECT_EQ(reader.indices(Split::train).size(), 7u);
  EXPECT_EQ(reader.indices(Split::validation).size(), 1u);
  EXPECT_EQ(reader.indices(Split::test), (std::vector<std::int64_t>{8, 9}));
  const Samples s = reader.read(std::vector<std::int64_t>{9});
  EXPECT_EQ(s.output[0], 108);
  EXPECT_TRUE(s.shared_coordinates);
  EXPECT_FLOAT_EQ(s.coordinates[2 * 5], 0.25f);  // point (1, 2): x = 1/4
  EXPECT_FLOAT_EQ(s.coordinates[2 * 5 + 1], 2.0f / 3);
}

TEST(NumpyImport, WhereGridPointsLie) {
  for (const auto& [points, first, last] :
       {std::tuple(GridPoints::nodes, -1.0f, 1.0f), std::tuple(GridPoints::centres, -0.75f, 0.75f),
        std::tuple(GridPoints::left, -1.0f, 0.5f)}) {
    Arrays arrays;
    arrays.options.grid_points = points;
    arrays.options.box = {-1, 1, 0, 1};
    import_numpy(arrays.options, arrays.scratch / "d.h5");
    const Samples s = DatasetReader(arrays.scratch / "d.h5").read(std::vector<std::int64_t>{0});
    EXPECT_FLOAT_EQ(s.coordinates[0], first);
    EXPECT_FLOAT_EQ(s.coordinates[2 * 9], last);
  }
}

TEST(NumpyImport, ChannelsFirstBecomeLast) {
  Arrays arrays;
  write_npy(arrays.scratch / "a.npy", {5, 2, 4, 3}, ramp(120));
  write_npy(arrays.scratch / "u.npy", {5, 2, 4, 3}, ramp(120));
  arrays.options.channels = ChannelAxis::first;
  import_numpy(arrays.options, arrays.scratch / "d.h5");
  const DatasetReader reader(arrays.scratch / "d.h5");
  EXPECT_EQ(reader.description().input_channels(), 2);
  const Samples s = reader.read(std::vector<std::int64_t>{1});
  EXPECT_EQ(s.input[0], 24);
  EXPECT_EQ(s.input[1], 36);  // second channel of the first point
}

TEST(NumpyImport, PointsWithTheirOwnCoordinates) {
  Arrays arrays;
  write_npy(arrays.scratch / "u.npy", {5, 8}, ramp(40));
  write_npy(arrays.scratch / "x.npy", {5, 8, 2}, ramp(80));
  arrays.options.input.clear();
  arrays.options.coords = (arrays.scratch / "x.npy").string();
  arrays.options.geometry = Geometry::points;
  import_numpy(arrays.options, arrays.scratch / "d.h5");
  const DatasetReader reader(arrays.scratch / "d.h5");
  EXPECT_EQ(reader.description().geometry, Geometry::points);
  EXPECT_EQ(reader.description().input_channels(), 0);
  EXPECT_FALSE(reader.shared_coordinates());
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{2}).coordinates[0], 32);
}

TEST(NumpyImport, TrainAndTestFromArchives) {
  Arrays arrays;
  NumpyImport options;
  options.train_files = {std::filesystem::path(LANO_TEST_FILES) / "pair_train.npz"};
  options.test_files = {std::filesystem::path(LANO_TEST_FILES) / "pair_test.npz"};
  options.input = "x";
  options.output = "y";
  options.validation_share = 0;
  EXPECT_EQ(import_numpy(options, arrays.scratch / "d.h5"), 7);
  const DatasetReader reader(arrays.scratch / "d.h5");
  EXPECT_EQ(reader.indices(Split::train).size(), 5u);
  EXPECT_EQ(reader.indices(Split::test), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{5}).input[0], 1000);
  // Coordinates given once stay shared, also over several archives.
  write_npy(arrays.scratch / "x.npy", {4, 4, 2}, ramp(32));
  options.coords = (arrays.scratch / "x.npy").string();
  import_numpy(options, arrays.scratch / "e.h5");
  EXPECT_TRUE(DatasetReader(arrays.scratch / "e.h5").shared_coordinates());
}

// FILE:KEY in every kind of file gives the same set as the .npy files.
TEST(NumpyImport, ArraysByFileAndName) {
  Arrays arrays;
  const auto of = [](const test::Index& i) { return static_cast<double>((i[0] * 4 + i[1]) * 3 + i[2]); };
  const std::vector<test::MatArray> both{{"a", {10, 4, 3}, of}, {"u", {10, 4, 3}, of}};
  test::write_mat5(arrays.scratch / "c.mat", both, true);
  test::write_mat73(arrays.scratch / "d.mat", both);
  test::write_hdf5(arrays.scratch / "e.h5", both);
  import_numpy(arrays.options, arrays.scratch / "expected.h5");
  const Samples expected = DatasetReader(arrays.scratch / "expected.h5").read(std::vector<std::int64_t>{3, 8});
  for (const char* name : {"c.mat", "d.mat", "e.h5"}) {
    const auto out = arrays.scratch / (std::string("from-") + name + ".h5");
    arrays.options.input = (arrays.scratch / name).string() + ":a";
    arrays.options.output = (arrays.scratch / name).string() + ":u";
    EXPECT_EQ(import_numpy(arrays.options, out), 10);
    const Samples found = DatasetReader(out).read(std::vector<std::int64_t>{3, 8});
    EXPECT_EQ(found.input, expected.input) << name;
    EXPECT_EQ(found.output, expected.output) << name;
    NumpyImport archive;
    archive.train_files = {arrays.scratch / name};
    archive.input = "a";
    archive.output = "u";
    import_numpy(archive, out);
    EXPECT_EQ(DatasetReader(out).read(std::vector<std::int64_t>{3, 8}).output, expected.output) << name;
    archive.output = "w";
    EXPECT_ERROR_WITH(import_numpy(archive, arrays.scratch / "none.h5"), "an array 'w', found the arrays a, u");
  }
  arrays.options.input = (std::filesystem::path(LANO_TEST_FILES) / "pair_train.npz").string() + ":x";
  arrays.options.output = (std::filesystem::path(LANO_TEST_FILES) / "pair_train.npz").string() + ":y";
  EXPECT_EQ(import_numpy(arrays.options, arrays.scratch / "npz.h5"), 5);
  arrays.options.input = "x";
  EXPECT_ERROR_WITH(import_numpy(arrays.options, arrays.scratch / "none.h5"), "FILE:KEY");
  EXPECT_FALSE(std::filesystem::exists(arrays.scratch / "none.h5"));
}

TEST(NumpyImport, MistakesAreNamed) {
  Arrays arrays;
  const auto out = arrays.scratch / "d.h5";
  auto options = arrays.options;
  write_npy(arrays.scratch / "short.npy", {9, 4, 3}, ramp(108));
  options.input = (arrays.scratch / "short.npy").string();
  EXPECT_ERROR_WITH(import_numpy(options, out), "input for 10 samples of shape [4, 3]");
  auto values = ramp(120);
  values[30] = INFINITY;
  write_npy(arrays.scratch / "bad.npy", {10, 4, 3}, values);
  options.input = (arrays.scratch / "bad.npy").string();
  EXPECT_ERROR_WITH(import_numpy(options, out), "inf in sample 2");
  options = arrays.options;
  options.geometry = Geometry::mesh;
  EXPECT_ERROR_WITH(import_numpy(options, out), "--coords");
  options = arrays.options;
  options.box = {0, 1};
  EXPECT_ERROR_WITH(import_numpy(options, out), "--box with 4 numbers");
  options = arrays.options;
  options.test_count = 11;
  EXPECT_ERROR_WITH(import_numpy(options, out), "at most 10 test samples");
  options = arrays.options;
  options.output = "y";
  EXPECT_ERROR_WITH(import_numpy(options, out), "--train or --test");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace lano::numpy_import_test
