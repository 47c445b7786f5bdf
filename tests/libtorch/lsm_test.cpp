#include "spectral_cases.h"

namespace lano::lsm_test {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  if (name.starts_with("unet.")) return theirs_of_the_unet(name.substr(5));
  if (!name.starts_with("block")) return theirs_of_the_frame(name);
  const std::string process = "process" + std::string(1, static_cast<char>(name[5] + 1));
  return process + renamed(name.substr(6), {{"key_value", "encoder_attn"}, {"query", "decoder_attn"}});
}

// Maps of single points are convolutions of one point there.
torch::Tensor layout(const std::string& name, const torch::Tensor& values) {
  return name.ends_with("key_value.weight") || name.ends_with("query.weight") ? values.flatten(1) : values;
}

TEST(LatentSpectralModel, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "LSM_structured_2D", .model = "lsm", .theirs = theirs, .layout = layout});
  expect_parity({.file = "LSM_unstructured", .model = "lsm", .theirs = theirs, .layout = layout});
}

// 76,673,153 and 86,174,083 are the public implementation's.
TEST(LatentSpectralModel, ParameterCounts) {
  using namespace counted;
  const auto count = [](std::int64_t c) {
    std::int64_t sum = encoder(c, c) + unet(c) + decoder(c, 2 * c);
    for (const std::int64_t factor : {1, 2, 4, 8, 8}) {
      const std::int64_t channels = factor * c;
      sum += channels * 2 * 12 + 4 * channels + linear(channels, 2 * channels) + linear(channels, channels);
    }
    return sum;
  };
  EXPECT_EQ(count(128), 76673153);
  EXPECT_EQ(count(128) + projection(128, 12), 86174083);
  EXPECT_EQ(parameter_count(*make_model(to_json(tiny_baseline("lsm"), darcy()), 1)), count(4));
  EXPECT_EQ(parameter_count(*make_model(to_json(tiny_baseline("lsm"), elasticity()), 1)), count(4) + projection(4, 3));
}

TEST(LatentSpectralModel, WorksOnItsGeometries) { expect_works_everywhere("lsm"); }

}  // namespace
}  // namespace lano::lsm_test
