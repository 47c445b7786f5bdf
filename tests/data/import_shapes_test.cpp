// Small copies of what users and public libraries have: time, splits in one file, parameters, other points, cells,
// clouds of different sizes.
#include <cmath>
#include <numeric>

#include "array_files.h"
#include "data/array_import.h"
#include "data/dataset.h"
#include "data/npy.h"
#include "scratch.h"
#include "torch_files.h"

namespace lano::import_shapes_test {
namespace {

using test::mark;
using test::MatArray;
using test::Scratch;
using Words = std::vector<std::string>;
using Ids = std::vector<std::int64_t>;

struct Lines : Listener {
  std::string said, warned;
  void say(const std::string& line) override { said += line + "\n"; }
  void warn(const std::string& line) override { warned += line + "\n"; }
};

std::vector<float> ramp(std::int64_t count, float first = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

Samples sample(const std::filesystem::path& path, std::int64_t id) { return DatasetReader(path).read(Ids{id}); }

// FNO's .mat: u [S, X, Y, T], a [S, X, Y].
TEST(ImportTime, LastAxisOfAMatFile) {
  Scratch scratch;
  test::write_mat5(scratch / "ns.mat",
                   {{"a", {12, 4, 3}},
                    {"u", {12, 4, 3, 5}},
                    {"t", {1, 5}, [](const test::Index& i) { return 0.05 * static_cast<double>(i[1] + 1); }}},
                   true);
  ArrayImport options;
  options.files = {scratch / "ns.mat"};
  options.words.input = {"a"};
  options.words.output = "u";
  for (const Words& time : {Words{"last", "t"}, Words{"t"}, Words{"axis=3", "t"}}) {
    options.time = time;
    import_arrays(options, scratch / "d.h5");
    const DatasetReader reader(scratch / "d.h5");
    EXPECT_EQ(reader.description().shape, (Shape{4, 3}));
    EXPECT_EQ(reader.description().time, (std::vector<double>{0.05, 0.1, 0.15, 0.2, 0.25}));
    const Samples s = reader.read(Ids{7});
    EXPECT_EQ(s.output[static_cast<std::size_t>((3 * 4 + 2) * 3 + 1)], mark({7, 2, 1, 3}));  // t = 3, x = 2, y = 1
    EXPECT_EQ(s.input[2 * 3 + 1], mark({7, 2, 1}));
  }
  // A step instead, and the axis derived from the input.
  options.time = {"0.5"};
  import_arrays(options, scratch / "d.h5");
  EXPECT_EQ(DatasetReader(scratch / "d.h5").description().time, (std::vector<double>{0, 0.5, 1, 1.5, 2}));
}

// neuralop's Burgers: x [S, X], y [S, T, X] in separate files.
TEST(ImportTime, FirstAxisOfATorchFile) {
  Scratch scratch;
  for (const char* name : {"train.pt", "test.pt"}) {
    const float shift = name[1] == 'r' ? 0 : 10000;
    test::write_torch(scratch / name,
                      test::torch_dict({{"x", {6, 4}, ramp(24, shift)}, {"y", {6, 3, 4}, ramp(72, shift)}}));
  }
  ArrayImport options;
  options.train.files = {scratch / "train.pt"};
  options.test.files = {scratch / "test.pt"};
  options.words.input = {"x"};
  options.words.output = "y";
  options.time = {"first", "0.1"};
  EXPECT_EQ(import_arrays(options, scratch / "d.h5"), 12);
  const DatasetReader reader(scratch / "d.h5");
  EXPECT_EQ(reader.indices(Split::test), (Ids{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(reader.read(Ids{2}).output, ramp(12, 24));
  EXPECT_EQ(reader.description().time.size(), 3u);
}

// PDEBench: tensor [S, T, X] with t-coordinate, one longer, and x-coordinate; the first frames are the input.
TEST(ImportTime, InitialFramesBecomeInput) {
  Scratch scratch;
  const auto along = [](double step) {
    return [step](const test::Index& i) { return step * (static_cast<double>(i[0]) + 0.5); };
  };
  test::write_hdf5(scratch / "b.hdf5",
                   {{"tensor", {10, 5, 8}}, {"t-coordinate", {6}, along(0.5)}, {"x-coordinate", {8}, along(0.125)}});
  ArrayImport options;
  options.files = {scratch / "b.hdf5"};
  options.words.output = "tensor";
  options.words.coords = {"x-coordinate"};
  options.time = {"t-coordinate"};
  options.initial = 2;
  import_arrays(options, scratch / "d.h5");
  const DatasetReader reader(scratch / "d.h5");
  const SetDescription& d = reader.description();
  EXPECT_EQ(d.geometry, Geometry::grid);
  EXPECT_EQ(d.initial_time, (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(d.time, (std::vector<double>{1.25, 1.75, 2.25}));
  ASSERT_EQ(d.input_channels(), 2);
  EXPECT_EQ(d.input[1].name, "tensor at t=0.75");
  const Samples s = reader.read(Ids{4});
  for (std::int64_t x = 0; x < 8; ++x) {
    EXPECT_EQ(s.input[static_cast<std::size_t>(2 * x)], mark({4, 0, x}));
    EXPECT_EQ(s.input[static_cast<std::size_t>(2 * x + 1)], mark({4, 1, x}));
    EXPECT_EQ(s.output[static_cast<std::size_t>(x)], mark({4, 2, x}));
  }
  EXPECT_FLOAT_EQ(s.coordinates[3], 0.4375f);
  // Models that step see one row of frames.
  const DatasetReader stepped(scratch / "d.h5", InitialFrames::output);
  EXPECT_EQ(stepped.description().given_frames, 2);
  EXPECT_EQ(stepped.description().input_channels(), 0);
  EXPECT_EQ(stepped.description().time.size(), 5u);
  EXPECT_TRUE(stepped.description().initial_time.empty());
  const Samples whole = stepped.read(std::vector<std::int64_t>{1, 0}),
                split = reader.read(std::vector<std::int64_t>{1, 0});
  EXPECT_EQ(whole.frames, 5);
  EXPECT_TRUE(whole.input.empty());
  const std::int64_t du = reader.description().output_channels(), n = whole.points;
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto frames = whole.output_of(row, du), input = split.input_of(row, 2 * du), later = split.output_of(row, du);
    for (std::int64_t f = 0; f < 5; ++f) {
      for (std::int64_t v = 0; v < n * du; ++v) {
        const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
        EXPECT_EQ(frames[at(f * n * du + v)],
                  f < 2 ? input[at(v / du * 2 * du + f * du + v % du)] : later[at((f - 2) * n * du + v)]);
      }
    }
  }
  options.initial = 5;
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "e.h5"), "--initial from 1 to 4");
}

// [S, T, C, X] and [S, X, T, C]: both axes on the same side.
TEST(ImportTime, BesideChannels) {
  Scratch scratch;
  test::write_npy_of(scratch / "first.npy", {6, 3, 2, 5});
  test::write_npy_of(scratch / "last.npy", {6, 5, 3, 2});
  ArrayImport options;
  options.words.output = (scratch / "first.npy").string();
  options.channels = ChannelAxis::first;
  options.time = {"first"};
  import_arrays(options, scratch / "d.h5");
  Samples s = sample(scratch / "d.h5", 4);
  EXPECT_EQ(s.output[(2 * 5 + 3) * 2 + 1], mark({4, 2, 1, 3}));
  options.words.output = (scratch / "last.npy").string();
  options.channels = ChannelAxis::last;
  options.time = {"last"};
  import_arrays(options, scratch / "d.h5");
  s = sample(scratch / "d.h5", 4);
  EXPECT_EQ(s.output[(2 * 5 + 3) * 2 + 1], mark({4, 3, 2, 1}));
}

TEST(ImportTime, MistakesAreNamed) {
  Scratch scratch;
  test::write_npy_of(scratch / "u.npy", {6, 4, 4});
  write_npy(scratch / "t.npy", {4}, std::vector<float>{0, 2, 1, 3});
  ArrayImport options;
  options.words.output = (scratch / "u.npy").string();
  const auto with = [&](const Words& time) {
    return [&, time] {
      options.time = time;
      import_arrays(options, scratch / "d.h5");
    };
  };
  EXPECT_ERROR_WITH(with({"0.1"})(), "--time first, --time last or --time axis=N");
  EXPECT_ERROR_WITH(with({(scratch / "t.npy").string()})(), "several axes that fit");
  EXPECT_ERROR_WITH(with({"first", (scratch / "t.npy").string()})(), "rising times");
  EXPECT_ERROR_WITH(with({"first", "last"})(), "'last' as well");
  EXPECT_ERROR_WITH(with({"first", "-1"})(), "a step above 0");
  EXPECT_ERROR_WITH(with({"axis=0"})(), "axes count from 0");
  EXPECT_ERROR_WITH(with({"first", "nothing"})(), "FILE:NAME");
  options.time.clear();
  options.initial = 1;
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "d.h5"), "--time with --initial");
}

// f_train, u_train, f_vali, u_vali, f_test, u_test in one file.
TEST(ImportSplits, ArraysOfEachSplitInOneFile) {
  Scratch scratch;
  const auto shifted = [](double shift) { return [shift](const test::Index& i) { return mark(i) + shift; }; };
  std::vector<MatArray> arrays;
  for (const auto& [split, samples, shift] :
       {std::tuple("train", 7, 0.0), std::tuple("vali", 3, 5000.0), std::tuple("test", 4, 9000.0)}) {
    arrays.push_back({std::string("f_") + split, {samples, 6}, shifted(shift)});
    arrays.push_back({std::string("u_") + split, {samples, 6}, shifted(shift + 1)});
  }
  test::write_mat5(scratch / "d.mat", arrays, true);
  ArrayImport options;
  options.files = {scratch / "d.mat"};
  options.train.words.input = {"f_train"};
  options.train.words.output = "u_train";
  options.validation.words.input = {"f_vali"};
  options.validation.words.output = "u_vali";
  options.test.words.input = {"f_test"};
  options.test.words.output = "u_test";
  EXPECT_EQ(import_arrays(options, scratch / "d.h5"), 14);
  const DatasetReader reader(scratch / "d.h5");
  EXPECT_EQ(reader.indices(Split::train).size(), 7u);
  EXPECT_EQ(reader.indices(Split::validation), (Ids{7, 8, 9}));
  EXPECT_EQ(reader.indices(Split::test), (Ids{10, 11, 12, 13}));
  EXPECT_EQ(reader.description().input[0].name + reader.description().output[0].name, "fu");
  EXPECT_EQ(reader.read(Ids{8}).input[2], mark({1, 2}) + 5000);
  EXPECT_EQ(reader.read(Ids{13}).output[5], mark({3, 5}) + 9001);
  // The input of one split with the output of another is not taken.
  options.test.words.input.clear();
  options.words.input = {"f_train"};
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "e.h5"), "--test-input is missing");
}

TEST(ImportSplits, SmallDatasetsHaveEverySplit) {
  Scratch scratch;
  for (const auto& [samples, train, validation, test] : {std::tuple(3, 1u, 1u, 1u), std::tuple(5, 3u, 1u, 1u),
                                                         std::tuple(8, 6u, 1u, 1u), std::tuple(100, 81u, 9u, 10u)}) {
    test::write_npy_of(scratch / "u.npy", {samples, 4});
    ArrayImport options;
    options.words.output = (scratch / "u.npy").string();
    import_arrays(options, scratch / "d.h5");
    const DatasetReader reader(scratch / "d.h5");
    EXPECT_EQ(reader.indices(Split::train).size(), train) << samples;
    EXPECT_EQ(reader.indices(Split::validation).size(), validation) << samples;
    EXPECT_EQ(reader.indices(Split::test).size(), test) << samples;
  }
  // Only one sample: reported, not hidden.
  test::write_npy_of(scratch / "u.npy", {1, 4});
  ArrayImport options;
  options.words.output = (scratch / "u.npy").string();
  Lines lines;
  import_arrays(options, scratch / "d.h5", lines);
  EXPECT_NE(lines.warned.find("no validation samples"), std::string::npos);
  EXPECT_NE(lines.warned.find("no test samples"), std::string::npos);
}

TEST(ImportSplits, ShufflingIsRepeatableAndKeepsPairs) {
  Scratch scratch;
  test::write_npy_of(scratch / "u.npy", {40, 4});
  ArrayImport options;
  options.words.input = {(scratch / "u.npy").string()};
  options.words.output = (scratch / "u.npy").string();
  const auto firsts = [&](std::optional<std::uint64_t> seed) {
    options.shuffle = seed;
    import_arrays(options, scratch / "d.h5");
    const DatasetReader reader(scratch / "d.h5");
    std::vector<float> values;
    for (const std::int64_t id : reader.indices("all")) {
      const Samples s = reader.read(Ids{id});
      EXPECT_EQ(s.input, s.output);
      values.push_back(s.output[0]);
    }
    return values;
  };
  const std::vector<float> plain = firsts({}), one = firsts(1), two = firsts(2);
  EXPECT_EQ(plain, ramp(40));
  EXPECT_NE(one, plain);
  EXPECT_NE(one, two);
  EXPECT_EQ(one, firsts(1));
  std::vector<float> sorted = one;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, plain);
}

