// Models whose input has the displacement from the mean mesh: they give what a model gives whose user computes it.
#include <gtest/gtest.h>

#include "random_model.h"
#include "runtime/operator.h"
#include "scratch.h"

namespace lano::displacement_test {
namespace {

const Shape kMesh{6, 5};

LanoConfig small(Task task) {
  LanoConfig c;
  c.layers = 2;
  c.heads = 2;
  c.width = 8;
  c.agents = 4;
  c.task = task;
  return c;
}

SetDescription set_of(Task task, std::int64_t inputs) {
  SetDescription set = test::set_of(Geometry::mesh, kMesh, 2, inputs, 2);
  if (task != Task::steady) set.time = {0, 1, 2};
  return set;
}

MeanField mean_mesh() {
  std::vector<float> points = test::grid_points(kMesh);
  for (float& x : points) x = 2 * x - 1;
  return {kMesh, points, {0.25, 0.5}};
}

TEST(Displacement, IsTheInputAUserWouldGive) {
  for (const Task task : {Task::steady, Task::autoregressive, Task::time_conditional}) {
    const ModelFile with = test::random_model(small(task), set_of(task, 1), {}, {}, mean_mesh());
    ModelFile by_hand = with;
    by_hand.set = set_of(task, 3);
    by_hand.normaliser.mean_mesh = {};
    by_hand.normaliser.input =
        ChannelMap({with.normaliser.input.shift()[0], 0, 0}, {with.normaliser.input.scale()[0], 0.25, 0.5});
    const Operator one(with), other(by_hand);
    const std::vector<float> x = test::uniform(60, 5), a = test::uniform(30, 6), state = test::uniform(60, 7);
    std::vector<float> fields;
    for (std::size_t p = 0; p < 30; ++p) {
      fields.push_back(a[p]);
      for (std::size_t c = 0; c < 2; ++c) fields.push_back(x[2 * p + c] - mean_mesh().values()[2 * p + c]);
    }
    Operator::Call call;
    if (task == Task::autoregressive) call.state = state;
    call.time = 1.5;
    const std::vector<float> found = one.predict(x, a, call), truth = other.predict(x, fields, call);
    float largest = 0;
    for (const float value : truth) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(found[i], truth[i], 1e-5 * largest);
  }
}

MeanField mean_output() { return {kMesh, test::uniform(60, 8, 30), {1.5, 2}}; }

TEST(MeanOutput, IsAddedToTheAnswer) {
  for (const Task task : {Task::steady, Task::time_conditional}) {
    ModelFile with = test::random_model(small(task), set_of(task, 1));
    with.normaliser.output = ChannelMap({0, 0}, {1.5, 2});
    const Operator plain(with);
    with.normaliser.mean_output = mean_output();
    const Operator based(parse_model_file(format_model_file(with), "reading"));
    const std::vector<float> x = test::uniform(60, 5), a = test::uniform(30, 6);
    const std::vector<float> found = based.predict(x, a), difference = plain.predict(x, a);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], difference[i] + mean_output().values()[i], 1e-5) << i;
    // On a finer mesh it is that field between its points.
    Operator::Call call;
    call.mesh = {11, 9};
    const std::vector<float> fine = test::uniform(2 * 99, 9), b = test::uniform(99, 10);
    const std::vector<float> there = based.predict(fine, b, call), moved = plain.predict(fine, b, call),
                             base = mean_output().resampled(call.mesh);
    for (std::size_t i = 0; i < there.size(); ++i) EXPECT_NEAR(there[i], moved[i] + base[i], 1e-5) << i;
  }
  ModelFile stepping = test::random_model(small(Task::autoregressive), set_of(Task::autoregressive, 1));
  stepping.normaliser.mean_output = mean_output();
  EXPECT_ERROR_WITH(parse_model_file(format_model_file(stepping), "reading"), "has a mean output, but steps in time");
}

