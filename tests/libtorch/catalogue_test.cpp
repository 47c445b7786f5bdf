// The catalogue says of every registered model what the model itself does: size, geometries, keys.
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "libtorch/operator_model.h"
#include "model_spec/baseline_config.h"
#include "model_spec/model_catalogue.h"

namespace lano::catalogue_test {
namespace {

enum class Where { grid, mesh, points };

SetDescription described(Where where, std::int64_t side, std::int64_t points) {
  SetDescription set;
  set.geometry = where == Where::grid ? Geometry::grid : where == Where::mesh ? Geometry::mesh : Geometry::points;
  set.shape = where == Where::points ? Shape{points} : Shape{side, side};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1, 0, 1};
  return set;
}

// As training makes it.
std::shared_ptr<OperatorModel> made(const std::string& name, LanoConfig sizes, const BaselineConfig& own, Where where,
                                    std::int64_t side = kStandardSide, std::int64_t points = kStandardPoints) {
  const SetDescription set = described(where, side, points);
  if (name != "lano") {
    sizes.pool = Pool::sequence;
    sizes.order = Order::file;
  }
  const double step = 1.0 / static_cast<double>(side - 1);
  const std::vector<double> spacing = where == Where::grid ? std::vector<double>{step, step} : std::vector<double>{};
  LanoShape shape = lano_shape(sizes, set, spacing, spacing.empty() ? spacing : std::vector<double>{0, 0});
  return make_model(name == "lano" ? to_json(sizes, shape) : to_json(baseline_config(name, sizes, own), shape), 3);
}

class Catalogue : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, Catalogue, ::testing::ValuesIn(model_names()), [](const auto& each) {
  std::string name = each.param;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
});

TEST(CatalogueNames, AreThoseOfTheRegistryInTheSameOrder) {
  std::vector<std::string> known;
  for (const ModelInfo& model : model_catalogue()) known.emplace_back(model.name);
  EXPECT_EQ(known, model_names());
  EXPECT_EQ(find_model("fnoo"), nullptr);
  EXPECT_EQ(model_label("u-fno"), "U-FNO");
  EXPECT_EQ(model_label("mine"), "mine");
}

// Models of a gigabyte are built in the slow suite.
bool is_large(const std::string& name) {
  const ModelInfo* const info = find_model(name);
  return info != nullptr && info->grid_parameters > 100'000'000;
}

std::vector<std::string> large_models() {
  std::vector<std::string> names = model_names();
  std::erase_if(names, [](const std::string& name) { return !is_large(name); });
  return names;
}

void expect_sizes_and_geometries(const std::string& name) {
  const ModelInfo* const info = find_model(name);
  ASSERT_NE(info, nullptr);
  for (const auto& [where, takes, counted] : {std::tuple(Where::grid, info->grid, info->grid_parameters),
                                              std::tuple(Where::mesh, info->mesh, info->grid_parameters),
                                              std::tuple(Where::points, info->points, info->points_parameters)}) {
    const int place = static_cast<int>(where);
    if (!takes) {
      EXPECT_THROW(made(name, {}, {}, where), UsageError) << place;
      continue;
    }
    EXPECT_EQ(parameter_count(*made(name, {}, {}, where)), counted) << place;
  }
}

TEST_P(Catalogue, ParametersAtTheStandardSizeAndGeometries) {
  if (is_large(GetParam())) GTEST_SKIP() << "in CatalogueFull";
  expect_sizes_and_geometries(GetParam());
}

class CatalogueFull : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CatalogueFull);
INSTANTIATE_TEST_SUITE_P(Models, CatalogueFull, ::testing::ValuesIn(large_models()), [](const auto& each) {
  std::string name = each.param;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
});

TEST_P(CatalogueFull, ParametersAtTheStandardSizeAndGeometries) { expect_sizes_and_geometries(GetParam()); }

// A * of `lano info --models` is a refusal of three axes, or of points in space, and there is no other.
TEST_P(Catalogue, WhatItTakesInThreeDimensions) {
  const ModelInfo* const info = find_model(GetParam());
  ASSERT_NE(info, nullptr);
  for (const auto& [mesh, takes] : {std::pair(Shape{16, 16, 16}, info->grid && !info->flat_grids),
                                    std::pair(Shape{}, info->points && !info->flat_points)}) {
    SetDescription set = described(mesh.empty() ? Where::points : Where::mesh, 0, 60);
    if (!mesh.empty()) set.shape = mesh;
    set.coordinates = {{"x", "1"}, {"y", "1"}, {"z", "1"}};
    set.box = {0, 1, 0, 1, 0, 1};
    LanoConfig sizes;
    sizes.layers = 2;
    sizes.heads = 2;
    sizes.width = 16;
    sizes.agents = 8;
    BaselineConfig own;
    own.modes = 4;
    own.latent_grid = 16;
    if (GetParam() != "lano") {
      sizes.pool = Pool::sequence;
      sizes.order = Order::file;
    }
    const LanoShape shape = lano_shape(sizes, set, {}, {});
    const auto make = [&] {
      return make_model(
          GetParam() == "lano" ? to_json(sizes, shape) : to_json(baseline_config(GetParam(), sizes, own), shape), 3);
    };
    if (takes) {
      EXPECT_NO_THROW(make()) << shape_text(mesh);
    } else {
      EXPECT_THROW(make(), UsageError) << shape_text(mesh);
    }
  }
}

