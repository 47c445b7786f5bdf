// Operators other than LANO in training: running statistics travel with the weights, a stopped run ends with the same
// bytes.
#include <algorithm>

#include "core/atomic_file.h"
#include "evaluate/evaluation.h"
#include "experiment/pair_run.h"
#include "libtorch/baseline.h"
#include "libtorch/flat_parameters.h"
#include "libtorch/torch_predictor.h"
#include "libtorch/torch_trainable.h"
#include "model_spec/model_catalogue.h"
#include "run/run_folder.h"
#include "train/checkpoint.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"

namespace lano::baseline_run_test {
namespace {

using test::darcy;
using test::tiny;

// The smallest operator with running statistics: two linear maps of points with a batch norm and dropout between them.
class Normed : public Baseline {
 public:
  Normed(const BaselineConfig& config, const LanoShape& shape) : Baseline(config, shape) {
    register_encoder(false);
    norm_ = register_module("norm", torch::nn::BatchNorm1d(config.width));
    decoder_ = register_module("decoder", torch::nn::Linear(config.width, shape.output_channels));
  }

 private:
  torch::Tensor apply(const Points& points) override {
    const torch::Tensor f = norm_(encode(points).transpose(1, 2)).transpose(1, 2);
    return decoder_(torch::dropout(torch::gelu(f), config_.dropout, is_training()));
  }
  torch::nn::BatchNorm1d norm_{nullptr};
  torch::nn::Linear decoder_{nullptr};
};

std::shared_ptr<OperatorModel> make_normed(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<Normed>(config, shape);
}

const char* normed() {
  static const bool once = [] {
    register_model("normed", make_normed);
    return true;
  }();
  static_cast<void>(once);
  return "normed";
}

TrainOptions resumed(std::int64_t stop = 0) {
  TrainOptions options;
  options.resume = true;
  options.stop_after = stop;
  return options;
}

double error_on(const std::filesystem::path& model, const std::string& data, Split split) {
  const auto predictor = load_torch_predictor(model);
  const DatasetReader reader(data);
  return judge(*predictor, reader.description(), reader.read(reader.indices(split)))
      .evaluation.relative_l2.summary.mean;
}

class BaselineRun : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, BaselineRun, ::testing::Values("normed", "transolver"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(BaselineRun, AResumedRunEndsWithTheSameBytes) {
  normed();
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 12, 2));
  config.model = GetParam();
  config.lano.dropout = 0.2;
  config.ema = 0.9;
  config.accumulate = 2;
  config.checkpoint_steps = 1;
  const TrainResult whole = train(config, scratch / "whole");
  for (const std::int64_t stop : {1, 3}) EXPECT_FALSE(train(config, scratch / "parts", resumed(stop)).finished);
  const TrainResult parts = train(config, scratch / "parts", resumed());
  EXPECT_TRUE(parts.finished);
  EXPECT_EQ(parts.test_l2, whole.test_l2);
  EXPECT_EQ(read_file(scratch / "whole/model.safetensors", "r"), read_file(scratch / "parts/model.safetensors", "r"));
  const auto state = [&](const char* run) { return read_checkpoint(CheckpointFolder(scratch / run).files().back()); };
  EXPECT_EQ(state("whole/checkpoint").buffers, state("parts/checkpoint").buffers);
  EXPECT_EQ(state("whole/checkpoint").best_buffers, state("parts/checkpoint").best_buffers);
  EXPECT_EQ(state("whole/checkpoint").average, state("parts/checkpoint").average);
  // In the middle of an epoch, too: a state after every step was kept.
  std::filesystem::remove_all(scratch / "parts");
  TrainOptions killed = resumed();
  killed.after_step = [](std::int64_t step) {
    if (step == 5) throw Error("killed");
  };
  EXPECT_ERROR_WITH(train(config, scratch / "parts", killed), "killed");
  train(config, scratch / "parts", resumed());
  EXPECT_EQ(read_file(scratch / "whole/model.safetensors", "r"), read_file(scratch / "parts/model.safetensors", "r"));
}

TEST_P(BaselineRun, TheModelFileAloneGivesTheSameErrors) {
  normed();
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 12, 4));
  config.model = GetParam();
  config.epochs = 3;
  const TrainResult result = train(config, scratch / "run");
  EXPECT_DOUBLE_EQ(error_on(scratch / "run/model.safetensors", config.data, Split::test), result.test_l2);
  EXPECT_DOUBLE_EQ(error_on(scratch / "run/model.safetensors", config.data, Split::validation), result.validation_l2);
  const ModelFile file = read_model_file(scratch / "run/model.safetensors");
  EXPECT_EQ(file.parameter_count(), result.parameters);  // statistics are no parameters
  EXPECT_EQ(file.buffers.size(), GetParam() == std::string("normed") ? 2u : 0u);
  EXPECT_EQ(file.architecture.at("name"), GetParam());
}

// Weights and statistics of one and the same epoch: where a later one was worse, neither of its halves is kept.
TEST(RunningStatistics, ThoseOfTheBestEpochAreKept) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 12, 2));
  config.model = normed();
  config.epochs = 8;
  config.schedule.kind = ScheduleKind::constant;
  config.schedule.learning_rate = 0.5;  // thrown about: the last epoch is not the best
  config.clip = 0;
  const TrainResult result = train(config, scratch / "run");
  ASSERT_LT(result.best_epoch, config.epochs);
  const Checkpoint last = read_checkpoint(CheckpointFolder(scratch / "run/checkpoint").files().back());
  EXPECT_NE(last.buffers, last.best_buffers);
  EXPECT_DOUBLE_EQ(error_on(scratch / "run/model.safetensors", config.data, Split::validation), result.validation_l2);
  EXPECT_DOUBLE_EQ(error_on(scratch / "run/model.safetensors", config.data, Split::test), result.test_l2);
}

