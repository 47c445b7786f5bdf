#include "train/trainer.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <numeric>

#include "core/atomic_file.h"
#include "core/interrupt.h"
#include "core/random.h"
#include "data/generation.h"
#include "evaluate/evaluation.h"
#include "evaluate/loaded_model.h"
#include "pde/burgers_problem.h"
#include "run/run_folder.h"
#include "run/run_record.h"
#include "scratch.h"
#include "train/checkpoint.h"
#include "train/tiny_runs.h"

namespace lano::trainer_test {
namespace {

using test::darcy;
using test::tiny;

TEST(Trainer, LearnsAndWritesAWholeRun) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 64, 8));
  config.epochs = 12;
  const TrainResult result = train(config, scratch / "run");
  // Predicting the mean solution scores about 0.48 on such a dataset; a trained operator must be far below.
  EXPECT_LT(result.test_l2, 0.2);
  EXPECT_LT(result.validation_l2, 0.2);
  const RunFolder run(scratch / "run");
  const CheckpointFolder checkpoints(run.checkpoints());
  EXPECT_TRUE(std::filesystem::exists(checkpoints.best()));
  EXPECT_EQ(checkpoints.files().size(), 2u);
  for (const auto& path : {run.config(), run.metrics(), run.model(), run_record_file(run.path()), run.shown_samples(),
                           scratch / "run/events.jsonl"}) {
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
  }
  // The model file alone gives the same test error.
  const LoadedModel trained = load_model(run.model());
  const DatasetReader reader(config.data);
  const Samples samples = reader.read(reader.indices(Split::test));
  const Evaluation again = judge(*trained.predictor, reader.description(), samples).evaluation;
  EXPECT_DOUBLE_EQ(again.relative_l2.summary.mean, result.test_l2);
  // The chosen epoch is the best of those in metrics.csv.
  std::istringstream rows(read_file(run.metrics(), "r"));
  std::string line;
  std::getline(rows, line);
  EXPECT_EQ(line, "epoch,step,learning_rate,train_loss,validation_l2,validation_ema_l2,seconds");
  double best = 1e300;
  std::int64_t best_epoch = 0, epochs = 0;
  while (std::getline(rows, line)) {
    std::vector<double> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell.empty() ? 0 : std::stod(cell));
    ++epochs;
    if (cells[4] < best) {
      best = cells[4];
      best_epoch = static_cast<std::int64_t>(cells[0]);
    }
  }
  EXPECT_EQ(epochs, 12);
  EXPECT_EQ(best_epoch, result.best_epoch);
  EXPECT_NEAR(best, result.validation_l2, 1e-8);
}

TEST(Trainer, TheNormaliserSeesOnlyTheTrainingSplit) {
  test::Scratch scratch;
  const auto path = darcy(scratch, 8, 4);
  TrainConfig config = tiny(path);
  config.epochs = 1;
  train(config, scratch / "run");
  const DatasetReader reader(path);
  const Samples samples = reader.read(reader.indices(Split::train));
  ChannelStatistics statistics(1);
  for (std::int64_t s = 0; s < samples.count; ++s)
    statistics.add(std::span(samples.output).subspan(static_cast<std::size_t>(s) * 121, 121));
  const ModelFile model = read_model_file(scratch / "run/model.safetensors");
  EXPECT_EQ(model.normaliser.output.shift(), statistics.map().shift());
  EXPECT_EQ(model.normaliser.output.scale(), statistics.map().scale());
}

TrainOptions resumed(std::int64_t stop = 0) {
  TrainOptions options;
  options.resume = true;
  options.stop_after = stop;
  return options;
}

TEST(Trainer, AResumedRunEndsWithTheSameBytes) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 12, 2));
  config.lano.dropout = 0.1;
  const TrainResult whole = train(config, scratch / "whole");
  for (const std::int64_t stop : {1, 3}) {
    EXPECT_FALSE(train(config, scratch / "parts", resumed(stop)).finished);
    EXPECT_FALSE(std::filesystem::exists(scratch / "parts/evaluation.json"));  // the test split was not touched
  }
  // As if killed between the last checkpoint and the model file.
  train(config, scratch / "parts", resumed(config.epochs));
  std::filesystem::remove(scratch / "parts/model.safetensors");
  std::filesystem::remove(scratch / "parts/evaluation.json");
  const TrainResult parts = train(config, scratch / "parts", resumed());
  EXPECT_TRUE(parts.finished);
  EXPECT_EQ(parts.test_l2, whole.test_l2);
  for (const char* file : {"model.safetensors", "config.toml"}) {
    EXPECT_EQ(read_file((scratch / "whole") / file, "r"), read_file((scratch / "parts") / file, "r")) << file;
  }
  TrainConfig other = config;
  other.batch = 3;
  EXPECT_ERROR_WITH(train(other, scratch / "parts", resumed()), "the config differs from the one it was started with");
}

