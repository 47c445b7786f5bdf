#include "normalise/normaliser.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "scratch.h"

namespace lano::normaliser_test {
namespace {

TEST(Normaliser, MeanAndDeviationOverSeveralSamples) {
  ChannelStatistics statistics(2);
  statistics.add(std::vector<float>{1, 10, 2, 20});
  statistics.add(std::vector<float>{3, 30, 4, 40, 5, 50});
  const ChannelMap map = statistics.map();
  EXPECT_DOUBLE_EQ(map.shift()[0], 3);
  EXPECT_DOUBLE_EQ(map.scale()[0], std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(map.shift()[1], 30);
  EXPECT_DOUBLE_EQ(map.scale()[1], 10 * std::sqrt(2.0));
}

TEST(Normaliser, ConstantChannelsKeepScaleOne) {
  ChannelStatistics statistics(2);
  statistics.add(std::vector<float>{0.1f, 5, 0.1f, 7});
  const ChannelMap map = statistics.map();
  EXPECT_EQ(map.scale()[0], 1);
  EXPECT_EQ(map.scale()[1], 1);  // deviation of {5, 7}
  std::vector<float> encoded(4);
  map.encode(std::vector<float>{0.1f, 5, 0.1f, 7}, encoded);
  EXPECT_NEAR(encoded[0], 0, 1e-7);
  EXPECT_EQ(encoded[1], -1);
}

TEST(Normaliser, HugeOffsetsKeepTheirVariance) {
  // 1e8 +/- 8 is the finest float32 can hold there; a one-pass sum of squares would lose it all.
  ChannelStatistics statistics(1);
  for (int i = 0; i < 1000; ++i) statistics.add(std::vector<float>{1e8f - 8, 1e8f + 8});
  EXPECT_DOUBLE_EQ(statistics.map().shift()[0], 1e8);
  EXPECT_NEAR(statistics.map().scale()[0], 8, 1e-9);
}

TEST(Normaliser, DecodeUndoesEncode) {
  const ChannelMap map({2.0, -1e3}, {0.25, 7.0});
  const std::vector<float> physical{1, -1003, 2.5f, -900};
  std::vector<float> encoded(4), decoded(4);
  map.encode(physical, encoded);
  map.decode(encoded, decoded);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(decoded[i], physical[i], 1e-6 * std::abs(physical[i]));
}

TEST(Normaliser, JsonKeepsEveryBit) {
  const Normaliser normaliser{ChannelMap::identity(2), ChannelMap({1.0 / 3}, {std::sqrt(2.0)}),
                              ChannelMap({1e-300}, {1e300})};
  const Normaliser read = normaliser_from_json(nlohmann::json::parse(to_json(normaliser).dump()));
  EXPECT_EQ(read.input.shift(), normaliser.input.shift());
  EXPECT_EQ(read.input.scale(), normaliser.input.scale());
  EXPECT_EQ(read.output.scale(), normaliser.output.scale());
}

TEST(Normaliser, IncrementsAreKeptAndAdded) {
  Normaliser n{ChannelMap::identity(1), ChannelMap::identity(0), ChannelMap::identity(2), {0.1, 1.0 / 3}};
  EXPECT_EQ(normaliser_from_json(to_json(n)).increment, n.increment);
  const std::vector<float> state{1, 2, 3, 4};
  std::vector<float> network{10, 30, -10, 0};
  add_increment(n.increment, state, network);
  EXPECT_EQ(network, (std::vector<float>{2, 12, 2, 4}));
  n.increment.clear();
  EXPECT_FALSE(to_json(n).contains("increment"));
  add_increment(n.increment, state, network);
  EXPECT_EQ(network[0], 2);
}

TEST(Normaliser, ZeroOrInfiniteScalesAreRefused) {
  EXPECT_ERROR_WITH(ChannelMap({0.0}, {0.0}), "found shift 0.000000, scale 0.000000 in channel 0");
  EXPECT_ERROR_WITH(ChannelMap({0.0}, {INFINITY}), "found shift 0.000000, scale inf in channel 0");
  EXPECT_ERROR_WITH(ChannelMap({0.0}, {1.0, 2.0}), "as many scales");
}

}  // namespace
}  // namespace lano::normaliser_test
