// Meshes that differ by little from sample to sample, in a large domain: what moves the points is the input.
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "data/dataset.h"
#include "scratch.h"
#include "train/trainer.h"

namespace lano::displacement_test {
namespace {

// Points of a 9x7 mesh over 100 lengths, moved by amount * sin of their place; u is how far they were moved, and a
// field of the size `common` that is the same in all samples.
std::string moved_meshes(const test::Scratch& scratch, bool shared, double common = 0) {
  SetDescription set;
  set.name = "moved";
  set.geometry = Geometry::mesh;
  set.shape = {9, 7};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 100, 0, 100};
  set.generator = "{}";
  std::vector<Split> splits(48, Split::train);
  std::fill(splits.end() - 16, splits.end() - 8, Split::validation);
  std::fill(splits.end() - 8, splits.end(), Split::test);
  const auto mesh = [&](double amount, std::vector<float>& u) {
    std::vector<float> x;
    for (int i = 0; i < 9; ++i) {
      for (int j = 0; j < 7; ++j) {
        const double by = amount * std::sin(0.7 * i + 0.4 * j);
        x.insert(x.end(), {static_cast<float>(12.5 * i), static_cast<float>(16.0 * j + by)});
        u.push_back(static_cast<float>(by + common * std::cos(0.9 * i * j)));
      }
    }
    return x;
  };
  std::vector<float> ignored;
  const std::string path = (scratch / (shared ? "shared.h5" : "moved.h5")).string();
  DatasetWriter writer(path, set, splits, shared ? mesh(0, ignored) : std::vector<float>{});
  RandomStream stream(4, Purpose::test);
  for (std::size_t s = 0; s < splits.size(); ++s) {
    std::vector<float> u;
    const std::vector<float> x = mesh((s % 2 == 0 ? 0.05 : -0.05) * (1 + stream.uniform()), u);
    writer.write(static_cast<std::int64_t>(s), shared ? std::span<const float>() : std::span<const float>(x), {}, u);
  }
  writer.commit();
  return path;
}

TrainConfig recipe(const std::string& data, bool displacement) {
  TrainConfig config;
  config.data = data;
  config.lano.layers = 1;
  config.lano.heads = 2;
  config.lano.width = 8;
  config.lano.agents = 4;
  config.epochs = 20;
  config.batch = 2;
  config.clip = 1;
  config.schedule.learning_rate = 1e-2;
  config.coordinates = Scaling::channel;
  config.displacement = displacement;
  return config;
}

TEST(Displacement, ShowsWhatTheSizeOfTheDomainHides) {
  const test::Scratch scratch;
  const std::string data = moved_meshes(scratch, false);
  const double without = train(recipe(data, false), scratch / "without").validation_l2,
               with = train(recipe(data, true), scratch / "with").validation_l2;
  EXPECT_GT(without, 0.5);  // the mean field has 1
  EXPECT_LT(with, 0.1);
}

// The same meshes with output that all samples share but for a thousandth: a network that gives the whole field is no
// better than its mean.
TEST(MeanOutput, LeavesTheDifferenceToTheNetwork) {
  const test::Scratch scratch;
  const std::string data = moved_meshes(scratch, false, 50);
  TrainConfig plain = recipe(data, true), difference = plain;
  difference.output = Scaling::field;
  const double whole = train(plain, scratch / "whole").validation_l2,
               only = train(difference, scratch / "difference").validation_l2;
  EXPECT_LT(only, 1e-4);
  EXPECT_GT(whole, 5 * only);
  TrainConfig stepping = difference;
  stepping.lano.task = Task::autoregressive;
  EXPECT_ERROR_WITH(check_train_config(stepping), "step in time");
}

TEST(Displacement, NeedsMeshesOfTheirOwn) {
  const test::Scratch scratch;
  EXPECT_ERROR_WITH(train(recipe(moved_meshes(scratch, true), true), scratch / "run"), "one mesh for all samples");
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
}

}  // namespace
}  // namespace lano::displacement_test
