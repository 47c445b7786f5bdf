#include <cmath>

#include "libtorch/baseline_cases.h"

namespace lano::ano_test {
namespace {

using namespace test;

// That LANO's layer reduces to this one when its feature maps are constant: Theory.ConstantFeatureMapsGiveTheMean.
TEST(Ano, IsTheFormulaOfTheDefinition) {
  const LanoShape shape = on_cloud(5);
  const auto model = double_model(small_config("ano", 2), shape);
  const Batch batch = batch_of(shape, 1);
  const ByHand hand(*model);
  const torch::Tensor start = hand.encoder(batch)[0];  // [N,C]
  std::vector<std::vector<double>> v(5, std::vector<double>(12));
  for (std::int64_t n = 0; n < 5; ++n) {
    for (std::int64_t c = 0; c < 12; ++c)
      v[static_cast<std::size_t>(n)][static_cast<std::size_t>(c)] = start[n][c].item<double>();
  }
  for (const char* const layer : {"layers.0.", "layers.1."}) {
    const torch::Tensor w = hand[std::string(layer) + "weight"], b = hand[std::string(layer) + "bias"];
    auto next = v;
    for (std::size_t n = 0; n < 5; ++n) {
      for (std::size_t c = 0; c < 12; ++c) {
        double sum = b[static_cast<std::int64_t>(c)].item<double>();
        for (std::size_t i = 0; i < 12; ++i)
          sum += w[static_cast<std::int64_t>(c)][static_cast<std::int64_t>(i)].item<double>() * v[n][i];
        for (std::size_t m = 0; m < 5; ++m) sum += v[m][c] / 5;
        next[n][c] = sum * 0.5 * (1 + std::erf(sum / std::sqrt(2.0)));
      }
    }
    v = next;
  }
  const torch::Tensor out = model->forward(batch).detach();
  for (std::size_t n = 0; n < 5; ++n) {
    double u = hand["decoder.bias"][0].item<double>();
    for (std::size_t c = 0; c < 12; ++c)
      u += hand["decoder.weight"][0][static_cast<std::int64_t>(c)].item<double>() * v[n][c];
    EXPECT_NEAR(out[0][static_cast<std::int64_t>(n)][0].item<double>(), u, 1e-11 * (1 + std::abs(u)));
  }
}

// First weights carry a point's own signal through eight layers.
TEST(Ano, FirstWeightsKeepPointsApart) {
  BaselineConfig config;
  config.name = "ano";
  const LanoShape shape = on_cloud(64);
  const auto model = make_model(to_json(config, shape), 1);
  Batch batch = batch_of(shape, 1);
  batch.coordinates = batch.coordinates.to(torch::kFloat32);
  batch.input = batch.input.to(torch::kFloat32);
  const torch::Tensor out = model->forward(batch).detach();
  EXPECT_GT(out.std().item<double>(), 1e-2 * out.abs().mean().item<double>());
}

TEST(Ano, ParameterCounts) {
  constexpr std::int64_t c = 128, expected = 3 * 2 * c + 2 * c + 2 * c * c + c + 8 * (c * c + c) + c + 1;
  EXPECT_EQ(standard_count("ano", on_mesh({85, 85})), expected);
  EXPECT_EQ(standard_count("ano", on_cloud(972)), expected);
}

}  // namespace
}  // namespace lano::ano_test
