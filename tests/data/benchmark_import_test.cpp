#include "data/benchmark_import.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "array_files.h"
#include "core/atomic_file.h"
#include "data/dataset.h"
#include "scratch.h"

namespace lano::benchmark_import_test {
namespace {

using test::Index;
using test::mark;

float at(const Index& index) { return static_cast<float>(mark(index)); }

// The files of one benchmark in a folder, and the import of a few of their samples.
struct Files {
  test::Scratch scratch;
  BenchmarkImport options;
  explicit Files(const std::string& benchmark) {
    options.benchmark = benchmark;
    options.from = {scratch / "."};
    options.train_count = 3;
    options.test_count = 2;
    options.validation_share = 0;
  }
  std::filesystem::path out() const { return scratch / "out.h5"; }
  std::string error() const {
    const std::string message = test::error_of([&] { import_benchmark(options, out()); });
    EXPECT_FALSE(std::filesystem::exists(out())) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  DatasetReader import(std::int64_t samples = 5) const {
    EXPECT_EQ(import_benchmark(options, out()), samples);
    return DatasetReader(out());
  }
};

#define EXPECT_ERROR(files, part) EXPECT_NE((files).error().find(part), std::string::npos) << "got: " << (files).error()

std::vector<std::string> sources(const DatasetReader& reader) {
  return nlohmann::json::parse(reader.description().generator).at("sources").get<std::vector<std::string>>();
}

struct Elasticity : Files {
  Elasticity() : Files("elasticity") {
    test::write_npy_of(scratch / "Random_UnitCell_XY_10.npy", {6, 2, 9});
    test::write_npy_of(scratch / "Random_UnitCell_sigma_10.npy", {6, 9});
  }
};

TEST(BenchmarkImport, ElasticityTakesTheFirstAndTheLastSamples) {
  const Elasticity files;
  const DatasetReader reader = files.import();
  const SetDescription& d = reader.description();
  EXPECT_EQ(d.name, "elasticity");
  EXPECT_EQ(d.geometry, Geometry::points);
  EXPECT_EQ(d.shape, (Shape{6}));
  EXPECT_EQ(d.output.front().name, "stress");
  EXPECT_TRUE(d.input.empty());
  EXPECT_EQ(sources(reader).size(), 2u);
  EXPECT_EQ(reader.indices(Split::test), (std::vector<std::int64_t>{3, 4}));
  const std::int64_t rows[] = {0, 1, 2, 7, 8};  // of nine in the file
  for (std::int64_t s = 0; s < 5; ++s) {
    const Samples sample = reader.read(std::vector<std::int64_t>{s});
    for (std::int64_t p = 0; p < 6; ++p) {
      const auto point = static_cast<std::size_t>(p);
      EXPECT_EQ(sample.coordinates[2 * point], at({p, 0, rows[s]}));
      EXPECT_EQ(sample.coordinates[2 * point + 1], at({p, 1, rows[s]}));
      EXPECT_EQ(sample.output[point], at({p, rows[s]}));
    }
  }
}

TEST(BenchmarkImport, ElasticityMistakes) {
  Elasticity files;
  files.options.train_count.reset();
  EXPECT_ERROR(files, "at most 9 train and test samples");
  files.options.train_count = 3;
  files.options.stride = 2;
  EXPECT_ERROR(files, "--stride does not apply");
  files.options.stride.reset();
  test::write_npy_of(files.scratch / "Random_UnitCell_sigma_10.npy", {6, 8});
  EXPECT_ERROR(files, "shape [6, 9], found [6, 8]");
  test::write_npy_of(files.scratch / "Random_UnitCell_XY_10.npy", {9, 6, 2});
  EXPECT_ERROR(files, "shape [any, 2, any], found [9, 6, 2]");
  test::write_npy_of(files.scratch / "Random_UnitCell_XY_10.npy", {6, 2, 9});
  const std::string whole = read_file(files.scratch / "Random_UnitCell_XY_10.npy", "reading");
  write_file_atomically(files.scratch / "Random_UnitCell_XY_10.npy", whole.substr(0, whole.size() - 40));
  EXPECT_ERROR(files, "432 bytes of data for shape [6, 2, 9], found 392");
  std::filesystem::remove(files.scratch / "Random_UnitCell_XY_10.npy");
  EXPECT_ERROR(files, "'Random_UnitCell_XY_10.npy' is not in --from '");
  files.options.from = {files.scratch / "nowhere"};
  EXPECT_ERROR(files, "there is nothing at '");
  files.options.benchmark = "elastisity";
  EXPECT_ERROR(files, "did you mean 'elasticity'?");
}

TEST(BenchmarkImport, ValuesThatAreNotFiniteAreRefused) {
  const Elasticity files;
  test::write_npy_of(files.scratch / "Random_UnitCell_sigma_10.npy", {6, 9},
                     [](const Index& i) { return i[1] == 8 && i[0] == 2 ? NAN : mark(i); });
  EXPECT_ERROR(files, "nan in sample 8 of the file");
}

struct Plasticity : Files {
  explicit Plasticity(bool compressed, std::int64_t frames = 3) : Files("plasticity") {
    // Values below 2^24, so that float32 holds them: sample, i, j, frame, channel.
    test::write_mat5(scratch / "plas_N987_T20.mat", {{"input", {6, 101}}, {"output", {6, 101, 31, frames, 4}, value}},
                     compressed);
  }
  static double value(const Index& i) {
    return static_cast<double>(((((i[0] * 101) + i[1]) * 31 + i[2]) * 20 + i[3]) * 4 + i[4]);
  }
};

TEST(BenchmarkImport, PlasticityStoresTheDieAlongI) {
  for (const bool compressed : {false, true}) {
    const Plasticity files(compressed);
    const DatasetReader reader = files.import();
    const SetDescription& d = reader.description();
    EXPECT_EQ(d.geometry, Geometry::mesh);
    EXPECT_EQ(d.shape, (Shape{101, 31}));
    EXPECT_EQ(d.time.size(), 3u);
    EXPECT_EQ(d.input.front().name, "die");
    ASSERT_EQ(d.output_channels(), 4);
    EXPECT_EQ(d.output[3].name, "u_y");
    EXPECT_TRUE(reader.shared_coordinates());
    const std::int64_t rows[] = {0, 1, 2, 4, 5};
    for (std::int64_t s = 0; s < 5; ++s) {
      const Samples sample = reader.read(std::vector<std::int64_t>{s});
      for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {100, 30}, {17, 5}, {99, 1}}) {
        const auto point = static_cast<std::size_t>(i * 31 + j);
        EXPECT_NEAR(sample.coordinates[2 * point], 0.35 - 0.5 * static_cast<double>(i), 1e-5);
        EXPECT_NEAR(sample.coordinates[2 * point + 1], 14.9 - 0.5 * static_cast<double>(j), 1e-6);
        EXPECT_EQ(sample.input[point], at({rows[s], 100 - i}));
        for (std::int64_t t = 0; t < 3; ++t) {
          for (std::int64_t c = 0; c < 4; ++c) {
            EXPECT_EQ(sample.output[(static_cast<std::size_t>(t) * 101 * 31 + point) * 4 + static_cast<std::size_t>(c)],
                      static_cast<float>(Plasticity::value({rows[s], i, j, t, c})));
          }
        }
      }
    }
  }
}

TEST(BenchmarkImport, PlasticityMistakes) {
  Plasticity files(true, 1);
  const std::string whole = read_file(files.scratch / "plas_N987_T20.mat", "reading");
  write_file_atomically(files.scratch / "plas_N987_T20.mat", whole.substr(0, whole.size() / 2));
  EXPECT_ERROR(files, "a truncated or damaged one");
  test::write_mat5(files.scratch / "plas_N987_T20.mat", {{"input", {6, 101}}, {"outputs", {6, 101}}}, true);
  EXPECT_ERROR(files, "did you mean 'outputs'?");
  test::write_mat5(files.scratch / "plas_N987_T20.mat", {{"input", {6, 101}}, {"output", {6, 31, 101, 2, 4}}}, true);
  EXPECT_ERROR(files, "shape [any, 101, 31, any, 4], found [6, 31, 101, 2, 4]");
}

struct Mesh : Files {
  Mesh(const std::string& benchmark, const std::string& stem, std::int64_t fields) : Files(benchmark) {
    std::filesystem::create_directory(scratch / "below");  // files in subfolders are found
    test::write_npy_of(scratch / ("below/" + stem + "_X.npy"), {8, 7, 5});
    test::write_npy_of(scratch / ("below/" + stem + "_Y.npy"), {8, 7, 5}, [](const Index& i) { return 0.5 - mark(i); });
    test::write_npy_of(scratch / ("below/" + stem + "_Q.npy"), {8, fields, 7, 5});
  }
};

TEST(BenchmarkImport, AirfoilAndPipeChooseTheirChannel) {
  for (const auto& [benchmark, stem, fields, chosen, name] :
       {std::tuple("airfoil", "NACA_Cylinder", 5, 4, "mach"), std::tuple("pipe", "Pipe", 3, 0, "u")}) {
    for (const std::int64_t stride : {1, 2}) {
      Mesh files(benchmark, stem, fields);
      files.options.stride = stride;
      const DatasetReader reader = files.import();
      const SetDescription& d = reader.description();
      const std::int64_t ni = 6 / stride + 1, nj = 4 / stride + 1;
      EXPECT_EQ(d.name, benchmark);
      EXPECT_EQ(d.geometry, Geometry::mesh);
      EXPECT_EQ(d.shape, (Shape{ni, nj}));
      EXPECT_EQ(d.output.front().name, name);
      ASSERT_EQ(d.kept_channels(), fields - 1);
      EXPECT_EQ(d.kept.back().name, "p");
      EXPECT_EQ(d.box.front(), 0);
      EXPECT_EQ(d.box[1], mark({4, 6, 4}));
      for (std::int64_t s = 0; s < 5; ++s) {  // a short file: the test samples follow the training samples
        const Samples sample = reader.read(std::vector<std::int64_t>{s});
        const std::vector<float> kept = reader.read_kept(s);
        for (std::int64_t i = 0; i < ni; ++i) {
          for (std::int64_t j = 0; j < nj; ++j) {
            const auto point = static_cast<std::size_t>(i * nj + j);
            EXPECT_EQ(sample.coordinates[2 * point], at({s, i * stride, j * stride}));
            EXPECT_EQ(sample.coordinates[2 * point + 1], 0.5f - at({s, i * stride, j * stride}));
            EXPECT_EQ(sample.output[point], at({s, chosen, i * stride, j * stride}));
            std::size_t k = 0;
            for (std::int64_t f = 0; f < fields; ++f) {
              if (f == chosen) continue;
              EXPECT_EQ(kept[point * static_cast<std::size_t>(fields - 1) + k++], at({s, f, i * stride, j * stride}));
            }
          }
        }
      }
    }
  }
}

TEST(BenchmarkImport, FewerTrainingSamplesKeepThePublishedTestSamples) {
  Mesh files("pipe", "Pipe", 3);
  for (const char* name : {"below/Pipe_X.npy", "below/Pipe_Y.npy"})
    test::write_npy_of(files.scratch / name, {1003, 2, 3});
  test::write_npy_of(files.scratch / "below/Pipe_Q.npy", {1003, 3, 2, 3});
  const DatasetReader reader = files.import();
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{3}).output[4], at({1000, 0, 1, 1}));
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{2}).output[4], at({2, 0, 1, 1}));
}