// Data sorted by a parameter: the last tenth is unlike the rest. Drawn at random it is not.
TEST(ImportSplits, SortedDataIsWarnedOf) {
  Scratch scratch;
  test::write_npy_of(scratch / "u.npy", {100, 4},
                     [](const test::Index& i) { return static_cast<double>(i[0]) + 0.1 * static_cast<double>(i[1]); });
  ArrayImport options;
  options.words.output = (scratch / "u.npy").string();
  Lines sorted, shuffled, wild;
  import_arrays(options, scratch / "d.h5", sorted);
  EXPECT_NE(sorted.warned.find("--shuffle"), std::string::npos) << sorted.warned;
  options.shuffle = 0;
  import_arrays(options, scratch / "d.h5", shuffled);
  EXPECT_EQ(shuffled.warned, "");
  options.shuffle.reset();
  test::write_npy_of(scratch / "u.npy", {100, 4}, [](const test::Index& i) {
    return std::sin(12.9898 * static_cast<double>(i[0] + 1) + static_cast<double>(i[1]));
  });
  import_arrays(options, scratch / "d.h5", wild);
  EXPECT_EQ(wild.warned, "");
}

TEST(ImportSplits, TestSamplesThatWereTrainedOn) {
  Scratch scratch;
  test::write_npy_of(scratch / "u.npy", {10, 4});
  test::write_npy_of(scratch / "half.npy", {4, 4},
                     [](const test::Index& i) { return i[0] < 2 ? mark(i) : mark(i) + 0.5; });
  ArrayImport options;
  options.train.words.output = (scratch / "u.npy").string();
  options.test.words.output = (scratch / "u.npy").string();
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "d.h5"), "all 10 test samples are among the training samples");
  EXPECT_FALSE(std::filesystem::exists(scratch / "d.h5"));
  options.test.words.output = (scratch / "half.npy").string();
  Lines lines;
  import_arrays(options, scratch / "d.h5", lines);
  EXPECT_NE(lines.warned.find("2 of 4 test samples"), std::string::npos) << lines.warned;
}