TEST(Trainer, PermutedPointsOfACloudGivePermutedPredictions) {
  test::Scratch scratch;
  SetDescription set;
  set.name = "cloud";
  set.geometry = Geometry::points;
  set.shape = {50};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1, 0, 1};
  RandomStream stream(3, Purpose::test);
  {
    DatasetWriter writer(scratch / "cloud.h5", set, make_splits(5, 1, 0.2), std::span<const float>());
    for (std::int64_t s = 0; s < 6; ++s) {
      std::vector<float> x, a, u;
      for (int p = 0; p < 50; ++p) {
        x.insert(x.end(), {static_cast<float>(stream.uniform()), static_cast<float>(stream.uniform())});
        a.push_back(static_cast<float>(stream.normal()));
        u.push_back(x[x.size() - 1] + a.back());
      }
      writer.write(s, x, a, u);
    }
    writer.commit();
  }
  TrainConfig config = tiny(scratch / "cloud.h5");
  config.loss.gradient_weight = 0;
  config.epochs = 1;
  train(config, scratch / "run");
  const LoadedModel trained = load_model(scratch / "run/model.safetensors");
  EXPECT_EQ(trained.about.architecture.at("order_box").size(), 4u);
  const DatasetReader reader(scratch / "cloud.h5");
  Samples given = reader.read(reader.indices(Split::test));
  const auto straight = trained.predictor->predict(set, given).values;
  std::vector<std::int64_t> permutation(50);
  std::iota(permutation.begin(), permutation.end(), 0);
  shuffle(permutation, stream);
  Samples mixed = given;
  for (std::size_t i = 0; i < 50; ++i) {
    const auto from = static_cast<std::size_t>(permutation[i]);
    mixed.coordinates[2 * i] = given.coordinates[2 * from];
    mixed.coordinates[2 * i + 1] = given.coordinates[2 * from + 1];
    mixed.input[i] = given.input[from];
  }
  const auto permuted = trained.predictor->predict(set, mixed).values;
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(permuted[i], straight[static_cast<std::size_t>(permutation[i])]);
}

TEST(Trainer, MistakesAreNamedBeforeAnythingIsWritten) {
  test::Scratch scratch;
  const auto path = darcy(scratch, 6, 2, 0);
  TrainConfig config = tiny(path);
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "a validation split");
  config.selection = Selection::last;
  config.lano.agents = 127;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "patches of a [11, 11] grid");
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
  config = tiny(scratch / "none.h5");
  EXPECT_ERROR_WITH(train(config, scratch / "none"), "nothing at that path");
  EXPECT_FALSE(std::filesystem::exists(scratch / "none"));
  config = tiny(path);
  config.epochs = 0;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "train.epochs of 1 to a billion");
}

TEST(Trainer, WithoutValidationTheLastWeightsAreKept) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 6, 2, 0));
  config.selection = Selection::last;
  config.epochs = 2;
  const TrainResult result = train(config, scratch / "run");
  EXPECT_EQ(result.best_epoch, 2);
  EXPECT_TRUE(std::isnan(result.validation_l2));
  EXPECT_TRUE(std::isfinite(result.test_l2));
}

TEST(Trainer, ADivergingRunNamesStepAndSamples) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 6, 2));
  config.schedule.kind = ScheduleKind::constant;
  config.schedule.learning_rate = 1e38;
  config.clip = 0;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "NaN or infinity on samples");
}

TEST(Trainer, ADivergingRunNamesTheLastGoodState) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.epochs = 3;
  train(config, scratch / "run", resumed(2));
  // A sample that blows up in the third epoch: values so large that the loss overflows.
  TrainConfig wild = config;
  wild.schedule.kind = ScheduleKind::step;
  wild.schedule.step_epochs = 1;
  wild.checkpoint_steps = 1;
  wild.clip = 0;
  wild.schedule.learning_rate = 1e30;
  const std::string message = test::error_of([&] { train(wild, scratch / "wild"); });
  EXPECT_NE(message.find("training, step "), std::string::npos) << message;
  EXPECT_NE(message.find("on samples "), std::string::npos) << message;
  EXPECT_NE(message.find("the last finite state is in"), std::string::npos) << message;
  EXPECT_NE(message.find("step-0000000001"), std::string::npos) << message;
  EXPECT_EQ(read_checkpoint(CheckpointFolder(scratch / "wild/checkpoint").files().back()).steps, 1);
}

