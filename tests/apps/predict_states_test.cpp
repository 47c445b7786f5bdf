// Predictions from a user's own states, times and meshes: what `lano predict` writes equals stepping and asking by
// hand, files for ParaView hold the numbers and cells they should, and every mistake is one sentence that leaves no
// file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/atomic_file.h"
#include "core/child_process.h"
#include "data/dataset.h"
#include "data/npy.h"
#include "runtime/operator.h"
#include "runtime/random_model.h"
#include "scratch.h"

namespace lano::predict_states_test {
namespace {

using Words = std::vector<std::string>;

struct Said {
  int code = 0;
  std::string text;  // stdout and stderr
};

Said lano(Words words) {
  words.insert(words.begin(), {"-c", "exec \"$0\" \"$@\" 2>&1", LANO_PROGRAM});
  words.insert(words.end(), {"--threads", "1"});
  Said said;
  ChildOptions child;
  child.output = &said.text;
  said.code = run_child("/bin/sh", words, child).code;
  return said;
}

void expect_good(const Words& words) {
  const Said said = lano(words);
  EXPECT_EQ(said.code, 0) << said.text;
}

constexpr std::int64_t kPoints = 42;  // 7 x 6

// A model of random weights, trained at the times 0, 0.5, 1; on a grid it knows its coordinates.
ModelFile make_model(const std::filesystem::path& path, Geometry geometry, Task task, std::int64_t inputs,
                     std::int64_t state_frames = 1) {
  LanoConfig config;
  config.state_frames = state_frames;
  config.layers = 2;
  config.heads = 2;
  config.width = 8;
  config.agents = 6;
  config.task = task;
  SetDescription set =
      test::set_of(geometry, geometry == Geometry::points ? Shape{kPoints} : Shape{7, 6}, 2, inputs, 2);
  set.generator = "{}";
  if (task != Task::steady) set.time = {0, 0.5, 1};
  if (geometry == Geometry::points) {
    write_model_file(path, test::random_model(config, set));
  } else {
    std::vector<double> spacing;
    EXPECT_TRUE(uniform_grid_spacing(set.shape, test::grid_points(set.shape), &spacing));
    ModelFile model = test::random_model(config, set, spacing, {0, 0});
    model.coordinates = test::grid_points(set.shape);
    write_model_file(path, model);
  }
  return read_model_file(path);
}

std::vector<float> part(std::span<const float> values, std::size_t at, std::size_t size) {
  const auto found = values.subspan(at * size, size);
  return {found.begin(), found.end()};
}

constexpr std::size_t kState = 2 * kPoints;

// [steps + 1, N, du]
std::vector<float> stepped(const Operator& op, std::vector<float> state, const std::vector<float>& input,
                           std::size_t steps) {
  std::vector<float> all = state;
  for (std::size_t step = 0; step < steps; ++step) {
    Operator::Call call;
    call.state = state;
    state = op.predict(op.coordinates(), input, call);
    all.insert(all.end(), state.begin(), state.end());
  }
  return all;
}

TEST(PredictStates, AnArrayOfStatesIsSteppedFrom) {
  const test::Scratch scratch;
  const std::string model = scratch / "model.safetensors", out = scratch / "u.npy";
  const Operator op(make_model(model, Geometry::grid, Task::autoregressive, 0));
  const std::vector<float> states = test::uniform(2 * kState, 1);
  write_npy(scratch / "states.npy", {2, 7, 6, 2}, states);
  write_npz(scratch / "states.npz", {{"other", {1}, {states.data(), 1}}, {"s", {2, 7, 6, 2}, states}});
  for (const char* option : {"--input", "--state"}) {
    for (const std::string& word : {(scratch / "states.npy").string(), (scratch / "states.npz").string() + ":s"}) {
      expect_good({"predict", model, option, word, "--steps", "4", "--out", out, "--force"});
      const NumpyArray u = read_numpy(out, "");
      ASSERT_EQ(u.shape, (Shape{2, 5, 7, 6, 2}));
      for (std::size_t s = 0; s < 2; ++s)
        EXPECT_EQ(part(u.values, s, 5 * kState), stepped(op, part(states, s, kState), {}, 4));
    }
  }
  expect_good({"predict", "--state", scratch / "states.npy", model, "--steps", "4", "--out", out, "--force"});
  // One state without an axis of samples; steps as in training, with a note; times continue in equal steps.
  write_npy(scratch / "one.npy", {7, 6, 2}, part(states, 0, kState));
  const Said said = lano({"predict", model, "--state", scratch / "one.npy", "--out", scratch / "one.h5"});
  EXPECT_NE(said.text.find("2 steps, as in training"), std::string::npos) << said.text;
  expect_good({"predict", model, "--state", scratch / "one.npy", "--steps", "4", "--out", scratch / "longer.h5"});
  const DatasetReader reader(scratch / "longer.h5");
  EXPECT_EQ(reader.description().time, (std::vector<double>{0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{0}).output, stepped(op, part(states, 0, kState), {}, 4));
}

// [samples, frames, mesh..., channels], or one sample; the given frames come first in what is written.
TEST(PredictStates, StatesOfTwoFrames) {
  const test::Scratch scratch;
  const std::string model = scratch / "model.safetensors", out = scratch / "u.npy";
  const Operator op(make_model(model, Geometry::grid, Task::autoregressive, 0, 2));
  const std::vector<float> states = test::uniform(4 * kState, 1);
  write_npy(scratch / "states.npy", {2, 2, 7, 6, 2}, states);
  write_npy(scratch / "one.npy", {2, 7, 6, 2}, part(states, 1, 2 * kState));
  expect_good({"predict", model, "--state", scratch / "states.npy", "--steps", "3", "--out", out});
  const NumpyArray u = read_numpy(out, "");
  ASSERT_EQ(u.shape, (Shape{2, 5, 7, 6, 2}));
  for (std::size_t s = 0; s < 2; ++s) {
    std::vector<float> wanted = part(states, s, 2 * kState);
    Operator::Call call;
    call.state = std::span(states).subspan(s * 2 * kState, 2 * kState);
    const std::vector<float> later = op.roll_out(op.coordinates(), {}, 3, call);
    wanted.insert(wanted.end(), later.begin(), later.end());
    EXPECT_EQ(part(u.values, s, 5 * kState), wanted);
  }
  expect_good({"predict", model, "--state", scratch / "one.npy", "--steps", "3", "--out", scratch / "one.h5"});
  const DatasetReader reader(scratch / "one.h5");
  EXPECT_EQ(reader.description().given_frames, 2);
  EXPECT_EQ(reader.description().time, (std::vector<double>{0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{0}).output, part(u.values, 1, 5 * kState));
  write_npy(scratch / "three.npy", {3, 7, 6, 2}, test::uniform(3 * kState, 1));
  const Said said = lano({"predict", model, "--state", scratch / "three.npy", "--steps", "3", "--out", scratch / "no"});
  EXPECT_EQ(said.code, 2) << said.text;
  EXPECT_NE(lano({"predict", model, "--state", scratch / "three.npy", "--steps", "3", "--out", scratch / "no.npy"})
                .text.find("the 2 frames this model steps from"),
            std::string::npos);
}

TEST(PredictStates, InputFieldsStandBesideTheState) {
  const test::Scratch scratch;
  const std::string model = scratch / "model.safetensors", out = scratch / "u.npz";
  const Operator op(make_model(model, Geometry::grid, Task::autoregressive, 1));
  const std::vector<float> states = test::uniform(2 * kState, 1), input = test::uniform(kPoints, 2);
  write_npy(scratch / "states.npy", {2, 7, 6, 2}, states);
  write_npy(scratch / "input.npy", {7, 6}, input);  // one for both states
  const Words both{"predict", model,   "--input", scratch / "input.npy", "--state", scratch / "states.npy", "--steps",
                   "3",       "--out", out};
  expect_good(both);
  const NumpyArray u = read_numpy(out, "output");
  ASSERT_EQ(u.shape, (Shape{2, 4, 7, 6, 2}));
  for (std::size_t s = 0; s < 2; ++s)
    EXPECT_EQ(part(u.values, s, 4 * kState), stepped(op, part(states, s, kState), input, 3));
  EXPECT_EQ(read_numpy(out, "time").values, (std::vector<float>{0, 0.5f, 1, 1.5f}));
  EXPECT_EQ(read_numpy(out, "coordinates").values, op.coordinates());
}

// Burgers' input fields are "u at t=0": one array is both.
TEST(PredictStates, AnInputThatIsTheFirstStateIsGivenOnce) {
  const test::Scratch scratch;
  const std::string model = scratch / "model.safetensors", state = scratch / "state.npy";
  ModelFile file = make_model(model, Geometry::grid, Task::autoregressive, 2);
  write_npy(state, {7, 6, 2}, test::uniform(kState, 1));
  expect_good({"predict", model, "--input", state, "--state", state, "--steps", "3", "--out", scratch / "both.npy"});
  EXPECT_EQ(lano({"predict", model, "--input", state, "--steps", "3", "--out", scratch / "no.npy"}).code, 2);
  file.set.input = {{"u0 at t=0", "1"}, {"u1 at t=0", "1"}};
  write_model_file(model, file);
  expect_good({"predict", model, "--input", state, "--steps", "3", "--out", scratch / "input.npy"});
  expect_good({"predict", model, "--state", state, "--steps", "3", "--out", scratch / "state3.npy"});
  const std::vector<float> both = read_numpy(scratch / "both.npy", "").values;
  EXPECT_EQ(read_numpy(scratch / "input.npy", "").values, both);
  EXPECT_EQ(read_numpy(scratch / "state3.npy", "").values, both);
}

std::vector<double> times_of(const test::Scratch& scratch, const std::string& model, const std::string& words) {
  expect_good(
      {"predict", model, "--input", scratch / "input.npy", "--times", words, "--out", scratch / "t.h5", "--force"});
  return DatasetReader(scratch / "t.h5").description().time;
}

TEST(PredictStates, AnswersAtTheTimesAskedFor) {
  const test::Scratch scratch;
  const std::string model = scratch / "model.safetensors", out = scratch / "u.npy";
  const Operator op(make_model(model, Geometry::grid, Task::time_conditional, 1));
  const std::vector<float> input = test::uniform(kPoints, 2);
  write_npy(scratch / "input.npy", {7, 6, 1}, input);
  expect_good({"predict", model, "--input", scratch / "input.npy", "--times", "0.25,0.5,0.9", "--out", out});
  const NumpyArray u = read_numpy(out, "");
  ASSERT_EQ(u.shape, (Shape{1, 3, 7, 6, 2}));
  for (std::size_t t = 0; t < 3; ++t) {
    Operator::Call call;
    call.time = std::vector<double>{0.25, 0.5, 0.9}[t];
    EXPECT_EQ(part(u.values, t, kState), op.predict(op.coordinates(), input, call)) << t;
  }
  const std::vector<double> tenths = times_of(scratch, model, "0:1:0.1");  // ten times 0.1 is not 1 in binary
  ASSERT_EQ(tenths.size(), 11u);
  EXPECT_EQ(tenths.back(), 1);
  EXPECT_NEAR(tenths[3], 0.3, 1e-12);
  EXPECT_EQ(times_of(scratch, model, "0:0.7:0.1").size(), 8u);
  EXPECT_EQ(times_of(scratch, model, "0:0.95:0.25"), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(times_of(scratch, model, "0.5"), std::vector<double>{0.5});
  const Said beyond =
      lano({"predict", model, "--input", scratch / "input.npy", "--times", "0,1.5", "--out", scratch / "beyond.npy"});
  EXPECT_EQ(beyond.code, 0);
  EXPECT_NE(beyond.text.find("times 0 to 1.5 go beyond those of training, 0 to 1"), std::string::npos) << beyond.text;
  const Said within = lano({"predict", model, "--input", scratch / "input.npy", "--out", scratch / "within.npy"});
  EXPECT_EQ(within.text.find("go beyond"), std::string::npos) << within.text;
  EXPECT_NE(within.text.find("the 3 times of training, 0 to 1"), std::string::npos) << within.text;
}

// A cloud of two samples with triangles, at the times of the model.
constexpr std::int64_t kTriangles = 5;
std::vector<std::int64_t> triangles() { return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 41, 2, 1, 0}; }

void make_cloud(const std::filesystem::path& path, const SetDescription& set) {
  const std::vector<float> shared = test::uniform(kState, 5);
  DatasetWriter writer(path, set, {Split::test, Split::test}, shared);
  writer.make_cells(CellKind::triangle, kTriangles);
  writer.write_cells(0, triangles());
  const std::size_t frames = std::max<std::size_t>(1, set.time.size());
  for (std::int64_t s = 0; s < 2; ++s)
    writer.write(s, {}, test::uniform(kPoints, 10 + static_cast<std::uint64_t>(s)),
                 test::uniform(frames * kState, 20 + static_cast<std::uint64_t>(s)));
  writer.commit();
}

// The numbers of one array of a .vtu or .vts file; none where it has no such array.
template <class Value>
std::vector<Value> vtk_array(const std::filesystem::path& path, const std::string& name) {
  const std::string bytes = read_file(path, "reading");
  const std::size_t at = bytes.find(fmt::format("Name=\"{}\"", name));
  if (at == std::string::npos) return {};
  const std::string mark = "<AppendedData encoding=\"raw\">\n_", offset = "offset=\"";
  const std::size_t start = bytes.find(mark) + mark.size() + std::stoul(bytes.substr(bytes.find(offset, at) + 8));
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + start, sizeof(size));
  std::vector<Value> values(size / sizeof(Value));
  std::memcpy(values.data(), bytes.data() + start + sizeof(size), size);
  return values;
}

std::vector<float> channel_of(std::span<const float> values, std::size_t c) {
  std::vector<float> found;
  for (std::size_t i = c; i < values.size(); i += 2) found.push_back(values[i]);
  return found;
}

TEST(PredictStates, ParaViewGetsCellsTruthAndError) {
  const test::Scratch scratch;
  const std::string model = scratch / "model.safetensors", data = scratch / "cloud.h5";
  make_cloud(data, make_model(model, Geometry::points, Task::time_conditional, 1).set);
  const Samples truth = DatasetReader(data).read(std::vector<std::int64_t>{1});
  expect_good({"predict", model, "--data", data, "--sample", "1", "--times", "0.25,0.5", "--out", scratch / "u.vtu"});
  expect_good({"predict", model, "--data", data, "--sample", "1", "--times", "0.25,0.5", "--out", scratch / "u.npy"});
  const std::vector<float> u = read_numpy(scratch / "u.npy", "").values;
  EXPECT_EQ(read_file(scratch / "u.pvd", "reading"),
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
            "<Collection>\n<DataSet timestep=\"0.25\" group=\"\" part=\"0\" file=\"u-t000.vtu\"/>\n"
            "<DataSet timestep=\"0.5\" group=\"\" part=\"0\" file=\"u-t001.vtu\"/>\n</Collection>\n</VTKFile>\n");
  EXPECT_FALSE(std::filesystem::exists(scratch / "u.vtu"));
  const auto known = scratch / "u-t001.vtu", unknown = scratch / "u-t000.vtu";
  EXPECT_EQ(vtk_array<std::int64_t>(known, "connectivity"), triangles());
  EXPECT_EQ(vtk_array<std::int64_t>(known, "offsets"), (std::vector<std::int64_t>{3, 6, 9, 12, 15}));
  EXPECT_EQ(vtk_array<std::uint8_t>(known, "types"), std::vector<std::uint8_t>(kTriangles, 5));
  EXPECT_EQ(vtk_array<float>(known, "a0"), truth.input);
  for (std::size_t c = 0; c < 2; ++c) {
    const std::vector<float> predicted = channel_of(part(u, 1, kState), c),
                             wanted = channel_of(part(truth.output, 1, kState), c);  // frame 1 is at 0.5
    EXPECT_EQ(vtk_array<float>(known, fmt::format("u{}", c)), predicted);
    EXPECT_EQ(vtk_array<float>(known, fmt::format("u{}_truth", c)), wanted);
    const std::vector<float> error = vtk_array<float>(known, fmt::format("u{}_error", c));
    ASSERT_EQ(error.size(), wanted.size());
    for (std::size_t i = 0; i < error.size(); ++i) EXPECT_EQ(error[i], predicted[i] - wanted[i]);
    EXPECT_EQ(vtk_array<float>(unknown, fmt::format("u{}", c)), channel_of(part(u, 0, kState), c));
    EXPECT_TRUE(vtk_array<float>(unknown, fmt::format("u{}_truth", c)).empty());
  }
  // The cells go into datasets too.
  expect_good({"predict", model, "--data", data, "--out", scratch / "u.h5"});
  EXPECT_EQ(DatasetReader(scratch / "u.h5").read_cells(1), triangles());
}

TEST(PredictStates, ASeriesOfEachSample) {
  const test::Scratch scratch;
  const std::string model = scratch / "model.safetensors", data = scratch / "cloud.h5";
  make_cloud(data, make_model(model, Geometry::points, Task::autoregressive, 1).set);
  expect_good({"predict", model, "--data", data, "--steps", "3", "--out", scratch / "r & r.pvd"});
  const std::string series = read_file(scratch / "r & r-0001.pvd", "reading");
  EXPECT_NE(series.find("timestep=\"1.5\" group=\"\" part=\"0\" file=\"r &amp; r-0001-t003.vtu\""), std::string::npos)
      << series;
  const Samples truth = DatasetReader(data).read(std::vector<std::int64_t>{1});
  EXPECT_EQ(vtk_array<float>(scratch / "r & r-0001-t002.vtu", "u1_truth"),
            channel_of(part(truth.output, 2, kState), 1));
  EXPECT_EQ(vtk_array<float>(scratch / "r & r-0001-t000.vtu", "u1_error"), std::vector<float>(kPoints, 0.0f));
  EXPECT_TRUE(vtk_array<float>(scratch / "r & r-0001-t003.vtu", "u1_truth").empty());  // the dataset has three frames
  EXPECT_FALSE(vtk_array<float>(scratch / "r & r-0000-t003.vtu", "u1").empty());
}

TEST(PredictStates, CellsOfAnArray) {
  const test::Scratch scratch;
  const std::string model = scratch / "model.safetensors";
  make_model(model, Geometry::points, Task::steady, 1);
  const std::vector<std::int64_t> corners = triangles();
  write_npy(scratch / "cells.npy", {kTriangles, 3}, std::vector<float>(corners.begin(), corners.end()));
  write_npy(scratch / "x.npy", {kPoints, 2}, test::uniform(kState, 5));
  write_npy(scratch / "a.npy", {kPoints}, test::uniform(kPoints, 6));
  expect_good({"predict", model, "--input", scratch / "a.npy", "--coords", scratch / "x.npy", "--cells",
               scratch / "cells.npy", "--out", scratch / "u.vtu"});
  // The same with one array per coordinate.
  const std::vector<float> places = test::uniform(kState, 5);
  write_npy(scratch / "x0.npy", {kPoints}, channel_of(places, 0));
  write_npy(scratch / "x1.npy", {kPoints}, channel_of(places, 1));
  expect_good({"predict", model, "--input", scratch / "a.npy", "--coords", scratch / "x0.npy", "--coords",
               scratch / "x1.npy", "--cells", scratch / "cells.npy", "--out", scratch / "v.vtu"});
  EXPECT_EQ(read_file(scratch / "v.vtu", "reading"), read_file(scratch / "u.vtu", "reading"));
  EXPECT_EQ(vtk_array<std::int64_t>(scratch / "u.vtu", "connectivity"), corners);
  EXPECT_TRUE(vtk_array<float>(scratch / "u.vtu", "u0_truth").empty());
  EXPECT_FALSE(std::filesystem::exists(scratch / "u.pvd"));
}

TEST(PredictStates, EveryMistakeIsASentenceAndLeavesNoFile) {
  const test::Scratch scratch;
  const std::string stepping = scratch / "stepping.safetensors", alone = scratch / "alone.safetensors",
                    timed = scratch / "timed.safetensors", steady = scratch / "steady.safetensors",
                    cloud = scratch / "cloud.safetensors", state = scratch / "state.npy", one = scratch / "one.npy",
                    bad = scratch / "nan.npy", odd = scratch / "odd.npy", out = scratch / "u.npy";
  make_model(stepping, Geometry::grid, Task::autoregressive, 1);
  make_model(alone, Geometry::grid, Task::autoregressive, 0);
  make_model(timed, Geometry::grid, Task::time_conditional, 1);
  make_model(steady, Geometry::grid, Task::steady, 1);
  make_model(cloud, Geometry::points, Task::autoregressive, 0);
  std::vector<float> values = test::uniform(kState, 1);
  write_npy(state, {7, 6, 2}, values);
  write_npy(one, {7, 6}, test::uniform(kPoints, 1));
  write_npy(odd, {6, 7, 2}, values);
  write_npy(scratch / "three.npy", {3, 7, 6}, test::uniform(3 * kPoints, 1));
  write_npy(scratch / "two.npy", {2, 7, 6, 2}, test::uniform(2 * kState, 1));
  write_npy(scratch / "cells.npy", {2, 3}, std::vector<float>{0, 1, 2, 3, 4, 42});
  write_npy(scratch / "x.npy", {kPoints, 2}, values);
  write_npy(scratch / "flat.npy", {kPoints, 2}, values);
  values[7] = std::nanf("");
  write_npy(bad, {7, 6, 2}, values);
  struct Mistake {
    int code;
    std::string sentence;
    Words words;
  };
  const std::vector<Mistake> mistakes{
      {2, "a steady model has one prediction: leave out --steps", {steady, "--input", one, "--steps", "3"}},
      {2, "give --times instead of --steps", {timed, "--input", one, "--steps", "3"}},
      {2, "this model is not conditioned on time", {steady, "--input", one, "--times", "0:1:0.1"}},
      {2, "give --steps instead of --times", {alone, "--input", state, "--times", "0:1:0.1"}},
      {2, "with --input instead of --state", {steady, "--input", one, "--state", state}},
      {2, "--input alone is not enough, since this model steps in time", {stepping, "--input", one, "--steps", "3"}},
      {2,
       "--state alone is not enough, since this model has input fields",
       {stepping, "--state", state, "--steps", "3"}},
      {2, "no input fields besides its state", {alone, "--state", state, "--input", state, "--steps", "3"}},
      {2, "at least one step", {alone, "--state", state, "--steps", "0"}},
      {2, "fewer than 1000000 steps", {alone, "--state", state, "--steps", "10000000"}},
      {2, "--steps: -3 is too small", {alone, "--state", state, "--steps", "-3"}},
      {2, "a step above 0", {timed, "--input", one, "--times", "0:1:0"}},
      {2, "a step above 0", {timed, "--input", one, "--times", "1:0:0.1"}},
      {2, "at most 1000000 times", {timed, "--input", one, "--times", "0:1:1e-7"}},
      {2, "at most 1000000 times", {timed, "--input", one, "--times", "0:1e300:1e-300"}},
      {2, "times that rise", {timed, "--input", one, "--times", "0.5,0.1"}},
      {2, "times that rise", {timed, "--input", one, "--times", "1e18:1000000000000000100:1"}},
      {2, "such as 0:1:0.1", {timed, "--input", one, "--times", "0:1"}},
      {2, "such as 0:1:0.1", {timed, "--input", one, "--times", "soon"}},
      {2, "such as 0:1:0.1", {timed, "--input", one, "--times", "0,nan"}},
      {2, "such as 0:1:0.1", {timed, "--input", one, "--times", "0,,1"}},
      {1, "an array [2 axes, 2 numbers per point]", {alone, "--state", one, "--steps", "3"}},
      {1, "an array [2 axes, 2 numbers per point]", {alone, "--state", scratch / "flat.npy", "--steps", "3"}},
      {2, "the training grid [7, 6] or --coords", {alone, "--state", odd, "--steps", "3"}},
      {1, "finite numbers, found nan at value 7", {alone, "--state", bad, "--steps", "3"}},
      {1, "nothing at that path", {alone, "--state", scratch / "none.npy", "--steps", "3"}},
      {2, "FILE:NAME", {alone, "--state", "state", "--steps", "3"}},
      {1,
       "1 or 3 samples on points of shape [7, 6]",
       {stepping, "--input", scratch / "three.npy", "--state", scratch / "two.npy", "--steps", "3"}},
      {2, "--coords", {cloud, "--state", scratch / "flat.npy", "--steps", "3"}},
      {1,
       "whole numbers from 0 to 41",
       {cloud, "--state", scratch / "flat.npy", "--coords", scratch / "x.npy", "--cells", scratch / "cells.npy",
        "--steps", "3"}},
      {2, "needs no --cells", {alone, "--state", state, "--cells", scratch / "cells.npy", "--steps", "3"}},
      {2, "no input is given", {alone, "--steps", "3"}},
      {2, "--data does not go with", {alone, "--state", state, "--data", scratch / "none.h5", "--steps", "3"}},
      {1, "of memory", {alone, "--state", scratch / "many.npy", "--steps", "900000"}}};
  write_npy(scratch / "many.npy", {40000, 7, 6, 2}, std::vector<float>(40000 * kState));
  const std::size_t files = scratch.files();
  for (const Mistake& mistake : mistakes) {
    Words words{"predict"};
    words.insert(words.end(), mistake.words.begin(), mistake.words.end());
    words.insert(words.end(), {"--out", out});
    const Said said = lano(words);
    EXPECT_EQ(said.code, mistake.code) << said.text;
    EXPECT_NE(said.text.find(mistake.sentence), std::string::npos) << mistake.sentence << "\n" << said.text;
    EXPECT_EQ(scratch.files(), files) << said.text;
  }
  // What the files cannot hold, and files that exist, are found before the model computes.
  const Words cloud_words{"predict", cloud, "--state", scratch / "flat.npy", "--coords", scratch / "x.npy", "--steps"};
  const auto with = [&](const std::string& steps, const std::string& to) {
    Words words = cloud_words;
    words.insert(words.end(), {steps, "--out", to});
    return lano(words);
  };
  EXPECT_NE(with("3", scratch / "u.vts").text.find("write .vtu"), std::string::npos);
  EXPECT_NE(with("100001", scratch / "u.vtu").text.find("at most 100000 files"), std::string::npos);
  EXPECT_EQ(scratch.files(), files);
  write_file_atomically(scratch / "u-t002.vtu", "mine");
  EXPECT_EQ(with("3", scratch / "u.vtu").code, 1);
  EXPECT_EQ(scratch.files(), files + 1);
}

}  // namespace
}  // namespace lano::predict_states_test