TEST(ImportFields, SeveralInputsWithNamesAndUnits) {
  Scratch scratch;
  test::write_npy_of(scratch / "k.npy", {6, 4, 3});
  test::write_npy_of(scratch / "mu.npy", {6, 2}, [](const test::Index& i) {
    return 100.0 * static_cast<double>(i[0]) + static_cast<double>(i[1]);
  });
  test::write_npy_of(scratch / "w.npy", {6, 4, 3, 2});
  ArrayImport options;
  options.words.input = {"permeability[m2]=" + (scratch / "k.npy").string(),
                         "inflow,outflow[m/s]=" + (scratch / "mu.npy").string()};
  options.words.output = "v[]=" + (scratch / "w.npy").string();
  options.channels = ChannelAxis::last;
  Lines lines;
  import_arrays(options, scratch / "d.h5", lines);
  const DatasetReader reader(scratch / "d.h5");
  const SetDescription& d = reader.description();
  ASSERT_EQ(d.input_channels(), 3);
  EXPECT_EQ(d.input[0].name + d.input[0].unit, "permeabilitym2");
  EXPECT_EQ(d.input[1].name + d.input[1].unit, "inflow1");
  EXPECT_EQ(d.input[2].name + d.input[2].unit, "outflowm/s");
  EXPECT_EQ(d.output[1].name + d.output[1].unit, "v_11");  // one name for two channels, no unit
  const Samples s = reader.read(Ids{3});
  for (std::size_t p = 0; p < 12; ++p) {
    EXPECT_EQ(s.input[3 * p + 1], 300);
    EXPECT_EQ(s.input[3 * p + 2], 301);
  }
  EXPECT_EQ(s.input[3 * (2 * 3 + 1)], mark({3, 2, 1}));
  EXPECT_NE(lines.said.find("'mu' holds 2 parameters per sample"), std::string::npos) << lines.said;
  options.words.output = "a,b,c=" + (scratch / "w.npy").string();
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "e.h5"), "2 names, or one");
}