TEST(BenchmarkImport, MeshMistakes) {
  Mesh files("airfoil", "NACA_Cylinder", 4);
  EXPECT_ERROR(files, "shape [8, 5, 7, 5], found [8, 4, 7, 5]");
  std::filesystem::create_directory(files.scratch / "other");
  std::filesystem::copy(files.scratch / "below/NACA_Cylinder_X.npy", files.scratch / "other");
  EXPECT_ERROR(files, "one file 'NACA_Cylinder_X.npy'");
  files.options.from = {files.scratch / "below/NACA_Cylinder_X.npy", files.scratch / "below/NACA_Cylinder_Y.npy"};
  EXPECT_ERROR(files, "'NACA_Cylinder_Q.npy' is not in --from '");
}

enum class Mat { plain, compressed, hdf5 };

struct Darcy : Files {
  explicit Darcy(Mat kind) : Files("darcy") {
    for (const int f : {1, 2}) {
      const auto path = scratch / ("piececonst_r421_N1024_smooth" + std::to_string(f) + ".mat");
      const auto solution = [f](const Index& i) { return -mark(i) - 0.25 * f; };
      const std::vector<test::MatArray> arrays{
          {"Kcoeff", {4, 2}}, {"coeff", {4, 12, 12}}, {"sol", {4, 12, 12}, solution}};
      if (kind == Mat::hdf5)
        test::write_mat73(path, arrays);
      else
        test::write_mat5(path, arrays, kind == Mat::compressed);
    }
  }
};

