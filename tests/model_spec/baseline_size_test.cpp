#include "model_spec/baseline_size.h"

#include <gtest/gtest.h>

#include "model_spec/model_catalogue.h"
#include "scratch.h"

namespace lano::baseline_size_test {
namespace {

LanoShape on_mesh(const Shape& mesh) {
  LanoShape shape;
  shape.dims = shape.axes = static_cast<std::int64_t>(mesh.size());
  shape.mesh = mesh;
  shape.input_channels = 1;
  return shape;
}

LanoShape on_cloud(std::int64_t points) {
  LanoShape shape;
  shape.axes = 0;
  shape.points = points;
  shape.input_channels = 1;
  return shape;
}

BaselineConfig named(std::string_view name) {
  BaselineConfig config;
  config.name = name;
  return config;
}

// The catalogue's counts, which are the models' own, are of parameters: those of complex ones are half as many numbers.
TEST(BaselineSize, IsThatOfTheCatalogueAtTheStandardSize) {
  for (const ModelInfo& model : model_catalogue()) {
    if (model.name == "lano") continue;
    const double grid = baseline_size(named(model.name), on_mesh({kStandardSide, kStandardSide})).weights;
    const double most = model.family == "spectral" ? 2 : 1;
    EXPECT_GE(grid, static_cast<double>(model.grid_parameters)) << model.name;
    EXPECT_LE(grid, most * static_cast<double>(model.grid_parameters)) << model.name;
    if (!model.points) continue;
    const double cloud = baseline_size(named(model.name), on_cloud(kStandardPoints)).weights;
    EXPECT_GE(cloud, static_cast<double>(model.points_parameters)) << model.name;
    EXPECT_LE(cloud, most * static_cast<double>(model.points_parameters)) << model.name;
  }
  EXPECT_EQ(baseline_size(named("mine"), on_cloud(9)).weights, 0);
}

// Every size a recipe may say at its largest is seen: a machine of a terabyte cannot hold it.
TEST(BaselineSize, EveryKeyThatMakesAModelLargeMakesItsSizeLarge) {
  constexpr double kTerabyte = 1e12 / sizeof(float);
  const auto numbers = [](const BaselineConfig& config, const LanoShape& shape) {
    const BaselineSize size = baseline_size(config, shape);
    return size.weights + size.buffers + size.pass;
  };
  for (const ModelInfo& model : model_catalogue()) {
    if (model.name == "lano") continue;
    for (const LanoShape& shape : {on_mesh({kStandardSide, kStandardSide}), on_cloud(kStandardPoints)}) {
      if (shape.axes == 0 && !model.points) continue;
      BaselineConfig config = named(model.name);
      config.width = 1 << 16;
      EXPECT_GT(numbers(config, shape), model.name == "wmt" ? 1e5 : 1e9) << model.name << " width";
      config = named(model.name);
      const double plain = numbers(config, shape);
      EXPECT_LT(plain, kTerabyte) << model.name;
      const auto grows = [&](const char* key, std::int64_t BaselineConfig::*member, std::int64_t most) {
        if (!reads_key(model, key)) return;
        BaselineConfig larger = named(model.name);
        larger.*member = most;
        EXPECT_GT(numbers(larger, shape), 2 * plain) << model.name << " " << key;
      };
      grows("model.layers", &BaselineConfig::layers, kMostLayers);
      grows("model.ffn_ratio", &BaselineConfig::ffn_ratio, 1024);
      grows("model.slices", &BaselineConfig::slices, 1 << 16);
      grows("model.experts", &BaselineConfig::experts, 1 << 16);
      grows("model.basis", &BaselineConfig::basis, 1 << 16);
      grows("model.tokens", &BaselineConfig::tokens, 1 << 16);
      grows("model.wavelets", &BaselineConfig::wavelets, 16);
      grows("model.features", &BaselineConfig::features, 1 << 16);
      if (shape.axes == 0) {
        grows("model.modes", &BaselineConfig::modes, 1024);
        grows("model.latent_grid", &BaselineConfig::latent_grid, 1 << 16);
      }
    }
  }
}

TEST(BaselineSize, ModesThatNoAxisHasAreRefused) {
  for (const char* const name : {"fno", "u-fno", "f-fno"}) {
    BaselineConfig config = named(name);
    config.modes = 17;
    EXPECT_NO_THROW(check_baseline_fits(config, on_mesh({8, 31}))) << name;  // padded to 32 points
    config.modes = 18;
    EXPECT_ERROR_WITH(check_baseline_fits(config, on_mesh({8, 31})), "model.modes of at most 17");
    EXPECT_NO_THROW(check_baseline_fits(config, on_cloud(100))) << name;
  }
  BaselineConfig takes_what_fits = named("u-no");
  takes_what_fits.modes = 1024;
  EXPECT_NO_THROW(check_baseline_fits(takes_what_fits, on_mesh({8, 31})));
}

}  // namespace
}  // namespace lano::baseline_size_test