// The samples on the last axis, parameters of each in rows; x and y as separate arrays: PINA's holed Poisson.
TEST(ImportFields, SamplesLastWithCoordinatesApart) {
  Scratch scratch;
  const auto value = [](double weight) {
    return [weight](const test::Index& i) {
      return weight * static_cast<double>(i[0]) + 0.01 * static_cast<double>(i[1]);
    };
  };
  test::write_hdf5(scratch / "p.h5",
                   {{"x", {7, 5}, value(1)},
                    {"y", {7, 5}, value(2)},
                    {"u", {7, 5}, value(3)},
                    {"mu", {5, 2}, value(4)},
                    {"triang", {4, 3}, [](const test::Index& i) { return static_cast<double>(i[0] + i[1]); }}});
  ArrayImport options;
  options.files = {scratch / "p.h5"};
  options.words.input = {"mu"};
  options.words.output = "u";
  options.words.coords = {"x", "y"};
  options.words.cells = "triang";
  options.samples = SampleAxis::last;
  import_arrays(options, scratch / "d.h5");
  const DatasetReader reader(scratch / "d.h5");
  EXPECT_EQ(reader.description().geometry, Geometry::points);  // from the coordinates
  EXPECT_EQ(reader.size(), 5);
  const Samples s = reader.read(Ids{2});
  EXPECT_FLOAT_EQ(s.coordinates[2 * 6], 6.02f);
  EXPECT_FLOAT_EQ(s.coordinates[2 * 6 + 1], 12.02f);
  EXPECT_FLOAT_EQ(s.output[6], 18.02f);
  EXPECT_FLOAT_EQ(s.input[2 * 3 + 1], 8.01f);
  EXPECT_EQ(reader.cell_kind(), CellKind::triangle);
  EXPECT_EQ(reader.read_cells(3), (Ids{0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5}));
}

