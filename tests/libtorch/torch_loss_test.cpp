#include "libtorch/torch_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "metrics/metrics.h"
#include "train/field_loss.h"

namespace lano::torch_loss_test {
namespace {

TEST(Loss, IsTheMeanOfTheMetricOverSamples) {
  const torch::Tensor u = torch::randn({3, 20, 2}), t = torch::randn({3, 20, 2});
  double expected = 0;
  for (std::int64_t b = 0; b < 3; ++b) {
    expected += relative_l2({u[b].data_ptr<float>(), 40}, {t[b].data_ptr<float>(), 40}) / 3;
  }
  EXPECT_NEAR(relative_l2_loss(u, t).item<double>(), expected, 1e-6);
}

TEST(Loss, FieldLossWeighsSamplesChannelsAndFrames) {
  LossConfig config;
  config.channel_weights = {4, 0};
  const torch::Tensor u = torch::randn({2, 20, 2}), t = torch::randn({2, 20, 2});
  const auto relative = [&](std::int64_t b) {  // the second channel has no weight, the first only scales
    return ((u - t)[b].select(1, 0).norm() / t[b].select(1, 0).norm()).item<double>();
  };
  const auto root = [&](std::int64_t b) { return 2 * (u - t)[b].select(1, 0).norm().item<double>() / std::sqrt(40.0); };
  EXPECT_NEAR(TorchLoss(config, ChannelMap::identity(2), {}, {})(u, t, {}, {3, 1}).item<double>(),
              (3 * relative(0) + relative(1)) / 2, 1e-6);
  config.kind = LossKind::l2;
  EXPECT_NEAR(TorchLoss(config, ChannelMap::identity(2), {}, {})(u, t, {}, {3, 1}).item<double>(),
              (3 * root(0) + root(1)) / 2, 1e-6);
  // Packed clouds: each its own sample.
  config = {};
  const torch::Tensor packed = torch::cat({u[0], u[1].narrow(0, 0, 5)}, 0).unsqueeze(0),
                      truth = torch::cat({t[0], t[1].narrow(0, 0, 5)}, 0).unsqueeze(0);
  const double second = ((u - t)[1].narrow(0, 0, 5).norm() / t[1].narrow(0, 0, 5).norm()).item<double>();
  EXPECT_NEAR(TorchLoss(config, ChannelMap::identity(2), {}, {})(packed, truth, {20, 5}, {}).item<double>(),
              ((u - t)[0].norm() / t[0].norm()).item<double>() / 2 + second / 2, 1e-6);
}

TEST(Loss, AZeroTruthCountsByThePlainNorm) {
  const torch::Tensor u = torch::full({1, 4, 1}, 0.5f), t = torch::zeros({1, 4, 1});
  EXPECT_NEAR(relative_l2_loss(u, t).item<double>(), 1.0, 1e-6);
}

TEST(Loss, GradientTermIsTheMetricsH1) {
  const Shape mesh{6, 5};
  const std::vector<double> spacing{0.2, 0.5};
  const torch::Tensor u = torch::randn({1, 30, 2}), t = torch::randn({1, 30, 2});
  const double loss =
      relative_l2_loss(central_gradient(u, mesh, spacing), central_gradient(t, mesh, spacing)).item<double>();
  EXPECT_NEAR(loss, relative_h1({u.data_ptr<float>(), 60}, {t.data_ptr<float>(), 60}, mesh, 2, spacing), 1e-6);
}

TEST(Loss, CentralDifferencesAreExactForQuadratics) {
  // u = x^2 + 3xy: u_x = 2x + 3y, u_y = 3x.
  const Shape mesh{4, 5};
  std::vector<double> values;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) values.push_back(0.01 * i * i + 3 * 0.1 * i * 0.2 * j);
  }
  const torch::Tensor slopes =
      central_gradient(torch::tensor(values, torch::kFloat64).view({1, 20, 1}), mesh, {0.1, 0.2});
  EXPECT_EQ(slopes.sizes(), (std::vector<std::int64_t>{1, 6, 2}));
  const double x = 0.2, y = 0.4;  // interior point (2, 2): row 1 * 3 + 1
  EXPECT_NEAR(slopes[0][4][0].item<double>(), 2 * x + 3 * y, 1e-12);
  EXPECT_NEAR(slopes[0][4][1].item<double>(), 3 * x, 1e-12);
}

TEST(Loss, TheTermOfTheAxesIsThatOfTheHandWrittenLoss) {
  const Shape mesh{5, 4, 6};  // three axes
  const std::vector<double> spacing{0.2, 0.5, 0.1}, weights{2, 0.5};
  LossConfig config;
  config.gradient_weight = 0.3;
  config.gradient_kind = GradientKind::axes;
  const ChannelMap map({0.4, -1}, {2, 0.5});
  torch::Tensor u = torch::randn({2, 120, 2}).set_requires_grad(true);
  const torch::Tensor t = torch::randn({2, 120, 2});
  const torch::Tensor loss = TorchLoss(config, map, mesh, spacing)(u, t, {}, weights);
  loss.backward();
  std::vector<float> slopes(480);
  const std::vector<std::int64_t> sizes{120, 120};
  const double by_hand = FieldLoss(config, map, mesh, spacing)({u.data_ptr<float>(), 480}, {t.data_ptr<float>(), 480},
                                                               sizes, weights, 1, slopes);
  EXPECT_NEAR(by_hand, loss.item<double>(), 1e-12 * by_hand);
  const torch::Tensor made = torch::from_blob(slopes.data(), {2, 120, 2});
  EXPECT_LT((made - u.grad()).abs().max().item<double>(), 1e-6 * u.grad().abs().max().item<double>());
}

TEST(Loss, TheOutermostPointsOfAPredictionHaveNoPartInTheTermOfTheAxes) {
  // t = 0 on the boundary: whatever is predicted there, only the plain norm sees it.
  const Shape mesh{4, 4};
  torch::Tensor t = torch::zeros({1, 16, 1});
  t.view({4, 4}).slice(0, 1, 3).slice(1, 1, 3).fill_(1);
  torch::Tensor u = t.clone();
  u.view({4, 4}).select(0, 0).fill_(5);
  LossConfig with;
  with.gradient_weight = 1;
  with.gradient_kind = GradientKind::axes;
  const std::vector<double> spacing{0.25, 0.25};
  const double plain = TorchLoss({}, ChannelMap::identity(1), mesh, spacing)(u, t, {}, {}).item<double>();
  EXPECT_DOUBLE_EQ(TorchLoss(with, ChannelMap::identity(1), mesh, spacing)(u, t, {}, {}).item<double>(), plain);
  with.gradient_kind = GradientKind::joint;
  EXPECT_GT(TorchLoss(with, ChannelMap::identity(1), mesh, spacing)(u, t, {}, {}).item<double>(), plain + 1);
}

}  // namespace
}  // namespace lano::torch_loss_test
