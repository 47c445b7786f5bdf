// A LANO trained on plain memory follows the same training by LibTorch's autograd: the gradients of a lesson, and the
// loss curves of fifty steps; steady, time-conditional, rolled out, with dropout, on packed clouds.
#include <gtest/gtest.h>

#include "libtorch/plain_batches.h"
#include "libtorch/torch_loss.h"
#include "libtorch/torch_trainable.h"
#include "train/optimiser.h"

namespace lano::engine_test {
namespace {

using namespace test;

struct Taught {
  std::string name;
  TrainConfig config;
  SetDescription set;
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<double>> weights;
};

void PrintTo(const Taught& t, std::ostream* out) { *out << t.name; }

std::vector<Taught> lessons() {
  TrainConfig config;
  config.lano.layers = 3;
  config.lano.width = 32;
  config.lano.heads = 4;
  config.lano.agents = 16;
  const auto grid = described(Geometry::grid, {21, 19}, 2, 1, 1);
  auto timed = described(Geometry::grid, {11, 13}, 2, 1, 2);
  timed.time = {0, 0.25, 0.5, 0.75};
  std::vector<Taught> all;
  const auto add = [&](const std::string& name, const SetDescription& set, std::vector<std::int64_t> sizes,
                       auto change) {
    all.push_back({name, config, set, std::move(sizes), {}});
    change(all.back());
  };
  const std::int64_t n = 21 * 19, few = 11 * 13;
  add("steady", grid, {n, n, n, n}, [](Taught&) {});
  add("steady_with_gradient", grid, {n, n}, [](Taught& t) { t.config.loss.gradient_weight = 0.1; });
  add("steady_with_gradient_of_axes", grid, {n, n}, [](Taught& t) {
    t.config.loss.gradient_weight = 0.1;
    t.config.loss.gradient_kind = GradientKind::axes;
  });
  add("time_conditional", timed, {few, few, few}, [](Taught& t) {
    t.config.lano.task = Task::time_conditional;
    t.config.loss.channel_weights = {2, 0.5};
    t.weights = {{1, 0.5, 2}};
  });
  add("rolled_out", timed, {few, few}, [](Taught& t) {
    t.config.lano.task = Task::autoregressive;
    t.config.rollout = 3;
    t.weights = {{1, 1}, {0.5, 0.5}, {2, 2}};
  });
  add("increments", timed, {few, few}, [](Taught& t) {
    t.config.lano.task = Task::autoregressive;
    t.config.rollout = 2;
    t.config.increments = true;
  });
  add("two_frames", timed, {few, few}, [](Taught& t) {
    t.config.lano.task = Task::autoregressive;
    t.config.lano.state_frames = 2;
    t.config.rollout = 3;
    t.config.increments = true;
  });
  add("mean_output", grid, {n, n}, [](Taught& t) { t.config.output = Scaling::field; });
  add("dropped", grid, {n, n}, [](Taught& t) { t.config.lano.dropout = 0.2; });
  add("packed_clouds", described(Geometry::points, {100}, 2, 1, 1), {100, 31, 140},
      [](Taught& t) { t.config.lano.dropout = 0.1; });
  return all;
}

Objective objective_of(const Taught& t) {
  std::vector<double> shift, scale;
  for (std::size_t c = 0; c < t.set.output.size(); ++c) {
    shift.push_back(0.2 * static_cast<double>(c));
    scale.push_back(1.5 - 0.4 * static_cast<double>(c));
  }
  Objective objective{ChannelMap(shift, scale), t.set.shape, {0.05, 0.05}};
  if (t.config.increments) objective.increment.assign(t.set.output.size(), 0.4);
  for (std::int64_t p = 0; t.config.output == Scaling::field && p < t.set.points(); ++p)
    objective.base.insert(objective.base.end(), t.set.output.size(), 0.01f * static_cast<float>(p % 50));
  return objective;
}

// Something to learn: a smooth field of the place, the input and the step.
Lesson lesson_of(const Taught& t) {
  torch::manual_seed(8);
  Lesson lesson;
  FieldBatch& b = lesson.batch;
  b.sizes = t.sizes;
  b.packed = t.set.geometry == Geometry::points;
  if (!b.packed) b.mesh = t.set.shape;
  const std::int64_t points = b.points();
  b.coordinates = plain(torch::rand({points, 2}));
  b.input = plain(torch::randn({points, t.set.input_channels()}));
  const bool steps = t.config.lano.task == Task::autoregressive;
  if (t.config.lano.task == Task::time_conditional) {
    b.times.assign(t.sizes.size(), 0.5);
    b.times[0] = 0.25;
  }
  for (std::int64_t k = 0; k < (steps ? t.config.rollout + std::max<std::int64_t>(1, t.config.lano.state_frames) : 1);
       ++k) {
    lesson.truth.emplace_back();
    for (std::int64_t i = 0; i < points; ++i) {
      const auto at = static_cast<std::size_t>(2 * i);
      const double x = b.coordinates[at], y = b.coordinates[at + 1], a = b.input[static_cast<std::size_t>(i)];
      const double u = std::sin(3 * x + 0.3 * static_cast<double>(k)) + a * std::cos(2 * y);
      for (std::size_t c = 0; c < t.set.output.size(); ++c)
        lesson.truth.back().push_back(static_cast<float>(u + static_cast<double>(c) * x * y));
    }
  }
  lesson.weights = t.weights;
  lesson.step = 4;
  return lesson;
}

class Lessons : public testing::TestWithParam<Taught> {};
INSTANTIATE_TEST_SUITE_P(All, Lessons, testing::ValuesIn(lessons()), [](const auto& each) { return each.param.name; });

TEST_P(Lessons, GradientsAreThoseOfAutograd) {
  const Taught& t = GetParam();
  const nlohmann::json architecture = to_json(t.config.lano, lano_shape(t.config.lano, t.set));
  LanoTrainable fused(architecture, t.config, objective_of(t));
  TorchTrainable composite(architecture, t.config, objective_of(t), torch::kCPU),
      mirrored(architecture, t.config, objective_of(t), torch::kCPU, true);
  torch::manual_seed(3);
  const torch::Tensor larger = 0.3 * torch::randn({static_cast<std::int64_t>(fused.values().size())});
  for (Trainable* each :
       {static_cast<Trainable*>(&fused), static_cast<Trainable*>(&composite), static_cast<Trainable*>(&mirrored)}) {
    ASSERT_EQ(each->values().size(), fused.values().size());
    std::copy(larger.data_ptr<float>(), larger.data_ptr<float>() + larger.numel(), each->values().begin());
  }
  Lesson lesson = lesson_of(t);
  lesson.share = 0.25;
  const double mine = fused.learn(lesson), theirs = composite.learn(lesson);
  EXPECT_NEAR(mine, theirs, 2e-6 * theirs);
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < fused.gradients().size(); ++i) {
    apart += std::pow(static_cast<double>(fused.gradients()[i]) - composite.gradients()[i], 2);
    size += std::pow(static_cast<double>(composite.gradients()[i]), 2);
  }
  EXPECT_GT(size, 0);
  EXPECT_LT(std::sqrt(apart), 2e-5 * std::sqrt(size));
  // Weights on another device are copies: the same work by copies on this one.
  EXPECT_EQ(mirrored.learn(lesson), theirs);
  EXPECT_TRUE(std::equal(mirrored.gradients().begin(), mirrored.gradients().end(), composite.gradients().begin()));
  lesson.first = false;
  composite.learn(lesson);
  mirrored.learn(lesson);
  EXPECT_TRUE(std::equal(mirrored.gradients().begin(), mirrored.gradients().end(), composite.gradients().begin()));
}

// Losses of fifty steps of AdamW on one lesson.
std::vector<double> curve(Trainable& model, Lesson lesson, double rate) {
  Optimiser optimiser(OptimiserConfig{}, model.layout());
  std::vector<double> losses;
  for (std::uint64_t step = 0; step < 50; ++step) {
    lesson.step = step;
    losses.push_back(model.learn(lesson));
    optimiser.step(model.values(), model.gradients(), rate, 0.9);
  }
  return losses;
}

TEST_P(Lessons, FollowsTheCompositeLossCurve) {
  const Taught& t = GetParam();
  const nlohmann::json architecture = to_json(t.config.lano, lano_shape(t.config.lano, t.set));
  LanoTrainable one(architecture, t.config, objective_of(t));
  TorchTrainable other(architecture, t.config, objective_of(t), torch::kCPU);
  const auto fused = curve(one, lesson_of(t), 1e-4), composite = curve(other, lesson_of(t), 1e-4);
  for (std::size_t i = 0; i < fused.size(); ++i)
    EXPECT_NEAR(fused[i], composite[i], 1e-5 * composite[i]) << "step " << i;
  EXPECT_LT(fused.back(), 0.9 * fused.front());  // it does learn
}

// At a rate where roundings grow: against the same training in double by LibTorch.
TEST(Engine, DriftsNoMoreThanTwiceAsFarFromDouble) {
  const Taught t = lessons().front();
  const nlohmann::json architecture = to_json(t.config.lano, lano_shape(t.config.lano, t.set));
  const Lesson lesson = lesson_of(t);
  LanoTrainable one(architecture, t.config, objective_of(t));
  TorchTrainable other(architecture, t.config, objective_of(t), torch::kCPU);
  const auto fused = curve(one, lesson, 1e-3), composite = curve(other, lesson, 1e-3);

  const auto model = make_model(architecture, static_cast<std::uint64_t>(t.config.seed));
  model->to(torch::kFloat64);
  const auto exact_tensor = [&](const std::vector<float>& values) {
    return torch::tensor(values).view({static_cast<std::int64_t>(t.sizes.size()), t.sizes[0], -1}).to(torch::kFloat64);
  };
  Batch batch;
  batch.coordinates = exact_tensor(lesson.batch.coordinates);
  batch.input = exact_tensor(lesson.batch.input);
  batch.mesh = lesson.batch.mesh;
  const TorchLoss loss(t.config.loss, objective_of(t).output, {}, {});
  torch::optim::AdamW optimiser(model->parameters(), torch::optim::AdamWOptions(1e-3).weight_decay(1e-5));
  std::vector<double> exact;
  for (int step = 0; step < 50; ++step) {
    optimiser.zero_grad();
    const torch::Tensor value = loss(model->forward(batch), exact_tensor(lesson.truth[0]), {}, {});
    value.backward();
    optimiser.step();
    exact.push_back(value.item<double>());
  }
  double mine = 0, theirs = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    mine += std::pow(fused[i] / exact[i] - 1, 2);
    theirs += std::pow(composite[i] / exact[i] - 1, 2);
  }
  EXPECT_LE(std::sqrt(mine), 2 * std::sqrt(theirs))
      << "per step " << std::sqrt(mine / 50) << " against " << std::sqrt(theirs / 50);
}

}  // namespace
}  // namespace lano::engine_test