// A grid of another resolution in the same box, and points on a boundary: linear fields come out exactly on the grid.
TEST(ImportFields, InputOnOtherPoints) {
  Scratch scratch;
  const auto plane = [](double nx, double ny) {
    return [=](const test::Index& i) {
      return static_cast<double>(i[0]) + 2 * static_cast<double>(i[1]) / nx - 3 * static_cast<double>(i[2]) / ny;
    };
  };
  test::write_npy_of(scratch / "a.npy", {5, 3, 5}, plane(2, 4));
  test::write_npy_of(scratch / "u.npy", {5, 9, 7}, plane(8, 6));
  ArrayImport options;
  options.words.input = {(scratch / "a.npy").string()};
  options.words.output = (scratch / "u.npy").string();
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "d.h5"), "--input-coords");
  options.words.input_coords = {"box"};
  Lines lines;
  import_arrays(options, scratch / "d.h5", lines);
  EXPECT_NE(lines.said.find("multilinear"), std::string::npos);
  Samples s = sample(scratch / "d.h5", 3);
  for (std::size_t p = 0; p < s.output.size(); ++p) EXPECT_NEAR(s.input[p], s.output[p], 1e-5) << p;

  // Four sensors at the corners of the unit square, one of them under an output point; with parameters as well.
  write_npy(scratch / "s.npy", {5, 4}, ramp(20));
  write_npy(scratch / "sx.npy", {4, 2}, std::vector<float>{0, 0, 0, 1, 1, 0, 1, 1});
  write_npy(scratch / "mu.npy", {5}, ramp(5));
  write_npy(scratch / "v.npy", {5, 3}, ramp(15));
  write_npy(scratch / "vx.npy", {3, 2}, std::vector<float>{1, 0, 0.5, 0.5, 2, 2});
  ArrayImport cloud;
  cloud.words.input = {(scratch / "s.npy").string(), (scratch / "mu.npy").string()};
  cloud.words.input_coords = {(scratch / "sx.npy").string()};
  cloud.words.output = (scratch / "v.npy").string();
  cloud.words.coords = {(scratch / "vx.npy").string()};
  Lines told;
  import_arrays(cloud, scratch / "c.h5", told);
  EXPECT_NE(told.said.find("inverse squared distances"), std::string::npos) << told.said;
  s = sample(scratch / "c.h5", 2);
  EXPECT_FLOAT_EQ(s.input[0], 10);    // on the third sensor: 8 9 10 11
  EXPECT_FLOAT_EQ(s.input[2], 9.5f);  // in the middle of all
  EXPECT_FLOAT_EQ(s.input[4], (8 / 8.0f + 9 / 5.0f + 10 / 5.0f + 11 / 2.0f) / (1 / 8.0f + 2 / 5.0f + 1 / 2.0f));
  EXPECT_FLOAT_EQ(s.input[5], 2);  // the parameter
}

