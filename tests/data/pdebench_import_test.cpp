#include "data/pdebench_import.h"

#include "array_files.h"
#include "core/atomic_file.h"
#include "data/dataset.h"
#include "scratch.h"

namespace lano::pdebench_import_test {
namespace {

using test::Index;
using test::mark;

float at(const Index& index) { return static_cast<float>(mark(index)); }
double centre(const Index& i, double cells) { return (static_cast<double>(i[0]) + 0.5) / cells; }

struct Steady {
  test::Scratch scratch;
  BenchmarkImport options;
  Steady() {
    write({10, 4, 6}, {10, 1, 4, 6});
    options.benchmark = "pdebench";
    options.from = {scratch / "2D_DarcyFlow.hdf5"};
    options.validation_share = 0;
  }
  void write(const Shape& nu, const Shape& tensor) {
    test::write_hdf5(scratch / "2D_DarcyFlow.hdf5",
                     {{"nu", nu},
                      {"tensor", tensor},
                      {"x-coordinate", {4}, [](const Index& i) { return centre(i, 4); }},
                      {"y-coordinate", {6}, [](const Index& i) { return centre(i, 6); }}});
  }
};

TEST(PdebenchImport, SteadyFields) {
  Steady files;
  EXPECT_EQ(import_benchmark(files.options, files.scratch / "d.h5"), 10);
  const DatasetReader reader(files.scratch / "d.h5");
  const SetDescription& d = reader.description();
  EXPECT_EQ(d.name, "2D_DarcyFlow");
  EXPECT_EQ(d.geometry, Geometry::grid);
  EXPECT_EQ(d.shape, (Shape{4, 6}));
  EXPECT_TRUE(d.time.empty());
  ASSERT_EQ(d.box.size(), 4u);
  EXPECT_NEAR(d.box[0], 0, 1e-6);
  EXPECT_NEAR(d.box[3], 1, 1e-6);
  EXPECT_EQ(reader.indices(Split::test), (std::vector<std::int64_t>{9}));
  const Samples sample = reader.read(std::vector<std::int64_t>{9});
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 6; ++j) {
      const auto point = static_cast<std::size_t>(6 * i + j);
      EXPECT_EQ(sample.input[point], at({9, i, j}));
      EXPECT_EQ(sample.output[point], at({9, 0, i, j}));
      EXPECT_FLOAT_EQ(sample.coordinates[2 * point], (static_cast<float>(i) + 0.5f) / 4);
      EXPECT_FLOAT_EQ(sample.coordinates[2 * point + 1], (static_cast<float>(j) + 0.5f) / 6);
    }
  }
}

TEST(PdebenchImport, TimesOnALine) {
  for (const std::int64_t entries : {5, 6}) {  // PDEBench writes one time more than frames
    test::Scratch scratch;
    test::write_hdf5(scratch / "1D_Burgers.hdf5",
                     {{"tensor", {7, 5, 8}},
                      {"x-coordinate", {8}, [](const Index& i) { return centre(i, 8); }},
                      {"t-coordinate", {entries}, [](const Index& i) { return 0.25 * mark(i); }}});
    BenchmarkImport options;
    options.benchmark = "pdebench";
    options.from = {scratch / "1D_Burgers.hdf5"};
    options.train_count = 3;
    options.test_count = 2;
    options.stride = 3;
    options.time_stride = 2;
    EXPECT_EQ(import_benchmark(options, scratch / "d.h5"), 5);
    const DatasetReader reader(scratch / "d.h5");
    EXPECT_EQ(reader.description().shape, (Shape{3}));
    EXPECT_EQ(reader.description().time, (std::vector<double>{0, 0.5, 1}));
    const Samples sample = reader.read(std::vector<std::int64_t>{4});  // the last of the file
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(sample.input[static_cast<std::size_t>(i)], at({6, 0, 3 * i}));
      EXPECT_FLOAT_EQ(sample.coordinates[static_cast<std::size_t>(i)], (3 * static_cast<float>(i) + 0.5f) / 8);
      for (std::int64_t t = 0; t < 3; ++t)
        EXPECT_EQ(sample.output[static_cast<std::size_t>(3 * t + i)], at({6, 2 * t, 3 * i}));
    }
  }
}

TEST(PdebenchImport, MistakesAreNamed) {
  Steady files;
  const auto out = files.scratch / "d.h5";
  files.options.train_count = 11;
  EXPECT_ERROR_WITH(import_benchmark(files.options, out), "at most 10");
  files.options.train_count.reset();
  files.write({10, 6, 4}, {10, 1, 4, 6});
  EXPECT_ERROR_WITH(import_benchmark(files.options, out), "shape [10, 4, 6], found [10, 6, 4]");
  files.write({10, 6, 4}, {10, 1, 6, 4});
  EXPECT_ERROR_WITH(import_benchmark(files.options, out), "'x-coordinate': expected shape [6], found [4]");
  test::write_hdf5(files.scratch / "2D_DarcyFlow.hdf5", {{"u", {3, 4}}, {"v", {3, 4}}});
  EXPECT_ERROR_WITH(import_benchmark(files.options, out), "an array 'tensor', found the arrays u, v");
  write_file_atomically(files.scratch / "2D_DarcyFlow.hdf5", std::string_view("text"));
  EXPECT_ERROR_WITH(import_benchmark(files.options, out), "an HDF5 file");
  files.options.from = {files.scratch / "."};
  EXPECT_ERROR_WITH(import_benchmark(files.options, out), "one HDF5 file in --from, found a folder");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace lano::pdebench_import_test
