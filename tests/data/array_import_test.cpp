#include "data/array_import.h"

#include <cmath>

#include "array_files.h"
#include "data/dataset.h"
#include "data/npy.h"
#include "scratch.h"

namespace lano::array_import_test {
namespace {

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

struct Arrays {
  test::Scratch scratch;
  ArrayImport options;
  Arrays() {
    write_npy(scratch / "a.npy", {10, 4, 3}, ramp(120));
    write_npy(scratch / "u.npy", {10, 4, 3}, ramp(120));
    options.words.input = {(scratch / "a.npy").string()};
    options.words.output = (scratch / "u.npy").string();
  }
};

TEST(ArrayImport, GridWithoutCoordinates) {
  Arrays arrays;
  arrays.options.grid_points = GridPoints::left;
  arrays.options.test_count = 2;
  EXPECT_EQ(import_arrays(arrays.options, arrays.scratch / "d.h5"), 10);
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

TEST(ArrayImport, PeriodicAxes) {
  Arrays arrays;
  arrays.options.grid_points = GridPoints::left;
  const auto flags = [&](std::vector<std::string> words) {
    arrays.options.periodic = std::move(words);
    import_arrays(arrays.options, arrays.scratch / "d.h5");
    return DatasetReader(arrays.scratch / "d.h5").description().periodic;
  };
  EXPECT_EQ(flags({}), std::vector<bool>());
  EXPECT_EQ(flags({"1"}), (std::vector<bool>{false, true}));
  EXPECT_EQ(flags({"x", "1"}), (std::vector<bool>{true, true}));
  EXPECT_ERROR_WITH(flags({"2"}), "axes from 0 to 1");
  EXPECT_ERROR_WITH(flags({"z"}), "axes from 0 to 1");
  arrays.options.grid_points = GridPoints::nodes;
  EXPECT_ERROR_WITH(flags({"0"}), "use --grid-points left or centres");
  // Coordinates with a box: one that ends at the last point is no period.
  std::vector<float> xy;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) xy.insert(xy.end(), {0.25f * static_cast<float>(i), 0.5f * static_cast<float>(j)});
  }
  write_npy(arrays.scratch / "xy.npy", {4, 3, 2}, xy);
  arrays.options.words.coords = {(arrays.scratch / "xy.npy").string()};
  EXPECT_EQ(flags({"0"}), (std::vector<bool>{true, false}));
  arrays.options.box = {0, 1, 0, 1};
  EXPECT_EQ(flags({"0"}), (std::vector<bool>{true, false}));
  EXPECT_ERROR_WITH(flags({"0", "1"}), "give the whole period as --box");
  arrays.options.box.clear();
  arrays.options.geometry = Geometry::mesh;
  EXPECT_EQ(flags({"1"}), (std::vector<bool>{false, true}));
  EXPECT_ERROR_WITH(flags({"y"}), "axes from 0 to 1");  // coordinates of a mesh run along no axis
  write_npy(arrays.scratch / "cloud.npy", {12, 2}, xy);
  write_npy(arrays.scratch / "a.npy", {10, 12}, ramp(120));
  write_npy(arrays.scratch / "u.npy", {10, 12}, ramp(120));
  arrays.options.words.coords = {(arrays.scratch / "cloud.npy").string()};
  arrays.options.geometry = Geometry::points;
  EXPECT_ERROR_WITH(flags({"0"}), "a grid or a mesh");
}

TEST(ArrayImport, WhereGridPointsLie) {
  for (const auto& [points, first, last] :
       {std::tuple(GridPoints::nodes, -1.0f, 1.0f), std::tuple(GridPoints::centres, -0.75f, 0.75f),
        std::tuple(GridPoints::left, -1.0f, 0.5f)}) {
    Arrays arrays;
    arrays.options.grid_points = points;
    arrays.options.box = {-1, 1, 0, 1};
    import_arrays(arrays.options, arrays.scratch / "d.h5");
    const Samples s = DatasetReader(arrays.scratch / "d.h5").read(std::vector<std::int64_t>{0});
    EXPECT_FLOAT_EQ(s.coordinates[0], first);
    EXPECT_FLOAT_EQ(s.coordinates[2 * 9], last);
  }
}

TEST(ArrayImport, ChannelsFirstBecomeLast) {
  Arrays arrays;
  write_npy(arrays.scratch / "a.npy", {5, 2, 4, 3}, ramp(120));
  write_npy(arrays.scratch / "u.npy", {5, 2, 4, 3}, ramp(120));
  arrays.options.channels = ChannelAxis::first;
  import_arrays(arrays.options, arrays.scratch / "d.h5");
  const DatasetReader reader(arrays.scratch / "d.h5");
  EXPECT_EQ(reader.description().input_channels(), 2);
  const Samples s = reader.read(std::vector<std::int64_t>{1});
  EXPECT_EQ(s.input[0], 24);
  EXPECT_EQ(s.input[1], 36);  // second channel of the first point
}

TEST(ArrayImport, PointsWithTheirOwnCoordinates) {
  Arrays arrays;
  write_npy(arrays.scratch / "u.npy", {5, 8}, ramp(40));
  write_npy(arrays.scratch / "x.npy", {5, 8, 2}, ramp(80));
  arrays.options.words.input.clear();
  arrays.options.words.coords = {(arrays.scratch / "x.npy").string()};
  arrays.options.geometry = Geometry::points;
  import_arrays(arrays.options, arrays.scratch / "d.h5");
  const DatasetReader reader(arrays.scratch / "d.h5");
  EXPECT_EQ(reader.description().geometry, Geometry::points);
  EXPECT_EQ(reader.description().input_channels(), 0);
  EXPECT_FALSE(reader.shared_coordinates());
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{2}).coordinates[0], 32);
}

