// data.train_on = "train+validation": a run learns from both splits as if the dataset had no validation split.
#include <cmath>

#include "core/atomic_file.h"
#include "run/run_record.h"
#include "runtime/model_file.h"
#include "train/split_survey.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"

namespace lano::train_on_test {
namespace {

TrainConfig both(const std::filesystem::path& data) {
  TrainConfig config = test::tiny(data);
  config.train_on = TrainOn::train_and_validation;
  config.selection = Selection::last;
  config.epochs = 2;
  return config;
}

TEST(TrainOn, BothSplitsAreThoseOfADatasetWithoutValidation) {
  test::Scratch scratch;
  const auto kept = test::darcy(scratch, 12, 3), whole = test::darcy(scratch, 12, 3, 0, 11, "whole.h5");
  ASSERT_EQ(DatasetReader(kept).indices(Split::validation).size(), 3u);
  TrainOptions options;
  options.baselines = true;
  const TrainResult result = train(both(kept), scratch / "both", options);
  TrainConfig plain = both(whole);
  plain.train_on = TrainOn::train;
  const TrainResult expected = train(plain, scratch / "plain", options);
  const ModelFile made = read_model_file(scratch / "both/model.safetensors"),
                  as = read_model_file(scratch / "plain/model.safetensors");
  ASSERT_EQ(made.weights.size(), as.weights.size());
  for (const auto& [name, tensor] : as.weights) EXPECT_EQ(made.weights.at(name).values, tensor.values) << name;
  EXPECT_EQ(made.normaliser.output.scale(), as.normaliser.output.scale());
  EXPECT_EQ(made.normaliser.input.shift(), as.normaliser.input.shift());
  EXPECT_EQ(made.provenance["train_samples"], 12);
  EXPECT_EQ(trained_on(made.provenance), TrainOn::train_and_validation);
  EXPECT_EQ(trained_on(as.provenance), TrainOn::train);
  EXPECT_EQ(result.test_l2, expected.test_l2);
  EXPECT_TRUE(std::isnan(result.validation_l2));
  EXPECT_TRUE(result.validation_baselines.empty());
  ASSERT_EQ(result.test_baselines.size(), expected.test_baselines.size());
  for (std::size_t i = 0; i < expected.test_baselines.size(); ++i)
    EXPECT_EQ(result.test_baselines[i].relative_l2, expected.test_baselines[i].relative_l2);
  const RunRecord record = read_run_record(scratch / "both");
  EXPECT_EQ(record.train_samples, 12);
  EXPECT_EQ(record.validation_samples, 0);
}

TEST(TrainOn, NothingIsChosenOnSamplesThatWereLearnedFrom) {
  test::Scratch scratch;
  TrainConfig config = both(test::darcy(scratch, 12, 2));
  config.selection = Selection::best;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "train.selection = \"last\" for data.train_on");
  config = both(config.data);
  config.patience = 3;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "train.patience = 0 for data.train_on");
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
}

TEST(TrainOn, AStoppedRunGoesOnOnlyWithTheSameSamples) {
  test::Scratch scratch;
  const TrainConfig config = both(test::darcy(scratch, 12, 2));
  train(config, scratch / "whole");
  TrainOptions options;
  options.resume = true;
  options.stop_after = 1;
  EXPECT_FALSE(train(config, scratch / "parts", options).finished);
  options.stop_after = 0;
  TrainConfig other = config;
  other.train_on = TrainOn::train;
  EXPECT_ERROR_WITH(train(other, scratch / "parts", options), "the config differs from the one it was started with");
  EXPECT_TRUE(train(config, scratch / "parts", options).finished);
  EXPECT_EQ(read_file(scratch / "whole/model.safetensors", "r"), read_file(scratch / "parts/model.safetensors", "r"));
}

}  // namespace
}  // namespace lano::train_on_test