TEST(Trainer, WeightsThatOverflowAreNeverSaved) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.schedule.kind = ScheduleKind::constant;
  config.schedule.learning_rate = 1e38;
  config.optimiser.weight_decay = 1e5;  // p (1 - lr wd) is beyond float32
  config.checkpoint_steps = 1;
  const std::string message = test::error_of([&] { train(config, scratch / "run"); });
  EXPECT_NE(message.find("finite weights after the last step"), std::string::npos) << message;
  EXPECT_NE(message.find("there is no checkpoint yet"), std::string::npos) << message;
  EXPECT_TRUE(CheckpointFolder(scratch / "run/checkpoint").files().empty());
}

TEST(Trainer, MinutesLeaveAStateToo) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 24, 2));
  config.checkpoint_minutes = 1e-9;
  TrainOptions options;
  options.after_step = [](std::int64_t step) {
    if (step == 6) throw Error("stop");
  };
  EXPECT_ERROR_WITH(train(config, scratch / "run", options), "stop");
  EXPECT_EQ(read_checkpoint(CheckpointFolder(scratch / "run/checkpoint").files().back()).steps, 5);
}

TEST(Trainer, AKillBehindTheCheckpointLosesNeitherBestNorMakesLitter) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 12, 2));
  train(config, scratch / "run", resumed(1));
  const CheckpointFolder folder(scratch / "run/checkpoint");
  std::filesystem::remove(folder.best());
  std::ofstream(scratch / "run/checkpoint/step-0000000009.safetensors.77.part") << "half";
  std::ofstream(scratch / "run/model.safetensors.77.part") << "half";
  train(config, scratch / "run", resumed(1));
  EXPECT_EQ(read_checkpoint(folder.best()).epoch, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch / "run/checkpoint/step-0000000009.safetensors.77.part"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "run/model.safetensors.77.part"));
  // Another recipe is refused also before the first checkpoint, and so are states of an earlier build.
  for (const auto& file : folder.files()) std::filesystem::remove(file);
  TrainConfig other = config;
  other.batch = 3;
  EXPECT_ERROR_WITH(train(other, scratch / "run", resumed()), "the config differs from the one it was started with");
  std::ofstream(scratch / "run/checkpoint/last.safetensors") << "old";
  EXPECT_ERROR_WITH(train(config, scratch / "run", resumed()), "one of an earlier build");
}

TEST(Trainer, AccumulatedBatchesMakeTheStepOfTheLargeBatch) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 16, 2));
  config.epochs = 2;
  config.batch = 4;
  train(config, scratch / "large");
  config.batch = 1;
  config.accumulate = 4;
  train(config, scratch / "parts");
  const auto large = read_model_file(scratch / "large/model.safetensors"),
             parts = read_model_file(scratch / "parts/model.safetensors");
  // To the bit: the gradients of samples are added up one by one in either case.
  for (const auto& [name, tensor] : large.weights) EXPECT_EQ(tensor.values, parts.weights.at(name).values) << name;
}

TEST(Trainer, TheRunningMeanIsJudgedBesideTheWeights) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 24, 4));
  config.epochs = 6;
  config.ema = 0.9;
  config.schedule.kind = ScheduleKind::constant;
  train(config, scratch / "run");
  const auto files = CheckpointFolder(scratch / "run/checkpoint").files();
  const Checkpoint state = read_checkpoint(files.back());
  double best = 1e300;
  for (const EpochMetrics& m : state.history) {
    EXPECT_TRUE(std::isfinite(m.validation_ema_l2));
    EXPECT_NE(m.validation_ema_l2, m.validation_l2);
    best = std::min({best, m.validation_l2, m.validation_ema_l2});
  }
  EXPECT_EQ(state.best.error, best);
  const auto evaluation = nlohmann::json::parse(read_file(scratch / "run/evaluation.json", "r"));
  EXPECT_EQ(evaluation["weights"], state.best.average ? "ema" : "raw");
  EXPECT_NE(evaluation["selection_text"].get<std::string>().find("lowest validation error"), std::string::npos);
  // The mean is as documented: here with one step, between the start and the weights.
  config.epochs = 1;
  config.batch = 32;
  config.selection = Selection::last;
  train(config, scratch / "one");
  const Checkpoint one = read_checkpoint(CheckpointFolder(scratch / "one/checkpoint").files().back());
  ASSERT_EQ(one.steps, 1);
  EXPECT_EQ(one.best_weights, one.average);
  TrainConfig unmoved = config;
  unmoved.schedule.learning_rate = 1e-30;
  unmoved.ema = 0;
  train(unmoved, scratch / "start");
  const Checkpoint start = read_checkpoint(CheckpointFolder(scratch / "start/checkpoint").files().back());
  const float keep = 2.0f / 11;  // min(0.9, (1 + t) / (10 + t)) at t = 1
  for (std::size_t i = 0; i < one.average.size(); i += 97) {
    EXPECT_NEAR(one.average[i], keep * start.weights[i] + (1 - keep) * one.weights[i], 1e-6);
  }
}