TEST(RunningStatistics, AStateWithoutThemIsOfAnotherModel) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.model = normed();
  config.epochs = 2;
  train(config, scratch / "run", resumed(1));
  const auto path = CheckpointFolder(scratch / "run/checkpoint").files().back();
  Checkpoint state = read_checkpoint(path);
  EXPECT_EQ(state.buffers.size(), 32u);  // mean and variance of 16 channels
  state.buffers.clear();
  write_checkpoint(path, state);
  EXPECT_ERROR_WITH(train(config, scratch / "run", resumed()), "32 running statistics, found 0");

  ModelFile file = read_model_file(scratch / "run/model.safetensors");
  file.buffers.begin()->second.shape = {4, 4};
  write_model_file(scratch / "wrong.safetensors", file);
  EXPECT_ERROR_WITH(load_torch_predictor(scratch / "wrong.safetensors"), "of shape [16]");
  file.buffers.erase(file.buffers.begin());
  write_model_file(scratch / "less.safetensors", file);
  EXPECT_ERROR_WITH(load_torch_predictor(scratch / "less.safetensors"), "the file is of another model");
}

TEST(BaselineConfigs, WhatOnlyALanoHasIsRefusedWhereItMustAct) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.model = "transolver";
  config.agents_range = {4, 16};
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "other models have no agents, found 'transolver'");
  config.agents_range.clear();
  config.baseline.slices = 0;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "model.slices between 1 and");
  config.model = "transolvr";
  config.baseline.slices = 4;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "did you mean 'transolver'?");
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
  EXPECT_ERROR_WITH(register_model("lano", make_normed), "a new name");
}

TEST(BaselineConfigs, OnlyHeadsThatAreReadMustDivideTheWidth) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.lano.width = 20;
  config.lano.heads = 8;
  config.baseline.modes = 4;
  config.epochs = 1;
  config.model = "fno";
  config.lano.agents = 0;  // of a LANO
  train(config, scratch / "fno");
  EXPECT_EQ(read_model_file(scratch / "fno/model.safetensors").architecture.at("width"), 20);
  config.lano.agents = 9;
  for (const char* const name : {"wmt", "u-fno", "geo-fno", "u-no", "f-fno", "deeponet", "ano"}) {
    config.model = name;
    EXPECT_NO_THROW(check_train_config(config)) << name;
  }
  for (const char* const name : {"lano", "transolver", "lsm", "mine"}) {
    config.model = name;
    EXPECT_ERROR_WITH(check_train_config(config), "model.width to be a multiple of model.heads, found 20 and 8");
  }
}

// Waves in space are of the box of the points as the network sees them (here about -1.6 to 1.6): the file carries it.
TEST(BaselineBoxes, AreThoseOfTheTrainingPoints) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.coordinates = Scaling::channel;
  config.epochs = 1;
  config.baseline.modes = 3;
  config.baseline.latent_grid = 16;
  for (const char* const model : {"geo-fno", "oformer"}) {
    config.model = model;
    train(config, scratch / model);
    const ModelFile file = read_model_file(scratch / model / "model.safetensors");
    std::vector<float> seen(file.coordinates.size());
    file.normaliser.coordinates.encode(file.coordinates, seen);
    const std::vector<double> box = bounds(seen, 2);
    EXPECT_LT(box[0], -1);
    EXPECT_EQ(file.architecture.at("reference_box").get<std::vector<double>>(), box) << model;
  }
}

TEST(EpochSamples, AnEpochOfFewerSamplesDrawsThemAnew) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 16, 2));  // 12 training samples
  config.epochs = 6;
  config.epoch_samples = 3;
  std::int64_t steps = 0;
  TrainOptions options;
  options.after_step = [&](std::int64_t step) { steps = step; };
  const TrainResult result = train(config, scratch / "run", options);
  EXPECT_EQ(result.epochs, 6);
  EXPECT_EQ(steps, 12);  // batches of 2 and 1
  // A resumed run sees the same ones; all samples twice over is another training.
  train(config, scratch / "parts", resumed(2));
  train(config, scratch / "parts", resumed());
  EXPECT_EQ(read_file(scratch / "run/model.safetensors", "r"), read_file(scratch / "parts/model.safetensors", "r"));
  config.epoch_samples = 100;  // more than there are: all
  config.epochs = 1;
  train(config, scratch / "more", options);
  EXPECT_EQ(steps, 6);
}

// The features of an ONO overflow in the forward pass of the second step, before there is a loss.
TEST(PairRun, AForwardPassThatIsNotFiniteIsADivergence) {
  test::Scratch scratch;
  TrainConfig config = test::tiny(test::darcy(scratch, 8, 2));
  config.model = "ono";
  config.schedule.kind = ScheduleKind::constant;
  config.schedule.learning_rate = 1e30;
  run_pair_child(config, scratch / "run", scratch / "result.json", {});
  const auto result = nlohmann::json::parse(read_file(scratch / "result.json", "reading"));
  EXPECT_EQ(result.at("state"), "diverged") << result.dump();
  EXPECT_NE(result.at("sentence").get<std::string>().find("features of an ONO"), std::string::npos) << result.dump();
}

}  // namespace
}  // namespace lano::baseline_run_test
