#include "train/adamw.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/optimiser.h"
#include "train/schedule.h"

namespace lano::adamw_test {
namespace {

struct Step {
  double rate, beta1, p[3];
};

// Printed by PyTorch 1.13 in float64: AdamW(lr=1e-3, weight_decay=1e-2) under OneCycleLR(max_lr=1e-3, total_steps=10,
// pct_start=0.3), from p = (1, -2, 0.5) with gradients (0.1 (i+1), -0.3 + 0.05 i, 0.7 - 0.2 i).
constexpr Step kTrace[] = {
    {3.9999999999999996e-05, 0.95, {0.999959600004, -1.9999592000013333, 0.49995980000057144}},
    {0.0005200000000000001, 0.8999999999999999, {0.9995303857923077, -1.9995671986705974, 0.49959047419754365}},
    {0.001, 0.85, {0.9987309549037542, -1.9989054089178915, 0.49902231948125353}},
    {0.0009504846320134736, 0.854951556604879, {0.9978700527255442, -1.9982226342788976, 0.498517629028935}},
    {0.000811745653949763, 0.8688255099070633, {0.9970631327744505, -1.997610385598505, 0.4981843909641412}},
    {0.0006112620219362892, 0.8888739533021842, {0.99639703550982, -1.9971306017083053, 0.4980543136429415}},
    {0.00038874197806371076, 0.9111260466978157, {0.9959278052458553, -1.9968129833667336, 0.4980651526021987}},
    {0.00018825834605023698, 0.9311744900929366, {0.995674124261776, -1.9966543881537948, 0.49811544650871764}},
    {4.9519367986526286e-05, 0.945048443395121, {0.9956014877352919, -1.9966140023246557, 0.4981389644799607}},
    {4e-09, 0.95, {0.9956014819049063, -1.996613999679282, 0.4981389669268364}},
};

TEST(Schedule, OneCycleIsPyTorchs) {
  const ScheduleConfig config;  // lr 1e-3, pct_start 0.3
  for (std::int64_t i = 0; i < 10; ++i) {
    const ScheduleValue value = schedule_value(config, i, 10);
    EXPECT_NEAR(value.learning_rate, kTrace[i].rate, 1e-15) << i;
    EXPECT_NEAR(value.beta1, kTrace[i].beta1, 1e-12) << i;
  }
}

TEST(Schedule, CosineAndConstant) {
  ScheduleConfig config;
  config.kind = ScheduleKind::cosine;
  EXPECT_DOUBLE_EQ(schedule_value(config, 0, 100).learning_rate, 1e-3);
  EXPECT_NEAR(schedule_value(config, 50, 100).learning_rate, 0.5e-3, 1e-18);
  EXPECT_NEAR(schedule_value(config, 99, 100).learning_rate, 0.5e-3 * (1 + std::cos(M_PI * 0.99)), 1e-18);
  EXPECT_EQ(schedule_value(config, 10, 100).beta1, 0.9);
  config.kind = ScheduleKind::constant;
  EXPECT_EQ(schedule_value(config, 99, 100).learning_rate, 1e-3);
}

TEST(Schedule, WarmUpRisesInALineThenTheCourseTakesTheStepsLeft) {
  ScheduleConfig config;
  config.kind = ScheduleKind::cosine;
  config.warmup = 0.2;
  for (std::int64_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(schedule_value(config, i, 100).learning_rate, 1e-3 * static_cast<double>(i + 1) / 20, 1e-18) << i;
  }
  for (std::int64_t i = 20; i < 100; ++i) {
    const double share = static_cast<double>(i - 20) / 80;
    EXPECT_NEAR(schedule_value(config, i, 100).learning_rate, 0.5e-3 * (1 + std::cos(M_PI * share)), 1e-18) << i;
  }
  config.kind = ScheduleKind::constant;
  EXPECT_NEAR(schedule_value(config, 4, 100).learning_rate, 0.25e-3, 1e-18);
  EXPECT_EQ(schedule_value(config, 20, 100).learning_rate, 1e-3);
}

TEST(Schedule, StepFallsEverySoManyEpochs) {
  ScheduleConfig config;
  config.kind = ScheduleKind::step;
  config.step_epochs = 3;
  config.step_factor = 0.1;
  for (std::int64_t i = 0; i < 50; ++i) {  // five steps per epoch: falls at steps 15, 30, 45
    EXPECT_NEAR(schedule_value(config, i, 50, 5).learning_rate, 1e-3 * std::pow(0.1, static_cast<double>(i / 15)),
                1e-18)
        << i;
  }
}

TEST(Schedule, OneStepAndNoRise) {
  ScheduleConfig config;
  EXPECT_TRUE(std::isfinite(schedule_value(config, 0, 1).learning_rate));
  config.pct_start = 0;
  EXPECT_LE(schedule_value(config, 0, 10).learning_rate, 1e-3);
  EXPECT_GT(schedule_value(config, 0, 10).learning_rate, 0.9e-3);
}

TEST(Adamw, FollowsPyTorchsTrace) {
  OptimiserConfig config;
  config.weight_decay = 1e-2;
  Optimiser adamw(config, {{"p", {3}}});
  std::vector<float> p{1, -2, 0.5f};
  for (int i = 0; i < 10; ++i) {
    const auto t = static_cast<float>(i);
    const std::vector<float> g{0.1f * (t + 1), -0.3f + 0.05f * t, 0.7f - 0.2f * t};
    adamw.step(p, g, kTrace[i].rate, kTrace[i].beta1);
    // Float32 state against float64: a few roundings of p per step.
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(p[k], kTrace[i].p[k], 2e-7 * (i + 1)) << "step " << i;
  }
}

TEST(Adamw, RestoredStateGoesOnToTheBit) {
  Optimiser one({}, {{"p", {4}}});
  std::vector<float> p{1, 2, 3, 4}, g{0.1f, -0.2f, 0.3f, 1e-12f};
  one.step(p, g, 1e-2, 0.9);
  Optimiser two({}, {{"p", {4}}});
  two.restore(one.steps(), one.first_moment(), one.second_moment());
  auto q = p;
  one.step(p, g, 1e-2, 0.9);
  two.step(q, g, 1e-2, 0.9);
  EXPECT_EQ(p, q);
}

// By hand in double: p <- p (1 - lr wd) - lr m^ / (sqrt(v^) + eps), two steps, gradients 0.5 and -0.25.
TEST(Adamw, TwoStepsByHand) {
  OptimiserConfig config;
  config.weight_decay = 0.1;
  const double rate = 0.01, b1 = 0.9, b2 = 0.999;
  double p = 2, m = 0, v = 0;
  Optimiser adamw(config, {{"p", {1}}});
  std::vector<float> q{2};
  int t = 0;
  for (const double g : {0.5, -0.25}) {
    ++t;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    p = p * (1 - rate * 0.1) - rate * (m / (1 - std::pow(b1, t))) / (std::sqrt(v / (1 - std::pow(b2, t))) + 1e-8);
    adamw.step(q, std::vector<float>{static_cast<float>(g)}, rate, b1);
    EXPECT_NEAR(q[0], p, 3e-7) << t;
  }
}

TEST(Adamw, OnlyTheGroupsThatDecayShrink) {
  OptimiserConfig config;
  config.weight_decay = 0.5;
  config.decay = Decay::matrices;
  Optimiser grouped(config, {{"map", {1, 1}}, {"bias", {2}}, {"other map", {1, 1}}});
  std::vector<float> p{1, 1, 1, 1};
  const std::vector<float> none(4);
  grouped.step(p, none, 0.1, 0.9);
  EXPECT_FLOAT_EQ(p[0], 0.95f);
  EXPECT_EQ(p[1], 1);
  EXPECT_EQ(p[2], 1);
  EXPECT_FLOAT_EQ(p[3], 0.95f);
}

TEST(Adamw, ClippingKeepsTheDirection) {
  std::vector<float> g{3, 4};
  EXPECT_DOUBLE_EQ(clip_gradients(g, 1.0), 5);
  EXPECT_NEAR(g[0], 0.6, 1e-6);
  EXPECT_NEAR(g[1], 0.8, 1e-6);
  g = {0.3f, 0.4f};
  clip_gradients(g, 1.0);
  EXPECT_EQ(g[0], 0.3f);
  g = {30, 40};
  clip_gradients(g, 0);  // never
  EXPECT_EQ(g[1], 40);
}

}  // namespace
}  // namespace lano::adamw_test