TEST(Trainer, PatienceEndsARunThatNoLongerImproves) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.epochs = 30;
  config.patience = 2;
  config.schedule.kind = ScheduleKind::constant;
  config.schedule.learning_rate = 1e-12;  // nothing changes after the first epoch, up to rounding
  const TrainResult result = train(config, scratch / "run");
  EXPECT_TRUE(result.finished);
  EXPECT_LT(result.epochs, 30);
  EXPECT_EQ(result.epochs, result.best_epoch + 2);
  EXPECT_TRUE(nlohmann::json::parse(read_file(scratch / "run/evaluation.json", "r"))["early_stop"].get<bool>());
  const TrainResult again = train(config, scratch / "run", resumed());  // it stays ended
  EXPECT_EQ(again.epochs, result.epochs);
  EXPECT_EQ(again.test_l2, result.test_l2);
  config.selection = Selection::last;
  const auto path = darcy(scratch, 8, 2, 0);
  EXPECT_ERROR_WITH(train(config, scratch / "none"), "train.patience needs a validation split");
}

TEST(Trainer, OneModelServesManyAgents) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 64, 8));
  config.epochs = 12;
  config.agents_range = {4, 25};
  const double mixed = train(config, scratch / "mixed").test_l2;
  EXPECT_LT(mixed, 0.2);
  const LoadedModel trained = load_model(scratch / "mixed/model.safetensors");
  const DatasetReader reader(config.data);
  const Samples samples = reader.read(reader.indices(Split::test));
  for (const std::int64_t agents : {4, 25}) {
    trained.predictor->use_agents(agents);
    EXPECT_LT(judge(*trained.predictor, reader.description(), samples).evaluation.relative_l2.summary.mean, 1.3 * mixed)
        << agents;
  }
  config.agents_range = {4, 1e9};
  EXPECT_ERROR_WITH(train(config, scratch / "many"), "at most 65536");
  config.agents_range = {9, 4};
  EXPECT_ERROR_WITH(train(config, scratch / "turned"), "train.agents_range = [least, most]");
}

TEST(Trainer, WithSymmetriesFewSamplesAreHarderToMemorise) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 16, 16));
  config.epochs = 40;
  const auto gap = [&](const char* run) {  // what the test split costs beyond the training loss
    const double test = train(config, scratch / run).test_l2;
    EXPECT_LT(test, 0.25);
    return test /
           read_checkpoint(CheckpointFolder(scratch / run / "checkpoint").files().back()).history.back().train_loss;
  };
  const double plain = gap("plain");
  config.augment = Augment::rotations;
  EXPECT_LT(gap("turned"), 0.95 * plain);
}

TEST(Trainer, ReadingAheadChangesNoByte) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 12, 2));
  train(config, scratch / "memory");
  config.memory_gb = 0;
  train(config, scratch / "ahead");
  EXPECT_EQ(read_file(scratch / "memory/model.safetensors", "r"), read_file(scratch / "ahead/model.safetensors", "r"));
}

TEST(Trainer, TwoRunsInOneFolderAreRefused) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 6, 2));
  config.epochs = 1;
  TrainOptions options;
  std::string second;
  options.after_step = [&](std::int64_t) {
    second = test::error_of([&] { train(config, scratch / "run", resumed()); });
  };
  train(config, scratch / "run", options);
  EXPECT_NE(second.find("a folder no other process works in"), std::string::npos) << second;
  EXPECT_NE(second.find(std::to_string(::getpid())), std::string::npos) << second;
  train(config, scratch / "run", resumed());  // free again
}

