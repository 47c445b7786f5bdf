#include "libtorch/lano.h"

#include <gtest/gtest.h>

#include "libtorch/lano_cases.h"
#include "naive_lano.h"
#include "scratch.h"

namespace lano::lano_test {
namespace {

using namespace test;

TEST(Lano, ParameterCounts) {
  LanoConfig config;  // L=8, H=8, C=128, M=128, r=2
  EXPECT_EQ(parameter_count(*model_for(config, described(Geometry::mesh, {221, 51}, 2, 0, 1))),
            1104257);  // the paper's 1.104M
  EXPECT_EQ(parameter_count(*model_for(config, described(Geometry::grid, {85, 85}, 2, 1, 1))), 1104513);
  config.agents = 64;
  EXPECT_EQ(parameter_count(*model_for(config, described(Geometry::points, {972}, 2, 0, 1))), 1096065);
}

// The recipes in configs/, against the count by hand: encoder, blocks, decoder.
TEST(Lano, ParameterCountsOfTheRecipes) {
  struct Recipe {
    std::string name;
    std::int64_t l, h, c, m, da, du, expected;
    Task task;
    bool ffn_stencil = false;
  };
  for (const Recipe& r : {Recipe{"darcy/paper", 8, 8, 128, 128, 1, 1, 1104513, Task::steady},
                          Recipe{"darcy/laptop", 4, 4, 64, 64, 1, 1, 145473, Task::steady},
                          Recipe{"darcy/quickstart", 6, 4, 32, 64, 1, 1, 59873, Task::steady, true},
                          Recipe{"darcy/smoke", 2, 2, 16, 16, 1, 1, 5489, Task::steady},
                          Recipe{"neuralop-darcy/lano16", 4, 4, 64, 32, 1, 1, 144961, Task::steady},
                          Recipe{"burgers/laptop", 4, 2, 48, 16, 2, 2, 82818, Task::autoregressive}}) {
    LanoConfig config;
    config.layers = r.l;
    config.heads = r.h;
    config.width = r.c;
    config.agents = r.m;
    config.task = r.task;
    config.ffn_stencil = r.ffn_stencil;
    auto set = described(Geometry::grid, {43, 43}, 2, static_cast<std::size_t>(r.da), static_cast<std::size_t>(r.du));
    if (r.task != Task::steady) set.time = {0, 1};
    const std::int64_t c = r.c, in = 2 + r.da + (r.task == Task::autoregressive ? r.du : 0);
    const std::int64_t encoder = in * 2 * c + 2 * c + 2 * c * c + c + c;
    const std::int64_t block = 2 * 2 * c + 3 * c * c + c * c + c + 9 * c + 4 * r.m + 2 * (2 * c * c) + 2 * c + c +
                               (r.ffn_stencil ? 9 * 2 * c : 0);
    const std::int64_t decoder = 2 * c + c * r.du + r.du;
    EXPECT_EQ(encoder + r.l * block + decoder, r.expected) << r.name;
    EXPECT_EQ(parameter_count(*model_for(config, set)), r.expected) << r.name;
  }
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

test::Matrix features_of(const Batch& batch, std::int64_t sample, std::int64_t first, std::int64_t count) {
  test::Matrix features;
  const torch::Tensor all =
      torch::cat({batch.coordinates, batch.input}, -1)[sample].narrow(0, first, count).contiguous();
  for (std::int64_t n = 0; n < count; ++n) {
    const double* const row = all[n].data_ptr<double>();
    features.emplace_back(row, row + all.size(1));
  }
  return features;
}

void expect_equal(const torch::Tensor& output, const test::Matrix& expected) {  // [N, du]
  for (std::int64_t n = 0; n < output.size(0); ++n) {
    for (std::int64_t o = 0; o < output.size(1); ++o) {
      const double truth = expected[static_cast<std::size_t>(n)][static_cast<std::size_t>(o)];
      ASSERT_NEAR(output[n][o].item<double>(), truth, 1e-11 * (1 + std::abs(truth))) << "point " << n;
    }
  }
}

NaiveLano::Weights weights_of(const OperatorModel& model) {
  NaiveLano::Weights weights;
  for (const auto& item : model.named_parameters()) {
    const torch::Tensor plain = item.value().detach().to(torch::kFloat64).contiguous();
    weights[item.key()] = {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
  }
  return weights;
}

// A model in double with large weights, and the reference: the equations in nested loops.
struct ModelAndReference {
  ModelAndReference(const LanoConfig& config, const SetDescription& set, const std::vector<double>& spacing = {})
      : model(make_model(to_json(config, lano_shape(config, set, spacing)), 1)),
        naive((model->to(torch::kFloat64), enlarge_weights(*model), weights_of(*model)), config,
              lano_shape(config, set, spacing)) {}
  std::shared_ptr<OperatorModel> model;
  test::NaiveLano naive;
};

class LanoSwitches : public testing::TestWithParam<Case> {};

TEST_P(LanoSwitches, AgreesWithTheEquationsInDouble) {
  const Case& c = GetParam();
  ModelAndReference both(c.config, c.set);
  const Batch batch = random_batch(c, 2);
  const torch::Tensor output = both.model->forward(batch).detach();
  for (std::int64_t b = 0; b < 2; ++b) {
    SCOPED_TRACE(b);
    const double time = batch.time.defined() ? batch.time[b].item<double>() : 0;
    expect_equal(output[b], both.naive.forward(features_of(batch, b, 0, c.set.points()), batch.mesh, {}, {}, time));
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

// Other resolutions than the trained one: the stencil keeps its physical spacing.
TEST(Lano, TheStencilKeepsItsSpacingOnUniformGrids) {
  const auto set = described(Geometry::grid, {6, 5}, 2, 1, 1);
  ModelAndReference both(tiny(), set, {0.2, 0.25});
  struct Other {
    Shape mesh;
    std::vector<double> spacing, reach, origin, first;
  };
  for (const Other& other :
       {Other{{11, 9}, {0.1, 0.125}, {2, 2}, {0, 0}, {0, 0}}, Other{{9, 7}, {0.125, 0.2}, {1.6, 1.25}, {0, 0}, {0, 0}},
        Other{{4, 4}, {0.4, 0.5}, {0.5, 0.5}, {0, 0}, {0, 0}}, Other{{6, 9}, {0.2, 0.125}, {1, 2}, {0, 0}, {0, 0}},
        Other{{12, 10}, {0.1, 0.125}, {2, 2}, {-0.05, 0}, {-0.25, 0}},
        Other{{12, 10}, {0.1, 0.125}, {2, 2}, {0.06, -0.125}, {0.3, -0.5}}}) {
    SCOPED_TRACE(shape_text(other.mesh));
    Case c{"other", tiny(), set};
    c.set.shape = other.mesh;
    Batch batch = random_batch(c, 1);
    batch.spacing = other.spacing;
    batch.origin = other.origin;
    expect_equal(
        both.model->forward(batch).detach()[0],
        both.naive.forward(features_of(batch, 0, 0, c.set.points()), other.mesh, other.reach, {}, 0, other.first));
  }
}

// Places on a periodic axis are modulo its trained points; a curved mesh goes by indices, n/n0 to the period.
TEST(Lano, PeriodicAxesWrapAtEveryResolution) {
  auto set = described(Geometry::grid, {6, 5}, 2, 1, 1);
  set.periodic = {true, true};
  LanoConfig config = tiny();
  config.ffn_stencil = true;
  ModelAndReference both(config, set, {1.0 / 6, 0.2});
  struct Other {
    Shape mesh;
    std::vector<double> reach, origin, first;
  };
  for (const Other& other : {Other{{12, 10}, {2, 2}, {0, 0}, {0, 0}}, Other{{9, 7}, {1.5, 1.4}, {0, 0}, {0, 0}},
                             Other{{3, 4}, {0.5, 0.8}, {0, 0}, {0, 0}}, Other{{6, 10}, {1, 2}, {0.5, 0.3}, {3, 1.5}},
                             Other{{12, 10}, {2, 2}, {-0.05, 7.12}, {-0.3, 0.6}}}) {
    SCOPED_TRACE(shape_text(other.mesh));
    Case c{"other", config, set};
    c.set.shape = other.mesh;
    Batch batch = random_batch(c, 1);
    batch.spacing = {1 / static_cast<double>(other.mesh[0]), 1 / static_cast<double>(other.mesh[1])};
    batch.origin = other.origin;
    expect_equal(
        both.model->forward(batch).detach()[0],
        both.naive.forward(features_of(batch, 0, 0, c.set.points()), other.mesh, other.reach, {}, 0, other.first));
  }
  auto curved = described(Geometry::mesh, {5, 4}, 2, 0, 1);
  curved.periodic = {true, false};
  ModelAndReference mesh(tiny(), curved);
  Case finer{"finer", tiny(), described(Geometry::mesh, {10, 10}, 2, 0, 1)};
  const Batch batch = random_batch(finer, 1);
  expect_equal(mesh.model->forward(batch).detach()[0],
               mesh.naive.forward(features_of(batch, 0, 0, 100), {10, 10}, {2, 3}));  // n/n0 and (n-1)/(n0-1)
}

TEST(Lano, TheStencilFollowsIndexShareOnCurvedMeshesAndCountsOnClouds) {
  ModelAndReference mesh(tiny(), described(Geometry::mesh, {5, 4}, 2, 0, 1));
  Case finer{"finer", tiny(), described(Geometry::mesh, {9, 10}, 2, 0, 1)};
  const Batch batch = random_batch(finer, 1);
  expect_equal(mesh.model->forward(batch).detach()[0],
               mesh.naive.forward(features_of(batch, 0, 0, 90), {9, 10}, {2, 3}));  // (n-1)/(n0-1)
  LanoConfig held = tiny();
  held.padding = Padding::edge;
  ModelAndReference edge(held, described(Geometry::mesh, {5, 4}, 2, 0, 1));
  expect_equal(edge.model->forward(batch).detach()[0],
               edge.naive.forward(features_of(batch, 0, 0, 90), {9, 10}, {2, 3}));
  for (const auto& [order, reach] : {std::pair(Order::hilbert, 1.5), std::pair(Order::file, 1.0)}) {
    LanoConfig config = tiny();
    config.order = order;
    ModelAndReference cloud(config, described(Geometry::points, {10}, 2, 1, 1));
    Case larger{"larger", config, described(Geometry::points, {15}, 2, 1, 1)};
    const Batch points = random_batch(larger, 1);
    expect_equal(cloud.model->forward(points).detach()[0],
                 cloud.naive.forward(features_of(points, 0, 0, 15), {},
                                     order == Order::file ? std::vector<double>() : std::vector<double>{reach}));
  }
  LanoConfig index = tiny();
  index.dwc_spacing = DwcSpacing::index;
  ModelAndReference plain(index, described(Geometry::mesh, {5, 4}, 2, 0, 1));
  expect_equal(plain.model->forward(batch).detach()[0], plain.naive.forward(features_of(batch, 0, 0, 90), {9, 10}));
}

TEST(Lano, AnotherNumberOfAgentsAtRunTime) {
  LanoConfig config = tiny();
  config.agents = 6;
  const auto set = described(Geometry::grid, {9, 8}, 2, 1, 1);
  ModelAndReference both(config, set);
  const Batch batch = random_batch({"grid", config, set}, 1);
  for (const auto& [asked, patches] :
       {std::pair(12, Shape{4, 3}), std::pair(4, Shape{2, 2}), std::pair(6, Shape{3, 2})}) {
    EXPECT_EQ(both.model->use_agents(asked), element_count(patches));
    expect_equal(both.model->forward(batch).detach()[0],
                 both.naive.forward(features_of(batch, 0, 0, 72), {9, 8}, {}, patches));
  }
  EXPECT_EQ(both.model->use_agents(11), 12);  // 11 is prime and no patch grid: 12 = 4 x 3 is near and about square
  config.pool = Pool::sequence;
  ModelAndReference line(config, set);
  EXPECT_EQ(line.model->use_agents(11), 11);
  expect_equal(line.model->forward(batch).detach()[0],
               line.naive.forward(features_of(batch, 0, 0, 72), {9, 8}, {}, {11}));
  config.agent_tokens = Agents::latent;
  EXPECT_ERROR_WITH(model_for(config, set)->use_agents(11), "latent agents");
  EXPECT_ERROR_WITH(model_for(config, set)->use_agents(0), "at least 1");
}

TEST(Lano, PackedCloudsOfDifferentSizesEqualOneByOne) {
  LanoConfig config = tiny();
  config.task = Task::time_conditional;
  auto set = described(Geometry::points, {10}, 2, 1, 2);
  set.time = {0, 1};
  ModelAndReference both(config, set);
  const std::vector<std::int64_t> counts{10, 3, 1, 17};
  Case all{"all", config, set};
  all.set.shape = {31};
  Batch packed = random_batch(all, 1);
  packed.counts = counts;
  packed.time = torch::rand({4}, torch::kFloat64);
  const torch::Tensor output = both.model->forward(packed).detach()[0];
  std::int64_t first = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Batch single = packed;
    single.coordinates = packed.coordinates.narrow(1, first, counts[i]);
    single.input = packed.input.narrow(1, first, counts[i]);
    single.counts.clear();
    single.time = packed.time.narrow(0, static_cast<std::int64_t>(i), 1);
    const torch::Tensor alone = both.model->forward(single).detach()[0];
    EXPECT_LT((output.narrow(0, first, counts[i]) - alone).abs().max().item<double>(), 1e-12) << i;
    first += counts[i];
  }
}

TEST(Lano, DropoutActsInTrainingOnly) {
  LanoConfig config = tiny();
  config.dropout = 0.5;
  const auto set = described(Geometry::grid, {5, 6}, 2, 1, 1);
  const auto model = model_for(config, set);
  model->to(torch::kFloat64);
  enlarge_weights(*model);
  const Batch batch = random_batch({"grid", config, set}, 1);
  model->eval();
  const torch::Tensor still = model->forward(batch).detach();
  EXPECT_TRUE(torch::equal(still, model->forward(batch).detach()));
  model->train();
  EXPECT_FALSE(torch::equal(still, model->forward(batch).detach()));
}

TEST(Lano, UnknownModelsAreNamed) { EXPECT_ERROR_WITH(make_model({{"name", "lanno"}}, 0), "did you mean 'lano'?"); }

}  // namespace
}  // namespace lano::lano_test
