#include "spectral_cases.h"

namespace lano::deeponet_test {
namespace {

using namespace test;

torch::Tensor network(const OperatorModel& model, const std::string& name, torch::Tensor f,
                      const torch::Tensor& time = {}) {
  const auto weights = model.named_parameters();
  for (int l = 0; l < 4; ++l) {
    const std::string map = name + ".map" + std::to_string(l);
    f = torch::matmul(f, weights[map + ".weight"].t()) + weights[map + ".bias"];
    if (l == 0 && time.defined()) f = f + time;
    if (l < 3 || name == "trunk") f = f * 0.5 * (1 + torch::erf(f / std::sqrt(2.0)));
  }
  return f;
}

TEST(DeepOnet, IsItsFormula) {
  const LanoShape shape = shape_of({3, 4}, 0, 2, 1, 2);
  const auto model = make_model(to_json(tiny_baseline("deeponet"), shape), 5);
  const torch::NoGradGuard no_grad;
  model->named_parameters()["bias"].copy_(torch::tensor({0.25f, -3.0f}));
  const Batch batch = batch_for(shape, 2);
  const torch::Tensor out = model->forward(batch);
  const torch::Tensor b = network(*model, "branch", batch.input.squeeze(-1)),
                      t = network(*model, "trunk", batch.coordinates);
  for (std::int64_t s = 0; s < 2; ++s) {
    for (std::int64_t n = 0; n < 12; ++n) {
      for (std::int64_t c = 0; c < 2; ++c) {
        double sum = c == 0 ? 0.25 : -3.0;
        for (std::int64_t k = 0; k < 4; ++k) sum += b[s][4 * c + k].item<double>() * t[s][n][4 * c + k].item<double>();
        EXPECT_NEAR(out[s][n][c].item<double>(), sum, 1e-5);
      }
    }
  }
}

TEST(DeepOnet, GradientsAreFiniteDifferences) {
  BaselineConfig config = tiny_baseline("deeponet");
  config.task = Task::time_conditional;
  const LanoShape shape = shape_of({}, 6, 2);
  const auto model = make_model(to_json(config, shape), 5);
  model->to(torch::kFloat64);
  Batch batch = batch_for(shape, 2);
  batch.time = torch::tensor({1.0f, 4.0f});
  batch.coordinates = batch.coordinates.to(torch::kFloat64);
  batch.input = batch.input.to(torch::kFloat64).requires_grad_();
  const auto value = [&] { return model->forward(batch).square().sum(); };
  value().backward();
  auto tensors = model->named_parameters().values();
  tensors.push_back(batch.input);
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& tensor : tensors) {
    const torch::Tensor direction = torch::randn_like(tensor);
    const double slope = (tensor.grad() * direction).sum().item<double>(), h = 1e-6;
    tensor.add_(direction, h);
    const double above = value().item<double>();
    tensor.add_(direction, -2 * h);
    const double below = value().item<double>();
    tensor.add_(direction, h);
    EXPECT_NEAR((above - below) / (2 * h), slope, 1e-6 * std::max(1.0, std::abs(slope)));
  }
}

TEST(DeepOnet, ReadsThePlacesWhereThereIsNoInput) {
  const LanoShape shape = shape_of({}, 5, 2, 0, 1);
  const auto model = make_model(to_json(tiny_baseline("deeponet"), shape), 5);
  const torch::NoGradGuard no_grad;
  const Batch batch = batch_for(shape, 1);
  const torch::Tensor b = network(*model, "branch", batch.coordinates.flatten(1)),
                      t = network(*model, "trunk", batch.coordinates);
  EXPECT_TRUE(torch::allclose(model->forward(batch).squeeze(-1), (t * b.unsqueeze(1)).sum(-1), 1e-4, 1e-6));
}

TEST(DeepOnet, KnowsTime) {
  BaselineConfig config = tiny_baseline("deeponet");
  config.task = Task::time_conditional;
  const LanoShape shape = shape_of({}, 6, 2);
  const auto model = make_model(to_json(config, shape), 5);
  Batch early = batch_for(shape, 1);
  early.time = torch::tensor({0.0f});
  Batch late = early;
  late.time = torch::tensor({5.0f});
  EXPECT_FALSE(torch::allclose(model->forward(early), model->forward(late)));
}

TEST(DeepOnet, RefusesOtherSensors) {
  const LanoShape shape = shape_of({3, 4}, 0, 2);
  const auto model = make_model(to_json(tiny_baseline("deeponet"), shape), 5);
  EXPECT_ERROR_WITH(model->forward(batch_for(shape, 1, {4, 4})),
                    "expected the 12 points of its training, which are its sensors, found 16");
  Batch packed = batch_for(shape_of({}, 24, 2), 1);
  const auto cloud = make_model(to_json(tiny_baseline("deeponet"), shape_of({}, 12, 2)), 5);
  packed.counts = {11, 13};
  EXPECT_ERROR_WITH(cloud->forward(packed), "found 11");
  EXPECT_ERROR_WITH(make_model(to_json(tiny_baseline("deeponet"), shape_of({}, 0, 2)), 5), "whose number is not fixed");
}

// Branch 7225 -> C -> C -> C -> C, trunk 2 -> C -> C -> C -> C, one bias.
TEST(DeepOnet, ParameterCounts) {
  const auto count = [](std::int64_t sensors) {
    return sensors * 128 + 2 * 128 + 2 * 128 + 2 * 3 * (128 * 128 + 128) + 1;
  };
  EXPECT_EQ(parameter_count(*standard("deeponet", darcy())), count(7225));
  EXPECT_EQ(parameter_count(*standard("deeponet", elasticity())), count(972));
}

}  // namespace
}  // namespace lano::deeponet_test
