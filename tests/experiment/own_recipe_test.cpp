// The automatic recipe, on datasets of every shape: it must fit, end in time and respect what was given.
#include "experiment/own_recipe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "data/dataset.h"
#include "scratch.h"
#include "train/trainer.h"

namespace lano::own_recipe_test {
namespace {

using test::Scratch;

struct Made {
  Geometry geometry = Geometry::grid;
  Shape shape;
  std::int64_t dims = 2, inputs = 1, outputs = 1, samples = 40, validation = 8;
  std::int64_t frames = 0;
  double second_scale = 1;  // of the second output channel
};

// u = smooth function of x and of one random number per sample.
void make_set(const std::filesystem::path& path, const Made& made) {
  SetDescription set;
  set.name = "made up";
  set.geometry = made.geometry;
  set.shape = made.shape;
  for (std::int64_t a = 0; a < made.dims; ++a) {
    set.coordinates.push_back({"x" + std::to_string(a), "1"});
    set.box.insert(set.box.end(), {0.0, 1.0});
  }
  for (std::int64_t c = 0; c < made.inputs; ++c) set.input.push_back({"a" + std::to_string(c), "1"});
  for (std::int64_t c = 0; c < made.outputs; ++c) set.output.push_back({"u" + std::to_string(c), "1"});
  for (std::int64_t t = 0; t < made.frames; ++t) set.time.push_back(0.1 * static_cast<double>(t));
  const std::int64_t points = set.points(), frames = std::max<std::int64_t>(1, made.frames);
  std::vector<float> x;
  RandomStream stream(5, Purpose::test);
  for (std::int64_t i = 0; i < points; ++i) {
    std::int64_t rest = i;
    std::vector<float> place(static_cast<std::size_t>(made.dims));
    for (std::size_t a = place.size(); a-- > 0;) {
      const bool on_axis = made.geometry != Geometry::points && a < made.shape.size();
      const std::int64_t n = on_axis ? made.shape[a] : 1;
      place[a] = on_axis ? static_cast<float>(rest % n) / static_cast<float>(std::max<std::int64_t>(1, n - 1))
                         : static_cast<float>(stream.uniform());
      rest /= n;
    }
    x.insert(x.end(), place.begin(), place.end());
  }
  std::vector<Split> splits(static_cast<std::size_t>(made.samples), Split::train);
  for (std::int64_t s = 0; s < made.validation; ++s) splits[static_cast<std::size_t>(s)] = Split::validation;
  DatasetWriter writer(path, set, splits, x);
  for (std::int64_t s = 0; s < made.samples; ++s) {
    const double amount = 1 + stream.uniform();
    const std::vector<float> input(static_cast<std::size_t>(points * made.inputs), static_cast<float>(amount));
    std::vector<float> output;
    for (std::int64_t t = 0; t < frames; ++t) {
      for (std::int64_t i = 0; i < points; ++i) {
        for (std::int64_t c = 0; c < made.outputs; ++c) {
          const double place = x[static_cast<std::size_t>(i * made.dims)];
          const double u = amount * std::sin(3 * place + 0.2 * static_cast<double>(t));
          output.push_back(static_cast<float>(c == 1 ? made.second_scale * u : u));
        }
      }
    }
    writer.write(s, {}, input, output);
  }
  writer.commit();
}

// Every shape gets a recipe that trains: the first epochs of it are run.
void expect_trains(const Made& made, const std::vector<std::string>& overrides = {}) {
  SCOPED_TRACE(shape_text(made.shape));
  const Scratch scratch;
  make_set(scratch / "set.h5", made);
  const OwnRecipe own = own_recipe((scratch / "set.h5").string(), overrides, 0.02, scratch / "timing");
  EXPECT_FALSE(std::filesystem::exists(scratch / "timing"));
  ASSERT_EQ(own.because.size(), 3u);
  TrainConfig config = own.config;
  config.epochs = 2;
  EXPECT_TRUE(std::isfinite(train(config, scratch / "run").validation_l2) || made.validation == 0);
}

TEST(OwnRecipe, EveryShapeTrains) {
  expect_trains({.shape = {16, 12}});
  expect_trains({.shape = {50}, .dims = 1});
  expect_trains({.shape = {3, 200}});              // long and thin
  expect_trains({.shape = {6, 5, 7}, .dims = 3});  // in space
  expect_trains({.shape = {2, 2}});                // next to nothing
  expect_trains({.geometry = Geometry::mesh, .shape = {9, 14}, .inputs = 0});
  expect_trains({.geometry = Geometry::points, .shape = {70}, .inputs = 0});
  expect_trains({.geometry = Geometry::points, .shape = {5}, .dims = 3, .inputs = 2, .outputs = 3});
  expect_trains({.shape = {16, 12}, .samples = 3, .validation = 1});  // a tiny dataset
  expect_trains({.shape = {16, 12}, .validation = 0});
}

TEST(OwnRecipe, TimesAreSteppedOrAFunctionOfTime) {
  expect_trains({.shape = {10, 10}, .inputs = 0, .frames = 5});
  expect_trains({.shape = {10, 10}, .inputs = 2, .frames = 5});
  const Scratch scratch;
  make_set(scratch / "states.h5", {.shape = {10, 10}, .inputs = 0, .frames = 5});
  make_set(scratch / "driven.h5", {.shape = {10, 10}, .inputs = 2, .frames = 5});
  const auto task = [&](const char* name) {
    return recipe_of_size(data_facts((scratch / name).string()), own_sizes().front()).lano.task;
  };
  EXPECT_EQ(task("states.h5"), Task::autoregressive);
  EXPECT_EQ(task("driven.h5"), Task::time_conditional);
}

// Inputs that drive a whole history: all its times at once, unless there are too many or the user says otherwise.
TEST(OwnRecipe, AllTimesAtOnceWhereInputsDriveThem) {
  const Scratch scratch;
  make_set(scratch / "driven.h5", {.shape = {10, 10}, .inputs = 3, .outputs = 2, .frames = 5, .second_scale = 1e-6});
  make_set(scratch / "long.h5", {.shape = {4, 4}, .inputs = 2, .frames = 300});
  const auto own = [&](const char* name, std::vector<std::string> said) {
    said.push_back("train.epochs=1");
    return own_recipe((scratch / name).string(), said, 1, scratch / "timing");
  };
  const OwnRecipe chosen = own("driven.h5", {});
  EXPECT_EQ(chosen.config.times, Times::channels);
  EXPECT_EQ(chosen.config.lano.task, Task::steady);
  EXPECT_NE(chosen.because[0].find("samples of 5 frames, 3 input and 2 output channels"), std::string::npos);
  EXPECT_NE(chosen.because[1].find(", all 5 times at once"), std::string::npos);
  // A field weighs the same at all times.
  ASSERT_EQ(chosen.config.loss.channel_weights.size(), 10u);
  EXPECT_EQ(chosen.config.loss.channel_weights[0], chosen.config.loss.channel_weights[8]);
  EXPECT_NEAR(chosen.config.loss.channel_weights[1] / chosen.config.loss.channel_weights[0], 1e12, 1e7);
  EXPECT_EQ(own("long.h5", {}).config.lano.task, Task::time_conditional);
  const TrainConfig asked = own("driven.h5", {"model.task=time_conditional"}).config;
  EXPECT_EQ(asked.lano.task, Task::time_conditional);
  EXPECT_EQ(asked.times, Times::frames);
  EXPECT_EQ(own("driven.h5", {"data.times=frames"}).config.lano.task, Task::time_conditional);
  EXPECT_EQ(own("long.h5", {"data.times=channels"}).config.times, Times::channels);
}

// The given task decides what follows from it; an impossible one is refused with the possible ones.
TEST(OwnRecipe, TheTaskMayBeSaid) {
  const Scratch scratch;
  make_set(scratch / "states.h5", {.shape = {10, 10}, .inputs = 0, .frames = 5});
  make_set(scratch / "steady.h5", {.shape = {10, 10}});
  const auto recipe = [&](const char* name, const char* task) {
    return own_recipe((scratch / name).string(), {"train.epochs=1", std::string("model.task=") + task}, 1,
                      scratch / "timing")
        .config;
  };
  EXPECT_TRUE(recipe("states.h5", "autoregressive").increments);
  const TrainConfig function = recipe("states.h5", "time_conditional");
  EXPECT_EQ(function.lano.task, Task::time_conditional);
  EXPECT_FALSE(function.increments);
  EXPECT_ERROR_WITH(recipe("states.h5", "steady"), "found 'made up' with output at 5 times; set model.task to auto");
  EXPECT_ERROR_WITH(recipe("steady.h5", "autoregressive"), "set model.task to steady");
}

TEST(OwnRecipe, ChannelsOfOtherUnitsWeighAlike) {
  const Scratch scratch;
  make_set(scratch / "set.h5", {.shape = {10, 10}, .outputs = 2, .second_scale = 1e-6});
  const TrainConfig config = recipe_of_size(data_facts((scratch / "set.h5").string()), own_sizes().front());
  ASSERT_EQ(config.loss.channel_weights.size(), 2u);
  EXPECT_NEAR(config.loss.channel_weights[1] / config.loss.channel_weights[0], 1e12, 1e7);
  make_set(scratch / "alike.h5", {.shape = {10, 10}, .outputs = 2, .second_scale = 0.5});
  EXPECT_TRUE(
      recipe_of_size(data_facts((scratch / "alike.h5").string()), own_sizes().front()).loss.channel_weights.empty());
}

TEST(OwnRecipe, MoreMinutesBuyALargerModelOrMoreEpochs) {
  const Scratch scratch;
  make_set(scratch / "set.h5", {.shape = {24, 24}, .samples = 200});
  const auto steps = [&](double minutes) {
    const OwnRecipe own = own_recipe((scratch / "set.h5").string(), {}, minutes, scratch / "timing");
    const TrainConfig& c = own.config;
    EXPECT_LE(c.epochs, 400);
    return std::pair(c.lano.layers * c.lano.width * c.lano.width,
                     c.epochs * (c.epoch_samples > 0 ? c.epoch_samples : 192));
  };
  const auto few = steps(0.02), many = steps(3);
  EXPECT_GE(many.first, few.first);
  EXPECT_GT(many.first * many.second, few.first * few.second);
}

TEST(OwnRecipe, WhatIsSaidHolds) {
  const Scratch scratch;
  make_set(scratch / "set.h5", {.shape = {16, 16}});
  const OwnRecipe own = own_recipe((scratch / "set.h5").string(),
                                   {"model.width=40", "model.heads=5", "train.epochs=7", "optimiser.kind=adamw"}, 0.02,
                                   scratch / "timing");
  EXPECT_EQ(own.config.lano.width, 40);
  EXPECT_EQ(own.config.epochs, 7);
  EXPECT_EQ(own.config.optimiser.kind, OptimiserKind::adamw);
  EXPECT_EQ(own.config.data, (scratch / "set.h5").string());
}

}  // namespace
}  // namespace lano::own_recipe_test
