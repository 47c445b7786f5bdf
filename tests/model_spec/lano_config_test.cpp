#include "model_spec/lano_config.h"

#include <nlohmann/json.hpp>

#include "scratch.h"

namespace lano::lano_config_test {
namespace {

using Patches = std::vector<std::int64_t>;

TEST(LanoConfig, PatchesAreAsSquareInIndexAsTheMeshAllows) {
  EXPECT_EQ(choose_patches(128, {85, 85}), (Patches{16, 8}));  // tie with 8 x 16: the larger first
  EXPECT_EQ(choose_patches(32, {16, 16}), (Patches{8, 4}));
  EXPECT_EQ(choose_patches(64, {85, 85}), (Patches{8, 8}));
  EXPECT_EQ(choose_patches(128, {221, 51}), (Patches{32, 4}));  // 6.9 x 12.75: log ratio 0.61 against 0.77 for 16 x 8
  EXPECT_EQ(choose_patches(64, {1000}), (Patches{64}));
  EXPECT_EQ(choose_patches(64, {32, 32, 32}), (Patches{4, 4, 4}));
  EXPECT_EQ(choose_patches(1, {5, 7}), (Patches{1, 1}));
  EXPECT_ERROR_WITH(choose_patches(127, {16, 16}), "patches of a [16, 16] grid");
}

TEST(LanoConfig, RoundTripsThroughTheModelFile) {
  LanoConfig config;
  config.layers = 3;
  config.bias = Bias::sum;
  config.dwc = false;
  config.pool = Pool::sequence;
  LanoShape shape;
  shape.output_channels = 4;
  shape.mesh = {8, 9};
  shape.spacing = {0.125, 1.0 / 9};
  shape.origin = {0, -1};
  LanoConfig read;
  LanoShape read_shape;
  lano_from_json(to_json(config, shape), read, read_shape);
  EXPECT_EQ(to_json(read, read_shape), to_json(config, shape));
  EXPECT_EQ(read.bias, Bias::sum);
  EXPECT_FALSE(read.dwc);
}

TEST(LanoConfig, ImpossibleSizesAreRefused) {
  LanoConfig config;
  config.heads = 3;
  EXPECT_ERROR_WITH(check_lano_config(config), "multiple of model.heads");
  config.heads = 0;
  EXPECT_ERROR_WITH(check_lano_config(config), "model.heads of 1 to 65536");
}

}  // namespace
}  // namespace lano::lano_config_test