TEST(Trainer, AnotherDatasetMayNotResume) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 12, 2));
  train(config, scratch / "run", resumed(1));
  std::filesystem::rename(scratch / "darcy.h5", scratch / "moved.h5");
  darcy(scratch, 8, 2);
  EXPECT_ERROR_WITH(train(config, scratch / "run", resumed()), "expected 9 training samples of 'darcy', grid [11, 11]");
  config.data = (scratch / "moved.h5").string();
  EXPECT_TRUE(train(config, scratch / "run", resumed()).finished);
}

TEST(Trainer, AnInterruptEndsTheStepAndLeavesAState) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 24, 2));
  train(config, scratch / "whole");
  {
    const InterruptGuard guard;
    TrainOptions options;
    options.after_step = [](std::int64_t step) {
      if (step == 13) std::raise(SIGINT);
    };
    EXPECT_FALSE(train(config, scratch / "parts", options).finished);
    EXPECT_TRUE(interrupted());
  }
  EXPECT_EQ(read_checkpoint(CheckpointFolder(scratch / "parts/checkpoint").files().back()).steps, 13);
  const InterruptGuard fresh;
  EXPECT_TRUE(train(config, scratch / "parts", resumed()).finished);
  EXPECT_EQ(read_file(scratch / "whole/model.safetensors", "r"), read_file(scratch / "parts/model.safetensors", "r"));
}

// A disk that takes no more than some kilobytes per file stands for a full one.
TEST(Trainer, AFullDiskKeepsTheLastGoodState) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 24, 2));
  config.checkpoint_steps = 2;
  train(config, scratch / "whole");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  TrainOptions options;
  options.after_step = [&](std::int64_t step) {
    if (step == 5) {
      const rlimit little{1000, before.rlim_max};
      ::setrlimit(RLIMIT_FSIZE, &little);
    }
  };
  const std::string message = test::error_of([&] { train(config, scratch / "parts", options); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(message.find("space and permission to write"), std::string::npos) << message;
  EXPECT_NE(message.find("step-0000000004"), std::string::npos) << message;
  EXPECT_NE(message.find("lano train --resume"), std::string::npos) << message;
  const CheckpointFolder folder(scratch / "parts/checkpoint");
  EXPECT_EQ(folder.files().size(), 2u);  // and no half-written one
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch / "parts/checkpoint"), {}), 2);
  EXPECT_TRUE(train(config, scratch / "parts", resumed()).finished);
  EXPECT_EQ(read_file(scratch / "whole/model.safetensors", "r"), read_file(scratch / "parts/model.safetensors", "r"));
}

// The solver's further fields are stored with the output; runs do not touch them.
TEST(Trainer, SetsWithKeptFieldsTrainToTheEnd) {
  test::Scratch scratch;
  SetDescription set;
  set.name = "kept";
  set.geometry = Geometry::mesh;
  set.shape = {5, 4};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.output = {{"u", "1"}};
  set.kept = {{"p", "1"}, {"q", "1"}};
  set.box = {0, 1, 0, 1};
  RandomStream stream(3, Purpose::test);
  {
    DatasetWriter writer(scratch / "kept.h5", set, make_splits(6, 2, 0.3), std::span<const float>());
    for (std::int64_t s = 0; s < 8; ++s) {
      std::vector<float> x(40), u(20), kept(40, 7);
      for (float& value : x) value = static_cast<float>(stream.uniform());
      for (std::size_t p = 0; p < 20; ++p) u[p] = 1 + x[2 * p];
      writer.write(s, x, {}, u, kept);
    }
    writer.commit();
  }
  TrainConfig config = tiny(scratch / "kept.h5");
  config.loss.gradient_weight = 0;
  config.lano.agents = 4;
  config.epochs = 1;
  EXPECT_TRUE(std::isfinite(train(config, scratch / "run").test_l2));
  EXPECT_TRUE(DatasetReader(scratch / "run/evaluation.h5").description().kept.empty());
}

TEST(Trainer, WithoutTestTheSplitIsNotRead) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.epochs = 1;
  TrainOptions options;
  options.test = false;
  EXPECT_TRUE(std::isnan(train(config, scratch / "run", options).test_l2));
  EXPECT_FALSE(nlohmann::json::parse(read_file(scratch / "run/evaluation.json", "r")).contains("test"));
}

TEST(Trainer, WeightsOfTheWrongNumberAreNamed) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 6, 2));
  config.loss.channel_weights = {1, 2};
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "1 train.channel_weights");
  config = tiny(config.data);
  config.loss.frame_weights = {1};
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "0 train.frame_weights");
  config = tiny(config.data);
  config.points = 10;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "a point cloud for train.points");
}

