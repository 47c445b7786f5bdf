#include "train/sample_feed.h"

#include <cmath>

#include "train/split_survey.h"
#include "train/tiny_runs.h"

namespace lano {
namespace {

TEST(SampleFeed, BothWaysGiveTheSameTensorsInThePlannedOrder) {
  test::Scratch scratch;
  const auto path = test::darcy(scratch, 24, 2);
  const DatasetReader reader(path);
  TrainConfig config = test::tiny(path);
  config.coordinates = Scaling::channel;
  const SplitSurvey memory = survey_split(reader, config);
  config.memory_gb = 0;
  const SplitSurvey pieces = survey_split(reader, config);
  EXPECT_TRUE(memory.in_memory);
  EXPECT_FALSE(pieces.in_memory);
  EXPECT_EQ(pieces.samples.count, 0);
  EXPECT_EQ(memory.normaliser.output.scale(), pieces.normaliser.output.scale());
  EXPECT_EQ(memory.normaliser.input.shift(), pieces.normaliser.input.shift());
  EXPECT_EQ(memory.normaliser.coordinates.shift(), pieces.normaliser.coordinates.shift());
  EXPECT_EQ(memory.box, pieces.box);
  EXPECT_EQ(memory.network_box, pieces.network_box);
  EXPECT_EQ(memory.spacing, pieces.spacing);
  EXPECT_EQ(memory.shared_coordinates, pieces.shared_coordinates);

  SampleFeed whole(reader, memory.ids, memory.samples, memory.normaliser, {}), ahead(reader, pieces.ids, {}, pieces.normaliser, {});
  std::vector<std::vector<Item>> plan;
  for (std::int64_t i = 0; i < 17; ++i) plan.push_back({{i, 0}, {(5 * i + 3) % 18, 0}});
  plan.push_back({{4, 0}});
  for (int round = 0; round < 2; ++round) {
    whole.plan(plan);
    ahead.plan(plan);
    for (std::size_t b = 0; b < plan.size(); ++b) {
      const PreparedBatch one = whole.next(), two = ahead.next();
      const Batch x = one.set->batch(one.items), y = two.set->batch(two.items);
      EXPECT_TRUE(torch::equal(x.coordinates, y.coordinates));
      EXPECT_TRUE(torch::equal(x.input, y.input));
      EXPECT_EQ(x.spacing, y.spacing);
      EXPECT_EQ(x.origin, y.origin);
      EXPECT_TRUE(torch::equal(one.set->truth(one.items), two.set->truth(two.items)));
      if (round == 0 && b == 7) break;  // a plan left in the middle is forgotten
    }
  }
}

TEST(SampleFeed, WhatReadingThrowsComesOutOfNext) {
  test::Scratch scratch;
  const auto path = test::darcy(scratch, 8, 2);
  const DatasetReader reader(path);
  const SplitSurvey survey = survey_split(reader, test::tiny(path));
  SampleFeed feed(reader, {0, 1, 99}, {}, survey.normaliser, {});
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
}  // namespace lano
