#include "train/split_survey.h"

#include "train/tiny_runs.h"

namespace lano::split_survey_test {
namespace {

TEST(SplitSurvey, PiecesTellTheSameAsTheWholeSplit) {
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
}

}  // namespace
}  // namespace lano::split_survey_test