// A model file of format version 1 as lano 0.1.0 wrote it: it must load for ever and give the predictions of that day.
TEST(TrainedModel, AFileOfVersionOneStillPredictsTheSame) {
  const LoadedModel trained = load_model(std::filesystem::path(LANO_TEST_FILES) / "model-v1.safetensors");
  Samples samples;
  samples.count = 1;
  samples.points = 81;
  samples.ids = {0};
  samples.coordinates = trained.about.coordinates;
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) samples.input.push_back((i + 2 * j) % 3 == 0 ? 12.0f : 3.0f);
  }
  const auto u = trained.predictor->predict(trained.about.set, samples).values;
  const std::pair<std::size_t, double> known[] = {
      {0 * 9 + 0, 0.000888168055}, {4 * 9 + 4, 0.00768688181}, {8 * 9 + 2, 0.00108496973}, {3 * 9 + 7, 0.00860316306}};
  for (const auto& [point, value] : known) EXPECT_NEAR(u[point], value, 1e-7);  // float32 of fields of 1e-2
}

TEST(TrainedModel, AnArchitectureThatDoesNotFitItsWeightsIsRefused) {
  test::Scratch scratch;
  const ModelFile good = read_model_file(std::filesystem::path(LANO_TEST_FILES) / "model-v1.safetensors");
  const auto with = [&](const char* key, nlohmann::json value) {
    ModelFile changed = good;
    changed.architecture[key] = std::move(value);
    write_model_file(scratch / "changed.safetensors", changed);
    return test::error_of([&] { load_model(scratch / "changed.safetensors"); });
  };
  EXPECT_NE(with("width", 1 << 30).find("the file is damaged"), std::string::npos);
  EXPECT_NE(with("layers", 1 << 30).find("the file is damaged"), std::string::npos);
  EXPECT_NE(with("layers", 2).find("the tensor 'blocks.1."), std::string::npos);
  EXPECT_NE(with("width", 16).find("the file is damaged"), std::string::npos);
  EXPECT_NE(with("agents", 1 << 30).find("model.agents of 1 to 65536"), std::string::npos);
  EXPECT_NE(with("ffn_ratio", 1 << 30).find("the file is damaged"), std::string::npos);
  EXPECT_NE(with("dims", 30).find("the file is damaged"), std::string::npos);
  EXPECT_NE(with("spacing", {0.0, 0.1}).find("spacings above 0"), std::string::npos);
  EXPECT_NE(with("dwc", "maybe").find("model.dwc"), std::string::npos);
  EXPECT_NE(with("patches", {3, 2}).find("sizes do not fit together"), std::string::npos);
  EXPECT_NE(with("bias", "outre").find("model.bias"), std::string::npos);
  EXPECT_NE(with("name", "lanno").find("did you mean 'lano'?"), std::string::npos);
}

std::filesystem::path burgers(const test::Scratch& scratch) {
  const auto path = scratch / "burgers.h5";
  BurgersConfig config;
  config.resolution = 16;
  config.stride = 2;
  config.frames = 5;
  const BurgersProblem problem(config);
  generate_dataset(
      path, problem.describe(), make_splits(16, 3, 0.25), problem.coordinates(),
      [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) { return problem.make(i, attempt, to); });
  return path;
}

TEST(Trainer, AutoregressiveModelsStepTheirOwnState) {
  test::Scratch scratch;
  TrainConfig config = tiny(burgers(scratch));
  config.loss.gradient_weight = 0;
  config.lano.task = Task::autoregressive;
  config.lano.agents = 4;
  config.rollout = 2;
  config.frames = 4;  // the fifth frame lies beyond the trained horizon
  config.epochs = 30;
  const TrainResult result = train(config, scratch / "run");
  const LoadedModel trained = load_model(scratch / "run/model.safetensors");
  const DatasetReader reader(config.data);
  const Samples samples = reader.read(reader.indices(Split::test));
  const Judged judged = judge(*trained.predictor, reader.description(), samples);
  const Evaluation& evaluation = judged.evaluation;
  ASSERT_EQ(evaluation.step_l2.size(), 4u);  // frames 1 .. 4, the first is given
  EXPECT_EQ(evaluation.first_frame, 1);
  EXPECT_NEAR(evaluation.relative_l2.summary.mean, result.test_l2, 1e-9);
  // Persistence (every frame equals the first) is the least a stepping model must beat.
  double persistence = 0;
  const std::size_t frame = 64 * 2;
  for (std::int64_t s = 0; s < samples.count; ++s) {
    const auto truth = samples.output_of(s, 2);
    std::vector<float> still;
    for (int t = 1; t < 5; ++t) still.insert(still.end(), truth.begin(), truth.begin() + frame);
    persistence += relative_l2(still, truth.subspan(frame)) / static_cast<double>(samples.count);
  }
  EXPECT_LT(result.test_l2, 0.7 * persistence);
  // A longer roll-out starts with the same frames and keeps the first state as given.
  const Prediction longer = trained.predictor->predict(reader.description(), samples, 9);
  EXPECT_EQ(longer.frames, 10);
  const auto known = judged.prediction.values.begin();
  for (std::size_t i = 0; i < 5 * frame; ++i) ASSERT_EQ(longer.values[i], known[static_cast<std::ptrdiff_t>(i)]);
  for (std::size_t i = 0; i < frame; ++i) ASSERT_NEAR(longer.values[i], samples.output[i], 1e-6);
}