TEST(BenchmarkImport, DarcyKeepsEveryFifthCell) {
  for (const Mat kind : {Mat::plain, Mat::compressed, Mat::hdf5}) {
    Darcy files(kind);
    const DatasetReader reader = files.import();
    const SetDescription& d = reader.description();
    EXPECT_EQ(d.geometry, Geometry::grid);
    EXPECT_EQ(d.shape, (Shape{3, 3}));  // cells 0, 5, 10
    EXPECT_EQ(d.input.front().name, "coefficient");
    EXPECT_EQ(d.output.front().name, "pressure");
    EXPECT_EQ(sources(reader).size(), 2u);
    for (std::int64_t s = 0; s < 5; ++s) {
      const Samples sample = reader.read(std::vector<std::int64_t>{s});
      const std::int64_t row = s < 3 ? s : s - 3;
      for (std::int64_t i = 0; i < 3; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) {
          const auto point = static_cast<std::size_t>(3 * i + j);
          EXPECT_EQ(sample.input[point], at({row, 5 * i, 5 * j}));
          EXPECT_EQ(sample.output[point], -at({row, 5 * i, 5 * j}) - (s < 3 ? 0.25f : 0.5f));
          EXPECT_FLOAT_EQ(sample.coordinates[2 * point], (5 * static_cast<float>(i) + 0.5f) / 12);
          EXPECT_FLOAT_EQ(sample.coordinates[2 * point + 1], (5 * static_cast<float>(j) + 0.5f) / 12);
        }
      }
    }
    files.options.stride = 1;
    files.options.test_count = 0;  // then the second file is not needed
    std::filesystem::remove(files.scratch / "piececonst_r421_N1024_smooth2.mat");
    EXPECT_EQ(files.import(3).description().shape, (Shape{12, 12}));
  }
}

TEST(BenchmarkImport, DarcyMistakes) {
  Darcy files(Mat::plain);
  files.options.train_count = 5;
  EXPECT_ERROR(files, "at most 4 train samples");
  files.options.train_count = 3;
  files.options.stride = 0;
  EXPECT_ERROR(files, "--stride of at least 1");
  files.options.stride = 5;
  files.options.time_stride = 2;
  EXPECT_ERROR(files, "--time-stride applies to pdebench only");
  files.options.time_stride.reset();
  test::write_mat5(files.scratch / "piececonst_r421_N1024_smooth2.mat", {{"coeff", {4, 8, 8}}, {"sol", {4, 8, 8}}},
                   false);
  EXPECT_ERROR(files, "shape [any, 12, 12], found [4, 8, 8]");
  files.options.train_count = files.options.test_count = 0;
  EXPECT_ERROR(files, "at least one sample");
}

}  // namespace
}  // namespace lano::benchmark_import_test
