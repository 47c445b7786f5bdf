#include "data/sample_feed.h"

#include <cmath>

#include "tiny_darcy.h"

namespace lano::sample_feed_test {
namespace {

TEST(SampleFeed, BothWaysGiveTheSameNumbersInThePlannedOrder) {
  test::Scratch scratch;
  const auto path = test::darcy(scratch, 24, 2);
  const DatasetReader reader(path);
  const std::vector<std::int64_t> ids = reader.indices(Split::train);
  const Normaliser normaliser{ChannelMap({0.5, 0.5}, {0.3, 0.3}), ChannelMap({7}, {4}), ChannelMap({0}, {0.01})};
  SampleFeed whole(reader, ids, reader.read(ids), normaliser, {}), ahead(reader, ids, {}, normaliser, {});
  std::vector<std::vector<Item>> plan;
  for (std::int64_t i = 0; i < 17; ++i) plan.push_back({{i, 0}, {(5 * i + 3) % 18, 0}});
  plan.push_back({{4, 0}});
  for (int round = 0; round < 2; ++round) {
    whole.plan(plan);
    ahead.plan(plan);
    for (std::size_t b = 0; b < plan.size(); ++b) {
      const PreparedBatch one = whole.next(), two = ahead.next();
      const FieldBatch x = one.set->batch(one.items), y = two.set->batch(two.items);
      EXPECT_EQ(x.coordinates, y.coordinates);
      EXPECT_EQ(x.input, y.input);
      EXPECT_EQ(x.spacing, y.spacing);
      EXPECT_EQ(x.origin, y.origin);
      EXPECT_EQ(one.set->truth(one.items), two.set->truth(two.items));
      if (round == 0 && b == 7) break;  // a plan left in the middle is forgotten
    }
  }
}

TEST(SampleFeed, WhatReadingThrowsComesOutOfNext) {
  test::Scratch scratch;
  const auto path = test::darcy(scratch, 8, 2);
  const DatasetReader reader(path);
  SampleFeed feed(reader, {0, 1, 99}, {}, {ChannelMap::identity(2), ChannelMap::identity(1), ChannelMap::identity(1)},
                  {});
  feed.plan({{{0, 0}}, {{2, 0}}});
  feed.next();
  EXPECT_ERROR_WITH(feed.next(), "a sample below 10");
}

TEST(SampleFeed, PiecesCoverTheSamplesInOrderAndInBounds) {
  test::Scratch scratch;
  const DatasetReader reader(test::darcy(scratch, 24, 10));
  const auto ids = reader.indices("all");
  EXPECT_EQ(sample_bytes(reader, ids), 34 * 121 * 2 * 4);
  std::vector<std::int64_t> seen, sizes;
  read_in_pieces(reader, ids, 17 * 121 * 2 * 4, [&](const Samples& piece) {
    seen.insert(seen.end(), piece.ids.begin(), piece.ids.end());
    sizes.push_back(piece.count);
  });
  EXPECT_EQ(seen, ids);
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{16, 16, 2}));
}

}  // namespace
}  // namespace lano::sample_feed_test