TEST(ArrayImport, TrainAndTestFromArchives) {
  Arrays arrays;
  ArrayImport options;
  options.train.files = {std::filesystem::path(LANO_TEST_FILES) / "pair_train.npz"};
  options.test.files = {std::filesystem::path(LANO_TEST_FILES) / "pair_test.npz"};
  options.words.input = {"x"};
  options.words.output = "y";
  options.validation_share = 0;
  EXPECT_EQ(import_arrays(options, arrays.scratch / "d.h5"), 7);
  const DatasetReader reader(arrays.scratch / "d.h5");
  EXPECT_EQ(reader.indices(Split::train).size(), 5u);
  EXPECT_EQ(reader.indices(Split::test), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{5}).input[0], 1000);
  // Coordinates given once stay shared, also over several archives.
  write_npy(arrays.scratch / "x.npy", {4, 4, 2}, ramp(32));
  options.words.coords = {(arrays.scratch / "x.npy").string()};
  import_arrays(options, arrays.scratch / "e.h5");
  EXPECT_TRUE(DatasetReader(arrays.scratch / "e.h5").shared_coordinates());
}

// FILE:KEY in every kind of file gives the same dataset as the .npy files.
TEST(ArrayImport, ArraysByFileAndName) {
  Arrays arrays;
  const auto of = [](const test::Index& i) { return static_cast<double>((i[0] * 4 + i[1]) * 3 + i[2]); };
  const std::vector<test::MatArray> both{{"a", {10, 4, 3}, of}, {"u", {10, 4, 3}, of}};
  test::write_mat5(arrays.scratch / "c.mat", both, true);
  test::write_mat73(arrays.scratch / "d.mat", both);
  test::write_hdf5(arrays.scratch / "e.h5", both);
  import_arrays(arrays.options, arrays.scratch / "expected.h5");
  const Samples expected = DatasetReader(arrays.scratch / "expected.h5").read(std::vector<std::int64_t>{3, 8});
  for (const char* name : {"c.mat", "d.mat", "e.h5"}) {
    const auto out = arrays.scratch / (std::string("from-") + name + ".h5");
    arrays.options.words.input = {(arrays.scratch / name).string() + ":a"};
    arrays.options.words.output = (arrays.scratch / name).string() + ":u";
    EXPECT_EQ(import_arrays(arrays.options, out), 10);
    const Samples found = DatasetReader(out).read(std::vector<std::int64_t>{3, 8});
    EXPECT_EQ(found.input, expected.input) << name;
    EXPECT_EQ(found.output, expected.output) << name;
    ArrayImport archive;
    archive.train.files = {arrays.scratch / name};
    archive.words.input = {"a"};
    archive.words.output = "u";
    import_arrays(archive, out);
    EXPECT_EQ(DatasetReader(out).read(std::vector<std::int64_t>{3, 8}).output, expected.output) << name;
    archive.words.output = "w";
    EXPECT_ERROR_WITH(import_arrays(archive, arrays.scratch / "none.h5"), "an array 'w', found the arrays a, u");
  }
  arrays.options.words.input = {(std::filesystem::path(LANO_TEST_FILES) / "pair_train.npz").string() + ":x"};
  arrays.options.words.output = (std::filesystem::path(LANO_TEST_FILES) / "pair_train.npz").string() + ":y";
  EXPECT_EQ(import_arrays(arrays.options, arrays.scratch / "npz.h5"), 5);
  arrays.options.words.input = {"x"};
  EXPECT_ERROR_WITH(import_arrays(arrays.options, arrays.scratch / "none.h5"), "FILE:NAME");
  EXPECT_FALSE(std::filesystem::exists(arrays.scratch / "none.h5"));
}

TEST(ArrayImport, MistakesAreNamed) {
  Arrays arrays;
  const auto out = arrays.scratch / "d.h5";
  auto options = arrays.options;
  write_npy(arrays.scratch / "short.npy", {9, 4, 3}, ramp(108));
  options.words.input = {(arrays.scratch / "short.npy").string()};
  EXPECT_ERROR_WITH(import_arrays(options, out), "input for 10 samples of shape [4, 3]");
  auto values = ramp(120);
  values[30] = INFINITY;
  write_npy(arrays.scratch / "bad.npy", {10, 4, 3}, values);
  options.words.input = {(arrays.scratch / "bad.npy").string()};
  EXPECT_ERROR_WITH(import_arrays(options, out), "inf in sample 2");
  options = arrays.options;
  options.geometry = Geometry::mesh;
  EXPECT_ERROR_WITH(import_arrays(options, out), "--coords");
  options = arrays.options;
  options.box = {0, 1};
  EXPECT_ERROR_WITH(import_arrays(options, out), "--box with 4 numbers");
  options = arrays.options;
  options.test_count = 11;
  EXPECT_ERROR_WITH(import_arrays(options, out), "at most 10 test samples");
  options = arrays.options;
  options.words.output = "y";
  EXPECT_ERROR_WITH(import_arrays(options, out), "--train or --test");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace lano::array_import_test