// A wave u(x, t) = A sin(2 pi x + w t + phase): one frame does not show which way it goes, with two the next is linear
// in them. The first frames are among the input fields, next to a meaningless field.
std::filesystem::path wave(const test::Scratch& scratch, std::int64_t initial) {
  SetDescription set;
  set.name = "wave";
  set.shape = {16};
  set.coordinates = {{"x", "1"}};
  set.input = {{"idle", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1};
  set.generator = "{}";
  constexpr std::int64_t kFrames = 8;
  for (std::int64_t t = 0; t < kFrames; ++t) {
    (t < initial ? set.initial_time : set.time).push_back(static_cast<double>(t));
    if (t < initial) set.input.push_back({"u at " + std::to_string(t), "1"});
  }
  std::vector<float> x;
  for (int i = 0; i < 16; ++i) x.push_back(static_cast<float>(i) / 16);
  const auto path = scratch / "wave.h5";
  DatasetWriter writer(path, set, make_splits(40, 8, 0.2), x);
  RandomStream stream(4, Purpose::test);
  for (std::int64_t s = 0; s < 48; ++s) {
    const double size = 0.5 + stream.uniform(), phase = 6.283 * stream.uniform(), speed = s % 2 == 0 ? 0.7 : -0.7;
    const auto u = [&](std::size_t i, std::int64_t t) {
      return static_cast<float>(
          size * std::sin(6.2831853 * static_cast<double>(x[i]) + speed * static_cast<double>(t) + phase));
    };
    std::vector<float> input, output;
    for (std::size_t i = 0; i < 16; ++i) {
      input.push_back(static_cast<float>(s));
      for (std::int64_t t = 0; t < initial; ++t) input.push_back(u(i, t));
    }
    for (std::int64_t t = initial; t < kFrames; ++t) {
      for (std::size_t i = 0; i < 16; ++i) output.push_back(u(i, t));
    }
    writer.write(s, {}, input, output);
  }
  writer.commit();
  return path;
}

TEST(Trainer, SeveralFramesAreTheStateOfASteppingModel) {
  test::Scratch scratch;
  TrainConfig config = tiny(wave(scratch, 2));
  config.loss.gradient_weight = 0;
  config.lano.task = Task::autoregressive;
  config.lano.agents = 4;
  config.increments = true;
  config.noise = 0.003;
  config.epochs = 20;
  const TrainResult two = train(config, scratch / "two");  // as many frames as the dataset gives
  const DatasetReader reader(config.data, InitialFrames::output);
  EXPECT_EQ(reader.description().given_frames, 2);
  EXPECT_EQ(reader.description().input_channels(), 1);
  const LoadedModel trained = load_model(scratch / "two/model.safetensors");
  EXPECT_EQ(trained.predictor->state_frames(), 2);
  const Samples samples = reader.read(reader.indices(Split::test));
  const Judged judged = judge(*trained.predictor, reader.description(), samples);
  EXPECT_EQ(judged.evaluation.first_frame, 2);
  EXPECT_EQ(judged.evaluation.step_l2.size(), 6u);
  EXPECT_NEAR(judged.evaluation.relative_l2.summary.mean, two.test_l2, 1e-9);
  config.lano.state_frames = 1;
  const TrainResult one = train(config, scratch / "one");
  EXPECT_LT(two.test_l2, 0.5 * one.test_l2);
  // Judged by the same frames, from the last of those given.
  const LoadedModel single = load_model(scratch / "one/model.safetensors");
  EXPECT_EQ(judge(*single.predictor, reader.description(), samples).evaluation.first_frame, 2);
  config.lano.state_frames = 8;
  EXPECT_ERROR_WITH(train(config, scratch / "eight"), "at least 9 frames");
}

TEST(Trainer, ASetWithoutATestSplitIsNotSaidToBeJudged) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 0));
  config.epochs = 1;
  train(config, scratch / "run");
  const std::string how = read_run_record(scratch / "run").selection_text;
  EXPECT_NE(how.find("; the dataset has no test split"), std::string::npos) << how;
  EXPECT_EQ(how.find("judged"), std::string::npos) << how;
  EXPECT_NE(read_file(scratch / "run/events.jsonl", "r").find("\"set\":\"darcy\""), std::string::npos);
}