// Every second and every third point of a mesh of 12 x 8: evaluated zero-shot on the second with the input of the
// first, an operator whose outputs are constant, or linear in the whole mesh's indices, is exact.
TEST(MeanOutput, ZeroShotOnStridedMeshesIsExactForConstantAndLinearFields) {
  const Shape whole{12, 8};
  const auto mesh_of = [&](std::int64_t stride) { return Shape{11 / stride + 1, 7 / stride + 1}; };
  const auto linear_field = [&](std::int64_t stride) {
    std::vector<float> field;
    for (std::int64_t i = 0; i < 12; i += stride) {
      for (std::int64_t j = 0; j < 8; j += stride) {
        field.push_back(4);
        field.push_back(static_cast<float>(1 + 0.5 * static_cast<double>(i) - 0.25 * static_cast<double>(j)));
      }
    }
    return field;
  };
  SetDescription set = test::set_of(Geometry::mesh, mesh_of(2), 2, 1, 2);
  set.span = strided_span(whole, {}, 2);
  const MeanField mean(mesh_of(2), linear_field(2), {1.5, 2});
  ModelFile file = test::random_model(small(Task::steady), set, {}, {}, mean, mean);
  for (float& value : file.weights.at("decoder.weight").values) value = 0;
  for (float& value : file.weights.at("decoder.bias").values) value = 0;
  file.normaliser.output = ChannelMap({0, 0}, {1.5, 2});
  const Operator op(parse_model_file(format_model_file(file), "reading"));
  EXPECT_EQ(op.set().span, (std::vector<double>{10.0 / 11, 6.0 / 7}));
  for (const std::int64_t stride : {1, 2, 3}) {
    const std::vector<float> truth = linear_field(stride);
    Operator::Call call;
    call.mesh = mesh_of(stride);
    call.span = strided_span(whole, {}, stride);
    if (call.span.empty()) call.span = {1, 1};
    const std::vector<float> found = op.predict(truth, test::uniform(truth.size() / 2, 6), call);
    for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(found[i], truth[i], 1e-5) << stride << " " << i;
  }
  // Without its span the third mesh would be taken for one that ends where the whole does.
  Operator::Call blind;
  blind.mesh = mesh_of(3);
  const std::vector<float> field = linear_field(3), found = op.predict(field, test::uniform(12, 6), blind);
  EXPECT_GT(std::abs(found.back() - field.back()), 0.1f);
}

TEST(Displacement, TheFileKeepsTheMeanMesh) {
  const test::Scratch scratch;
  const ModelFile file = test::random_model(small(Task::steady), set_of(Task::steady, 1), {}, {}, mean_mesh());
  write_model_file(scratch / "model.safetensors", file);
  const ModelFile again = read_model_file(scratch / "model.safetensors");
  EXPECT_EQ(again.normaliser.mean_mesh.values(), mean_mesh().values());
  EXPECT_EQ(again.normaliser.mean_mesh.scale(), mean_mesh().scale());
  EXPECT_EQ(again.parameter_count(), file.parameter_count());
  const std::vector<float> x = test::uniform(60, 5), a = test::uniform(30, 6);
  EXPECT_EQ(Operator(again).predict(x, a), Operator(file).predict(x, a));
}

TEST(Displacement, DamagedFilesAreRefused) {
  const ModelFile file = test::random_model(small(Task::steady), set_of(Task::steady, 1), {}, {}, mean_mesh());
  const auto reading = [](const ModelFile& damaged) {
    return test::error_of([&] { Operator(parse_model_file(format_model_file(damaged), "reading")); });
  };
  EXPECT_EQ(reading(file), "no error");
  ModelFile other = file;
  other.normaliser.mean_mesh = {};  // an architecture with channels that nothing fills
  EXPECT_NE(reading(other).find("the architecture has other channels than the fields"), std::string::npos)
      << reading(other);
  other = file;
  other.normaliser.mean_mesh = MeanField(kMesh, mean_mesh().values(), {1, 0});
  EXPECT_NE(reading(other).find("displacements must be above 0"), std::string::npos) << reading(other);
  other = file;
  other.set.geometry = Geometry::points;
  EXPECT_NE(reading(other).find("a mean field is missing"), std::string::npos) << reading(other);
}

}  // namespace
}  // namespace lano::displacement_test
