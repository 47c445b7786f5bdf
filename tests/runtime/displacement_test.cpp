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
  c.layers = 2, c.heads = 2, c.width = 8, c.agents = 4;
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
  EXPECT_ERROR_WITH(parse_model_file(format_model_file(stepping), "reading"), "do not step in time");
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
  EXPECT_NE(reading(other).find("channels of its fields"), std::string::npos) << reading(other);
  other = file;
  other.normaliser.mean_mesh = MeanField(kMesh, mean_mesh().values(), {1, 0});
  EXPECT_NE(reading(other).find("displacements above 0"), std::string::npos) << reading(other);
  other = file;
  other.set.geometry = Geometry::points;
  EXPECT_NE(reading(other).find("mean fields"), std::string::npos) << reading(other);
}

}  // namespace
}  // namespace lano::displacement_test