TEST(ImportCells, OfEachSampleFromOneAndTransposed) {
  Scratch scratch;
  write_npy(scratch / "u.npy", {3, 4}, ramp(12));
  write_npy(scratch / "x.npy", {4, 2}, std::vector<float>{0, 0, 1, 0, 1, 1, 0, 1});
  write_npy(scratch / "cells.npy", {3, 2, 3}, std::vector<float>{0, 1, 2, 0, 2, 3, 0, 1, 3, 1, 2, 3, 0, 1, 2, 0, 2, 3});
  write_npy(scratch / "matlab.npy", {3, 2}, std::vector<float>{1, 1, 2, 3, 3, 4});  // [corners, cells], from 1
  write_npy(scratch / "wild.npy", {1, 3}, std::vector<float>{0, 1, 7});
  ArrayImport options;
  options.words.output = (scratch / "u.npy").string();
  options.words.coords = {(scratch / "x.npy").string()};
  options.words.cells = (scratch / "cells.npy").string();
  import_arrays(options, scratch / "d.h5");
  {
    const DatasetReader reader(scratch / "d.h5");
    EXPECT_FALSE(reader.shared_cells());
    EXPECT_EQ(reader.read_cells(1), (Ids{0, 1, 3, 1, 2, 3}));
  }
  options.words.cells = (scratch / "matlab.npy").string();
  import_arrays(options, scratch / "d.h5");
  {
    const DatasetReader reader(scratch / "d.h5");
    EXPECT_TRUE(reader.shared_cells());
    EXPECT_EQ(reader.read_cells(2), (Ids{0, 1, 2, 0, 2, 3}));
  }
  options.words.cells = (scratch / "wild.npy").string();
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "e.h5"), "whole numbers from 0 to 3 as corners, found 7");
  // Four corners: in the plane a quadrilateral by default.
  write_npy(scratch / "quad.npy", {1, 4}, ramp(4));
  options.words.cells = (scratch / "quad.npy").string();
  import_arrays(options, scratch / "d.h5");
  EXPECT_EQ(DatasetReader(scratch / "d.h5").cell_kind(), CellKind::quadrilateral);
  options.cell_kind = "tetrahedron";
  import_arrays(options, scratch / "d.h5");
  EXPECT_EQ(DatasetReader(scratch / "d.h5").cell_kind(), CellKind::tetrahedron);
}

