#include "train/split_survey.h"

#include "train/tiny_runs.h"
#include "train/trainer.h"

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

// A line of three points, the output of every sample as given; two samples to train on, one to test.
std::filesystem::path line_of(const test::Scratch& scratch, float train, float test) {
  SetDescription set;
  set.name = "line";
  set.shape = {3};
  set.coordinates = {{"x", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1};
  set.generator = "{}";
  DatasetWriter writer(scratch / "line.h5", set, {Split::train, Split::train, Split::test},
                       std::vector<float>{0, 0.5, 1});
  for (std::int64_t i = 0; i < 3; ++i) writer.write(i, {}, {}, std::vector<float>{i < 2 ? train : test, 0, 0});
  writer.commit();
  return scratch / "line.h5";
}

TEST(SplitSurvey, OutputWithoutDigitsIsRefused) {
  test::Scratch scratch;
  const auto path = line_of(scratch, 1e-40f, 1);
  EXPECT_ERROR_WITH(survey_split(DatasetReader(path), test::tiny(path)), "give them in another unit");
  for (const float value : {1.2e-38f, 1e-30f, 1e38f, 0.0f}) {
    const auto good = line_of(scratch, value, 1);
    EXPECT_NO_THROW(survey_split(DatasetReader(good), test::tiny(good))) << value;
  }
}

TEST(Subject, ANanInTheTestSplitIsSaidBeforeTraining) {
  test::Scratch scratch;
  const auto path = line_of(scratch, 1, std::numeric_limits<float>::quiet_NaN());
  TrainConfig config = test::tiny(path);
  config.selection = Selection::last;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "in /output, found nan in sample 2");
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
}

}  // namespace
}  // namespace lano::split_survey_test
