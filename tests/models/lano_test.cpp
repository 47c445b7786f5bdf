#include "models/lano.h"

#include <gtest/gtest.h>

#include "models/naive_lano.h"
#include "scratch.h"

namespace lano {
namespace {

SetDescription described(Geometry geometry, const Shape& shape, std::size_t dims, std::size_t da, std::size_t du) {
  SetDescription set;
  set.geometry = geometry;
  set.shape = shape;
  set.coordinates.resize(dims, {"x", "1"});
  set.input.resize(da, {"a", "1"});
  set.output.resize(du, {"u", "1"});
  for (std::size_t a = 0; a < dims; ++a) set.box.insert(set.box.end(), {0.0, 1.0});
  return set;
}

std::shared_ptr<OperatorModel> model_for(const LanoConfig& config, const SetDescription& set, std::uint64_t seed = 1) {
  return make_model(to_json(config, lano_shape(config, set)), seed);
}

TEST(Lano, ParameterCounts) {
  LanoConfig config;  // L=8, H=8, C=128, M=128, r=2
  EXPECT_EQ(parameter_count(*model_for(config, described(Geometry::mesh, {221, 51}, 2, 0, 1))), 1104257);  // the paper's 1.104M
  EXPECT_EQ(parameter_count(*model_for(config, described(Geometry::grid, {85, 85}, 2, 1, 1))), 1104513);
  config.agents = 64;
  EXPECT_EQ(parameter_count(*model_for(config, described(Geometry::points, {972}, 2, 0, 1))), 1096065);
}

TEST(Lano, InitialisationFollowsTheDesign) {
  const auto model = model_for({}, described(Geometry::grid, {32, 32}, 2, 1, 1));
  for (const auto& item : model->named_parameters()) {
    const torch::Tensor w = item.value().detach();
    const std::string& name = item.key();
    if (name == "placeholder") {
      EXPECT_GE(w.min().item<float>(), 0);
      EXPECT_LT(w.max().item<float>(), 1.0f / 128);
    } else if (name.ends_with("dwc")) {
      EXPECT_LE(w.abs().max().item<float>(), 1.0f / 3);
      EXPECT_NEAR(w.std().item<float>(), 1 / (3 * std::sqrt(3.0)), 0.02);
    } else if (name.find("norm") != std::string::npos) {
      EXPECT_TRUE(torch::equal(w, name.ends_with("bias") ? torch::zeros_like(w) : torch::ones_like(w))) << name;
    } else if (name.ends_with(".bias")) {
      EXPECT_EQ(w.abs().max().item<float>(), 0) << name;
    } else {
      const double tolerance = 5 * 0.02 / std::sqrt(2.0 * static_cast<double>(w.numel()));
      EXPECT_NEAR(w.std().item<float>(), 0.02, tolerance) << name;
    }
  }
}

TEST(Lano, SeedsDecideTheWeights) {
  const auto set = described(Geometry::grid, {16, 16}, 2, 1, 1);
  const auto first = [&](std::uint64_t seed) { return model_for({}, set, seed)->parameters()[0].sum().item<float>(); };
  EXPECT_EQ(first(3), first(3));
  EXPECT_NE(first(3), first(4));
}

struct Case {
  std::string name;
  LanoConfig config;
  SetDescription set;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

LanoConfig tiny() {
  LanoConfig c;
  c.layers = 2;
  c.heads = 2;
  c.width = 8;
  c.agents = 4;
  return c;
}

std::vector<Case> cases() {
  const auto grid = described(Geometry::grid, {5, 6}, 2, 1, 2);
  std::vector<Case> all{{"grid", tiny(), grid}};
  const auto vary = [&](const std::string& name, auto change, const SetDescription& set) {
    LanoConfig c = tiny();
    change(c);
    all.push_back({name, c, set});
  };
  vary("sum", [](auto& c) { c.bias = Bias::sum; }, grid);
  vary("no_bias", [](auto& c) { c.bias = Bias::none; }, grid);
  vary("no_dwc", [](auto& c) { c.dwc = false; }, grid);
  vary("latent", [](auto& c) { c.agent_tokens = Agents::latent; }, grid);
  vary("sequence", [](auto& c) { c.pool = Pool::sequence; }, grid);
  vary("mlp", [](auto& c) { c.decoder = Decoder::mlp; }, grid);
  vary("one_agent", [](auto& c) { c.agents = 1; }, grid);
  vary("mesh", [](auto& c) { c.agents = 6; }, described(Geometry::mesh, {7, 4}, 2, 0, 1));
  vary("line", [](auto& c) { c.agents = 3; }, described(Geometry::grid, {11}, 1, 1, 1));
  vary("space", [](auto& c) { c.agents = 8; }, described(Geometry::grid, {4, 3, 5}, 3, 1, 1));
  vary("cloud", [](auto& c) { c.agents = 3; }, described(Geometry::points, {10}, 2, 2, 1));
  vary("fewer_points_than_agents", [](auto& c) { c.agents = 7; }, described(Geometry::points, {4}, 2, 1, 1));
  vary("one_point", [](auto& c) { c.agents = 2; }, described(Geometry::points, {1}, 2, 1, 1));
  return all;
}

// Weights large enough that softmax, bias and GELU are far from linear.
void enlarge_weights(OperatorModel& model) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  for (auto& p : model.parameters()) p.copy_(0.5 * torch::randn_like(p) + 0.2 * p);
}

Batch random_batch(const Case& c, std::int64_t samples) {
  const auto options = torch::kFloat64;
  return {torch::rand({samples, c.set.points(), c.set.dims()}, options),
          torch::randn({samples, c.set.points(), c.set.input_channels()}, options),
          c.set.geometry == Geometry::points ? Shape{} : c.set.shape};
}

class LanoSwitches : public testing::TestWithParam<Case> {};

TEST_P(LanoSwitches, AgreesWithTheEquationsInDouble) {
  const Case& c = GetParam();
  const auto model = model_for(c.config, c.set);
  model->to(torch::kFloat64);
  enlarge_weights(*model);
  const Batch batch = random_batch(c, 2);
  const torch::Tensor output = model->forward(batch).detach();
  const test::NaiveLano naive(*model, c.config, lano_shape(c.config, c.set));
  for (std::int64_t b = 0; b < 2; ++b) {
    test::Matrix features;
    for (std::int64_t n = 0; n < c.set.points(); ++n) {
      std::vector<double> row;
      for (std::int64_t i = 0; i < c.set.dims(); ++i) row.push_back(batch.coordinates[b][n][i].item<double>());
      for (std::int64_t i = 0; i < c.set.input_channels(); ++i) row.push_back(batch.input[b][n][i].item<double>());
      features.push_back(row);
    }
    const test::Matrix expected = naive.forward(features, batch.mesh);
    for (std::int64_t n = 0; n < c.set.points(); ++n) {
      for (std::int64_t o = 0; o < c.set.output_channels(); ++o) {
        const double truth = expected[static_cast<std::size_t>(n)][static_cast<std::size_t>(o)];
        ASSERT_NEAR(output[b][n][o].item<double>(), truth, 1e-11 * (1 + std::abs(truth))) << "sample " << b << " point " << n;
      }
    }
  }
}

TEST_P(LanoSwitches, GradientsAgreeWithFiniteDifferences) {
  const Case& c = GetParam();
  const auto model = model_for(c.config, c.set);
  model->to(torch::kFloat64);
  enlarge_weights(*model);
  const Batch batch = random_batch(c, 2);
  const torch::Tensor probe = torch::randn({2, c.set.points(), c.set.output_channels()}, torch::kFloat64);
  const auto value = [&] { return (model->forward(batch) * probe).sum(); };
  value().backward();
  // Central differences along a random direction of each parameter tensor; error O(h^2) + rounding/h, about 1e-9.
  for (auto& item : model->named_parameters()) {
    const torch::NoGradGuard no_grad;
    torch::Tensor& p = item.value();
    const torch::Tensor direction = torch::randn_like(p);
    constexpr double kStep = 1e-5;
    const torch::Tensor kept = p.clone();
    p.copy_(kept + kStep * direction);
    const double above = value().item<double>();
    p.copy_(kept - kStep * direction);
    const double below = value().item<double>();
    p.copy_(kept);
    const double difference = (above - below) / (2 * kStep);
    const double slope = p.grad().defined() ? (p.grad() * direction).sum().item<double>() : 0;
    EXPECT_NEAR(slope, difference, 2e-6 * (1 + std::abs(difference))) << item.key();
    if (c.config.bias == Bias::sum && (item.key().ends_with("bias1") || item.key().ends_with("bias3"))) {
      EXPECT_FALSE(p.grad().defined() && p.grad().abs().max().item<double>() != 0) << item.key();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LanoSwitches, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

TEST(Lano, ReferencePositionsAreDistances) {
  LanoConfig config = tiny();
  config.position = Position::reference;
  const auto set = described(Geometry::grid, {4, 4}, 2, 0, 1);
  const auto model = model_for(config, set);
  for (const auto& item : model->named_parameters()) {
    if (item.key() == "encoder1.weight") {
      EXPECT_EQ(item.value().size(1), 64);
    }
  }
  Case c{"reference", config, set};
  Batch batch = random_batch(c, 1);
  batch.coordinates = batch.coordinates.to(torch::kFloat32);
  batch.input = batch.input.to(torch::kFloat32);
  EXPECT_TRUE(torch::isfinite(model->forward(batch)).all().item<bool>());
}

TEST(Lano, UnknownModelsAreNamed) {
  EXPECT_ERROR_WITH(make_model({{"name", "lanno"}}, 0), "did you mean 'lano'?");
}

}  // namespace
}  // namespace lano
