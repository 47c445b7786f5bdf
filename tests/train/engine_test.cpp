// Training with the fused engine follows training with the composite path.
#include <gtest/gtest.h>

#include "models/lano_cases.h"
#include "train/loss.h"

namespace lano {
namespace {

using namespace test;

// Loss of each step of AdamW on a fixed random problem.
std::vector<double> curve(Engine engine, torch::ScalarType type, double rate, int steps) {
  LanoConfig config;
  config.layers = 3;
  config.width = 32;
  config.heads = 4;
  config.agents = 16;
  const auto set = described(Geometry::grid, {21, 19}, 2, 1, 1);
  const auto model = model_for(config, set, 4);
  model->to(type);
  model->use_engine(engine);
  torch::manual_seed(8);
  Batch batch = random_batch({"grid", config, set}, 4);
  // Something to learn: a smooth field of the input and the place.
  const torch::Tensor target =
      (torch::sin(3 * batch.coordinates.select(2, 0)) + batch.input.select(2, 0) * torch::cos(2 * batch.coordinates.select(2, 1))).unsqueeze(2).to(torch::kFloat32).to(type);
  batch.coordinates = batch.coordinates.to(torch::kFloat32).to(type);
  batch.input = batch.input.to(torch::kFloat32).to(type);
  torch::optim::AdamW optimiser(model->parameters(), torch::optim::AdamWOptions(rate).weight_decay(1e-5));
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimiser.zero_grad();
    const torch::Tensor loss = relative_l2_loss(model->forward(batch), target);
    loss.backward();
    optimiser.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

TEST(Engine, FollowsTheCompositeLossCurve) {
  const auto fused = curve(Engine::fused, torch::kFloat32, 1e-4, 50), composite = curve(Engine::composite, torch::kFloat32, 1e-4, 50);
  for (std::size_t i = 0; i < fused.size(); ++i) EXPECT_NEAR(fused[i], composite[i], 1e-5 * composite[i]) << "step " << i;
  EXPECT_LT(fused.back(), 0.9 * fused.front());  // it does learn
}

TEST(Engine, DriftsNoMoreThanTwiceAsFarFromDouble) {
  const auto fused = curve(Engine::fused, torch::kFloat32, 1e-3, 50), composite = curve(Engine::composite, torch::kFloat32, 1e-3, 50);
  const auto exact = curve(Engine::composite, torch::kFloat64, 1e-3, 50);
  double mine = 0, theirs = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    mine += std::pow(fused[i] / exact[i] - 1, 2);
    theirs += std::pow(composite[i] / exact[i] - 1, 2);
  }
  EXPECT_LE(std::sqrt(mine), 2 * std::sqrt(theirs)) << "per step " << std::sqrt(mine / 50) << " against " << std::sqrt(theirs / 50);
}

}  // namespace
}  // namespace lano