// Clouds of different sizes: a folder, an .npz with one array per sample, a list in a .pt file give the same dataset.
TEST(ImportClouds, OfDifferentSizesFromLists) {
  Scratch scratch;
  std::filesystem::create_directory(scratch / "u");
  std::filesystem::create_directory(scratch / "x");
  std::string pressure = "](", points = "](", cells = "](";
  std::vector<std::string> storages;
  test::Entries arrays;
  for (std::int64_t i = 0; i < 11; ++i) {
    const std::int64_t n = 3 + i;
    const std::vector<float> u = ramp(n, static_cast<float>(100 * i)), x = ramp(2 * n, static_cast<float>(i));
    write_npy(scratch / ("u/p" + std::to_string(i) + ".npy"), {n}, u);  // p10 comes after p9
    write_npy(scratch / ("x/p" + std::to_string(i) + ".npy"), {n, 2}, x);
    std::ifstream file(scratch / ("u/p" + std::to_string(i) + ".npy"), std::ios::binary);
    arrays.emplace_back("arr_" + std::to_string(i) + ".npy", std::string(std::istreambuf_iterator<char>(file), {}));
    const auto add = [&](std::string& list, const Shape& shape, const std::vector<float>& values) {
      list += test::pickled_tensor(test::pickled_storage("FloatStorage", std::to_string(storages.size()),
                                                         static_cast<std::int64_t>(values.size())),
                                   0, shape, test::rows_of(shape));
      storages.push_back(test::raw_all(values));
    };
    add(pressure, {n}, u);
    add(points, {n, 2}, x);
    add(cells, {1 + i, 3}, ramp(3 * (1 + i), 0));
  }
  test::write_torch(scratch / "c.pt", test::torch_zip(test::pickle_of("}(" + test::pickled_text("u") + pressure + "e" +
                                                                      test::pickled_text("x") + points + "eu"),
                                                      storages));
  test::write_torch(scratch / "u.npz", test::zip_of(arrays));
  ArrayImport options;
  for (const auto& [u, x] : {std::pair((scratch / "u").string(), (scratch / "x").string()),
                             std::pair((scratch / "u.npz").string(), (scratch / "x").string()),
                             std::pair((scratch / "c.pt").string() + ":u", (scratch / "c.pt").string() + ":x"),
                             std::pair((scratch / "c.pt").string() + ":u/*", (scratch / "x").string())}) {
    options.words.output = u;
    options.words.coords = {x};
    EXPECT_EQ(import_arrays(options, scratch / "d.h5"), 11) << u;
    const DatasetReader reader(scratch / "d.h5");
    EXPECT_EQ(reader.description().geometry, Geometry::points);
    ASSERT_EQ(reader.counts().size(), 11u);
    EXPECT_EQ(reader.counts()[10], 13);
    const Samples s = reader.read(Ids{10});
    EXPECT_EQ(s.output, ramp(13, 1000)) << u;
    EXPECT_EQ(s.coordinates, ramp(26, 10));
  }
  options.words.coords.clear();
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "e.h5"), "--coords");
  options.words.coords = {(scratch / "x").string()};
  options.time = {"first"};
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "e.h5"), "clouds of different sizes are steady");
}