TEST(Trainer, TimeConditionalModelsAnswerForEveryFrame) {
  test::Scratch scratch;
  TrainConfig config = tiny(burgers(scratch));
  config.loss.gradient_weight = 0;
  config.lano.agents = 4;
  EXPECT_ERROR_WITH(train(config, scratch / "run"), "a dataset without times for model.task");
  config.lano.task = Task::time_conditional;
  config.epochs = 6;
  const TrainResult result = train(config, scratch / "run");
  EXPECT_LT(result.test_l2, 0.5);
  const auto evaluation = nlohmann::json::parse(read_file(scratch / "run/evaluation.json", "r"));
  EXPECT_EQ(evaluation["test"]["per_step"]["relative_l2"].size(), 5u);
  EXPECT_EQ(evaluation["test"]["per_step"]["first_frame"], 0);
}

TEST(Trainer, CloudsOfDifferentSizesTrainAndPredictAsOneByOne) {
  test::Scratch scratch;
  SetDescription set;
  set.name = "ragged";
  set.geometry = Geometry::points;
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1, 0, 1};
  const std::vector<std::int64_t> counts{30, 41, 12, 25, 60, 33, 18, 27};
  RandomStream stream(3, Purpose::test);
  {
    DatasetWriter writer(scratch / "ragged.h5", set, make_splits(6, 2, 0.2), counts);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      std::vector<float> x, a, u;
      for (std::int64_t p = 0; p < counts[s]; ++p) {
        x.insert(x.end(), {static_cast<float>(stream.uniform()), static_cast<float>(stream.uniform())});
        a.push_back(static_cast<float>(stream.normal()));
        u.push_back(1 + x[x.size() - 1] + 0.3f * a.back());
      }
      writer.write(static_cast<std::int64_t>(s), x, a, u);
    }
    writer.commit();
  }
  TrainConfig config = tiny(scratch / "ragged.h5");
  config.loss.gradient_weight = 0;
  config.epochs = 40;
  const TrainResult result = train(config, scratch / "run");
  EXPECT_LT(result.test_l2, 0.2);
  TrainConfig thinned = config;  // fewer points per step; evaluated on all
  thinned.points = 20;
  thinned.memory_gb = 0;
  EXPECT_LT(train(thinned, scratch / "thinned").test_l2, 0.3);
  // Half of the steps with few points, the rest with all: the first half is that of the thinned run, the second not.
  thinned.points_share = 0.5;
  train(thinned, scratch / "half");
  const auto losses = [&](const char* run) {
    std::istringstream rows(read_file(scratch / run / "metrics.csv", "r"));
    std::vector<std::string> found;
    for (std::string line; std::getline(rows, line);) {
      std::istringstream cells(line);
      std::string cell;
      for (int i = 0; i < 4; ++i) std::getline(cells, cell, ',');
      found.push_back(cell);
    }
    return found;
  };
  const auto coarse = losses("thinned"), half = losses("half"), fine = losses("run");
  EXPECT_NE(coarse[1], fine[1]);
  for (std::size_t epoch = 1; epoch <= 20; ++epoch) EXPECT_EQ(half[epoch], coarse[epoch]) << epoch;
  EXPECT_NE(half[21], coarse[21]);
  const LoadedModel trained = load_model(scratch / "run/model.safetensors");
  EXPECT_EQ(trained.about.architecture["points"], 30);  // the median of the five training clouds: 30 41 12 25 60
  const DatasetReader reader(scratch / "ragged.h5");
  const Samples all = reader.read(reader.indices("all"));
  const auto together = trained.predictor->predict(reader.description(), all).values;
  const auto alone = trained.predictor->predict(reader.description(), all).values;
  ASSERT_EQ(together.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 2e-6 * (1 + std::abs(alone[i])));
}

}  // namespace
}  // namespace lano::trainer_test