// The output of a small model for a fixed batch in training, and its number of parameters.
std::vector<float> answer(const std::string& name, const LanoConfig& sizes, const BaselineConfig& own, Where where) {
  constexpr std::int64_t kSide = 16, kPoints = 60;
  const auto model = made(name, sizes, own, where, kSide, kPoints);
  const std::int64_t n = where == Where::points ? kPoints : kSide * kSide;
  torch::manual_seed(5);
  Batch batch;
  batch.coordinates = torch::rand({2, n, 2});
  batch.input = torch::randn({2, n, 1});
  if (const std::int64_t state = state_channels(sizes.task, sizes.state_frames, 1); state > 0)
    batch.input = torch::cat({batch.input, torch::randn({2, n, state})}, -1);
  if (where != Where::points) batch.mesh = {kSide, kSide};
  if (sizes.task == Task::time_conditional) batch.time = torch::tensor({1.0, 2.0});
  model->train();
  const torch::Tensor out = model->forward(batch).detach().contiguous().view({-1});
  std::vector<float> values(out.data_ptr<float>(), out.data_ptr<float>() + out.numel());
  values.push_back(static_cast<float>(parameter_count(*model)));
  return values;
}

// A key is read if another value of it gives another model or another output, on a grid, a mesh or a cloud.
TEST_P(Catalogue, TheKeysAModelReadsAreThoseThatChangeIt) {
  const std::string name = GetParam();
  const ModelInfo* const info = find_model(name);
  ASSERT_NE(info, nullptr);
  if (name == "lano") {  // whose keys are the switches of its own schema
    LanoConfig config;
    Schema schema;
    bind_lano_config(schema, config);
    std::set<std::string> bound, listed;
    for (const Schema::Key& key : schema.keys()) {
      bound.insert(key.name);
      if (reads_key(*info, key.name)) listed.insert(key.name);
    }
    EXPECT_EQ(bound, listed);
    BaselineConfig others;
    Schema foreign;
    bind_baseline_config(foreign, others);
    for (const Schema::Key& key : foreign.keys()) EXPECT_FALSE(reads_key(*info, key.name)) << key.name;
    return;
  }
  LanoConfig sizes;
  BaselineConfig own;
  Schema schema;
  bind_lano_config(schema, sizes);
  bind_baseline_config(schema, own);
  const auto small = [&] {
    sizes = {};
    own = {};
    sizes.layers = 2;
    sizes.heads = 4;
    sizes.width = 16;
    sizes.ffn_ratio = 2;
    own.modes = 4;
    own.slices = 4;
    own.basis = 4;
    own.tokens = 2;
    own.features = 4;
    own.latent_grid = 16;
  };
  const std::map<std::string, ConfigValue> others{{"model.layers", std::int64_t{3}},
                                                  {"model.heads", std::int64_t{2}},
                                                  {"model.width", std::int64_t{32}},
                                                  {"model.ffn_ratio", std::int64_t{3}},
                                                  {"model.agents", std::int64_t{16}},
                                                  {"model.dropout", 0.5},
                                                  {"model.bias", std::string("none")},
                                                  {"model.dwc", false},
                                                  {"model.agent_tokens", std::string("latent")},
                                                  {"model.pool", std::string("sequence")},
                                                  {"model.order", std::string("file")},
                                                  {"model.position", std::string("reference")},
                                                  {"model.decoder", std::string("mlp")},
                                                  {"model.dwc_spacing", std::string("index")},
                                                  {"model.padding", std::string("edge")},
                                                  {"model.first_weights", std::string("scaled")},
                                                  {"model.task", std::string("time_conditional")},
                                                  {"model.modes", std::int64_t{3}},
                                                  {"model.slices", std::int64_t{5}},
                                                  {"model.attention", std::string("fourier")},
                                                  {"model.experts", std::int64_t{2}},
                                                  {"model.basis", std::int64_t{3}},
                                                  {"model.tokens", std::int64_t{3}},
                                                  {"model.wavelets", std::int64_t{2}},
                                                  {"model.features", std::int64_t{3}},
                                                  {"model.latent_grid", std::int64_t{32}},
                                                  {"model.window", std::int64_t{4}},
                                                  {"model.levels", std::int64_t{1}},
                                                  {"model.stencil", std::string("neighbours")},
                                                  {"model.ffn_stencil", true},
                                                  {"model.exchange", true},
                                                  {"model.state_frames", std::int64_t{2}}};
  std::map<Where, std::vector<float>> plain;
  std::vector<Where> places;
  for (const auto& [where, takes] : {std::pair(Where::grid, info->grid), std::pair(Where::mesh, info->mesh),
                                     std::pair(Where::points, info->points)}) {
    if (!takes) continue;
    small();
    plain[where] = answer(name, sizes, own, where);
    EXPECT_EQ(plain[where], answer(name, sizes, own, where)) << "the same model answers twice the same";
    places.push_back(where);
  }
  for (const Schema::Key& key : schema.keys()) {
    ASSERT_TRUE(others.contains(key.name)) << key.name << " has no other value in this test";
    bool changes = false;
    for (const Where where : places) {
      small();
      std::vector<float> before = plain[where];
      if (key.name == "model.state_frames") {  // of models that step
        sizes.task = Task::autoregressive;
        before = answer(name, sizes, own, where);
      }
      ASSERT_TRUE(key.set(others.at(key.name))) << key.name;
      changes = changes || answer(name, sizes, own, where) != before;
    }
    EXPECT_EQ(changes, reads_key(*info, key.name)) << key.name;
  }
}

}  // namespace
}  // namespace lano::catalogue_test