// PDEBench's other layout: a group per sample.
TEST(ImportClouds, GroupsOfAnHdf5FileAreSamples) {
  Scratch scratch;
  const hid_t file = H5Fcreate((scratch / "g.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (int i = 0; i < 4; ++i) {
    const hid_t group = H5Gcreate2(file, ("000" + std::to_string(i)).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t dims[] = {3, 2};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    const hid_t set = H5Dcreate2(group, "data", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const std::vector<float> values = ramp(6, static_cast<float>(10 * i));
    H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Sclose(space);
    H5Gclose(group);
  }
  H5Fclose(file);
  ArrayImport options;
  options.words.output = (scratch / "g.h5").string() + ":*/data";
  EXPECT_EQ(import_arrays(options, scratch / "d.h5"), 4);
  EXPECT_EQ(sample(scratch / "d.h5", 2).output, ramp(6, 20));
  EXPECT_EQ(DatasetReader(scratch / "d.h5").description().output[0].name, "data");
}

// Of a list, the file of the sample; and a folder of the name of an array does not hide it.
TEST(ImportMessages, NameTheFileOfTheSample) {
  Scratch scratch;
  std::filesystem::create_directory(scratch / "u");
  for (int i = 0; i < 5; ++i) {
    std::vector<float> values = ramp(4, static_cast<float>(10 * i));
    if (i == 3) values[2] = NAN;
    write_npy(scratch / ("u/s" + std::to_string(i) + ".npy"), {4}, values);
  }
  ArrayImport options;
  options.words.output = (scratch / "u").string();
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "d.h5"),
                    "s3.npy': expected finite numbers, found nan in sample 3");
  test::write_hdf5(scratch / "a.h5", {{"tmp", {4, 5}}});
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(scratch / "tmp");
  std::filesystem::current_path(scratch / ".");
  options.files = {"a.h5"};
  options.words.output = "tmp";
  EXPECT_EQ(import_arrays(options, scratch / "d.h5"), 4);
  std::filesystem::current_path(before);
}

TEST(ImportMessages, NameTheRightFileAndTheRightGeometry) {
  Scratch scratch;
  std::vector<float> values = ramp(40);
  write_npy(scratch / "u.npy", {10, 4}, values);
  values[13] = INFINITY;
  write_npy(scratch / "bad.npy", {10, 4}, values);
  write_npy(scratch / "x.npy", {4, 2}, std::vector<float>{0, 0, 1, 0, 0, 1, 3, 3});
  ArrayImport options;
  options.words.input = {(scratch / "bad.npy").string()};
  options.words.output = (scratch / "u.npy").string();
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "d.h5"),
                    "bad.npy': expected finite numbers, found inf in sample 3");
  options.words.input.clear();
  options.words.coords = {(scratch / "x.npy").string()};
  options.geometry = Geometry::grid;
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "d.h5"), "use --geometry points");
  options.geometry.reset();
  import_arrays(options, scratch / "d.h5");
  EXPECT_EQ(DatasetReader(scratch / "d.h5").description().geometry, Geometry::points);
  options.words.coords.clear();
  options.box = {1, 0};
  EXPECT_ERROR_WITH(import_arrays(options, scratch / "e.h5"), "swap them");
}

// Coordinates that are given for each sample and are all the same are stored once; a uniform grid is recognised.
TEST(ImportFields, EqualCoordinatesAreShared) {
  Scratch scratch;
  write_npy(scratch / "u.npy", {4, 3, 2}, ramp(24));
  std::vector<float> coords;
  for (int s = 0; s < 4; ++s)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j) coords.insert(coords.end(), {0.5f * static_cast<float>(i), static_cast<float>(j)});
  write_npy(scratch / "x.npy", {4, 3, 2, 2}, coords);
  ArrayImport options;
  options.words.output = (scratch / "u.npy").string();
  options.words.coords = {(scratch / "x.npy").string()};
  import_arrays(options, scratch / "d.h5");
  EXPECT_TRUE(DatasetReader(scratch / "d.h5").shared_coordinates());
  EXPECT_EQ(DatasetReader(scratch / "d.h5").description().geometry, Geometry::grid);
  coords[30] += 0.25f;
  write_npy(scratch / "x.npy", {4, 3, 2, 2}, coords);
  import_arrays(options, scratch / "d.h5");
  EXPECT_FALSE(DatasetReader(scratch / "d.h5").shared_coordinates());
  EXPECT_EQ(DatasetReader(scratch / "d.h5").description().geometry, Geometry::mesh);
}

}  // namespace
}  // namespace lano::import_shapes_test
