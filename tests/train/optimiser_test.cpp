#include "train/optimiser.h"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <set>

#include "core/random.h"
#include "core/threads.h"

namespace lano::optimiser_test {
namespace {

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<float> noise(std::int64_t count, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::initialise);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(stream.normal());
  return values;
}

Doubles matrix(const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
  return Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(values.data(), rows,
                                                                                                 columns)
      .cast<double>();
}

// The iteration on singular values alone, in double: an odd polynomial of X acts on them and leaves U and V.
Doubles expected_factor(const Doubles& x) {
  const Eigen::JacobiSVD<Doubles> svd(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Eigen::VectorXd s = svd.singularValues() / x.norm();
  for (int step = 0; step < 5; ++step) {
    s = s.unaryExpr([](double v) { return 3.4445 * v - 4.7750 * v * v * v + 2.0315 * v * v * v * v * v; });
  }
  return svd.matrixU() * s.asDiagonal() * svd.matrixV().transpose();
}

TEST(Muon, PolarFactorIsThatOfTheSingularValues) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{8, 8}, {32, 32}, {64, 32}, {32, 96}, {17, 40}, {130, 9}}) {
    std::vector<float> x = noise(rows * columns, 3);
    const Doubles truth = expected_factor(matrix(x, rows, columns));
    polar_factor(rows, columns, x.data());
    // Fifteen products of float32 matrices whose entries stay below one.
    EXPECT_LT((matrix(x, rows, columns) - truth).norm() / truth.norm(), 2e-5) << rows << "x" << columns;
    const Eigen::VectorXd s = Eigen::JacobiSVD<Doubles>(matrix(x, rows, columns)).singularValues();
    EXPECT_LT(s.maxCoeff(), 1.3);
  }
}

TEST(Muon, AnyScaleOfTheGradientGivesTheSameStep) {
  OptimiserConfig config;
  config.kind = OptimiserKind::muon;
  config.weight_decay = 0;
  const std::vector<NamedShape> layout{{"map.weight", {16, 24}}};
  const std::vector<float> g = noise(16 * 24, 5);
  std::vector<float> reference;
  for (const float scale : {1.0f, 1e-12f, 1e12f}) {
    Optimiser optimiser(config, layout);
    std::vector<float> p(g.size()), scaled = g;
    for (float& value : scaled) value *= scale;
    optimiser.step(p, scaled, 0.01, 0.9);
    if (reference.empty()) reference = p;
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      difference += std::pow(p[i] - reference[i], 2);
      size += std::pow(reference[i], 2);
    }
    EXPECT_LT(std::sqrt(difference / size), 1e-5) << scale;
    // The pace of AdamW: entries of about 0.2 times the rate.
    EXPECT_NEAR(std::sqrt(size / static_cast<double>(p.size())), 0.2 * 0.01, 0.2 * 0.2 * 0.01);
  }
}

TEST(Muon, NoGradientMovesNothingButTheDecay) {
  OptimiserConfig config;
  config.kind = OptimiserKind::muon;
  config.weight_decay = 0.5;
  Optimiser optimiser(config, {{"map.weight", {8, 8}}});
  std::vector<float> p(64, 1.0f);
  optimiser.step(p, std::vector<float>(64), 0.1, 0.9);
  for (const float value : p) EXPECT_FLOAT_EQ(value, 0.95f);
}

// Two steps by hand in double: momentum, Nesterov's look ahead, the factor, the decay.
TEST(Muon, TwoStepsByHand) {
  OptimiserConfig config;
  config.kind = OptimiserKind::muon;
  config.momentum = 0.9;
  config.weight_decay = 0.1;
  const std::int64_t rows = 12, columns = 20;
  Optimiser optimiser(config, {{"map.weight", {rows, columns}}});
  std::vector<float> p = noise(rows * columns, 1);
  Doubles q = matrix(p, rows, columns), m = Doubles::Zero(rows, columns);
  for (const std::uint64_t seed : {7u, 8u}) {
    const std::vector<float> g = noise(rows * columns, seed);
    optimiser.step(p, g, 0.02, 0.9);
    m = 0.9 * m + 0.1 * matrix(g, rows, columns);
    const Doubles direction = 0.1 * matrix(g, rows, columns) + 0.9 * m;
    q = q * (1 - 0.02 * 0.1) - 0.02 * 0.2 * std::sqrt(20.0) * expected_factor(direction);
    EXPECT_LT((matrix(p, rows, columns) - q).cwiseAbs().maxCoeff(), 2e-6);
  }
}

TEST(Optimiser, EveryParameterIsMovedByOneRule) {
  const std::vector<NamedShape> layout{{"placeholder", {16}},         {"encoder.weight", {32, 3}},
                                       {"qkv.weight", {48, 16}},      {"qkv.bias", {48}},
                                       {"dwc", {16, 1, 3, 3}},        {"convolution.weight", {8, 4, 3, 3}},
                                       {"complex1", {8, 8, 4, 4, 2}}, {"decoder.weight", {1, 16}}};
  const std::vector<Matrix> maps = linear_maps(layout);
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
  for (const Matrix& map : maps) sizes.emplace_back(map.rows, map.columns);
  EXPECT_EQ(sizes,
            (std::vector<std::pair<std::int64_t, std::int64_t>>{{16, 16}, {16, 16}, {16, 16}, {8, 36}, {8, 256}}));
  for (const OptimiserKind kind : {OptimiserKind::adamw, OptimiserKind::muon}) {
    OptimiserConfig config;
    config.kind = kind;
    config.weight_decay = 0.1;
    Optimiser optimiser(config, layout);
    const auto count = static_cast<std::int64_t>(optimiser.first_moment().size());
    std::vector<float> p(static_cast<std::size_t>(count), 1.0f);
    optimiser.step(p, std::vector<float>(p.size()), 0.5, 0.9);
    for (const float value : p) EXPECT_FLOAT_EQ(value, 0.95f);  // decayed once, not twice
    optimiser.step(p, noise(count, 2), 0.5, 0.9);
    for (const float value : optimiser.first_moment()) EXPECT_NE(value, 0.0f);
  }
}

TEST(Optimiser, RestoredStateGoesOnToTheBitForAnyThreadCount) {
  OptimiserConfig config;
  config.kind = OptimiserKind::muon;
  const std::vector<NamedShape> layout{{"a", {40, 24}}, {"b", {7}}, {"c.qkv", {30, 10}}, {"d", {16, 33}}};
  std::vector<std::vector<float>> ends;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Optimiser one(config, layout);
    std::vector<float> p = noise(static_cast<std::int64_t>(one.first_moment().size()), 4);
    for (std::uint64_t step = 0; step < 3; ++step)
      one.step(p, noise(static_cast<std::int64_t>(p.size()), 10 + step), 1e-2, 0.9);
    Optimiser two(config, layout);
    two.restore(one.steps(), one.first_moment(), one.second_moment());
    std::vector<float> q = p;
    const std::vector<float> g = noise(static_cast<std::int64_t>(p.size()), 20);
    one.step(p, g, 1e-2, 0.9);
    two.step(q, g, 1e-2, 0.9);
    EXPECT_EQ(p, q);
    ends.push_back(p);
  }
  set_thread_count(0);
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[0], ends[2]);
}

}  // namespace
}  // namespace lano::optimiser_test
