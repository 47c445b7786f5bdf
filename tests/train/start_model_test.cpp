// Fine-tuning: a run that begins with a model file's weights, on another dataset of the same kind.
#include "train/start_model.h"

#include "core/atomic_file.h"
#include "evaluate/evaluation.h"
#include "evaluate/loaded_model.h"
#include "run/run_folder.h"
#include "scratch.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"

namespace lano::start_model_test {
namespace {

using test::darcy;
using test::tiny;

struct Trained {
  test::Scratch scratch;
  TrainConfig config;
  std::string model;
  Trained() {
    config = tiny(darcy(scratch, 48, 8));
    config.epochs = 8;
    train(config, scratch / "first");
    model = (scratch / "first/model.safetensors").string();
  }
  // On a separate file.
  TrainConfig further(const std::string& data) {
    TrainConfig next = with_start(tiny(data), read_model_file(model));
    next.from = model;
    return next;
  }
  double error_of(const std::string& file, const std::string& data) {
    const LoadedModel loaded = load_model(file);
    const DatasetReader reader(data);
    return judge(*loaded.predictor, reader.description(), reader.read(reader.indices(Split::test)))
        .evaluation.relative_l2.summary.mean;
  }
};

TEST(StartModel, BeginsWithTheWeightsAndTheNormaliserOfTheFile) {
  Trained t;
  TrainConfig next = t.further(t.config.data);
  next.epochs = 1;
  next.schedule.learning_rate = 1e-12;
  next.optimiser.weight_decay = 0;
  train(next, t.scratch / "still");
  const ModelFile before = read_model_file(t.model), after = read_model_file(t.scratch / "still/model.safetensors");
  ASSERT_EQ(before.weights.size(), after.weights.size());
  for (const auto& [name, tensor] : before.weights) {
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      ASSERT_NEAR(after.weights.at(name).values[i], tensor.values[i], 1e-6f) << name;
  }
  EXPECT_EQ(before.architecture, after.architecture);
  EXPECT_EQ(before.normaliser.output.scale(), after.normaliser.output.scale());
  EXPECT_EQ(after.provenance.at("from"), "model.safetensors");
}

TEST(StartModel, TheNormaliserIsFittedWhereAsked) {
  Trained t;
  const std::string other = darcy(t.scratch, 12, 4, 0.25, 11, "other.h5").string();
  TrainConfig next = t.further(other);
  next.epochs = 1;
  train(next, t.scratch / "kept");
  next.from_normaliser = StartScaling::refit;
  train(next, t.scratch / "refitted");
  const auto scale = [&](const std::string& path) {
    return read_model_file(t.scratch / path).normaliser.output.scale();
  };
  EXPECT_EQ(scale("kept/model.safetensors"), scale("first/model.safetensors"));
  EXPECT_NE(scale("refitted/model.safetensors"), scale("first/model.safetensors"));
}

// A few samples of a finer grid: begun with the coarse model they come much further than from random weights, and the
// model file knows the finer grid.
TEST(StartModel, AFinerGridIsLearnedFromACoarseModel) {
  Trained t;
  const std::string fine = darcy(t.scratch, 32, 8, 0.25, 21, "fine.h5").string();
  TrainConfig next = t.further(fine);
  next.epochs = 4;
  next.schedule.learning_rate *= 0.25;
  const TrainResult tuned = train(next, t.scratch / "tuned");
  TrainConfig random_start = tiny(fine);
  random_start.epochs = 4;
  const TrainResult fresh = train(random_start, t.scratch / "fresh");
  EXPECT_LT(tuned.test_l2, 0.7 * fresh.test_l2);
  EXPECT_LT(tuned.test_l2, t.error_of(t.model, fine));  // better than the coarse model as it is
  const Operator op = Operator::load(t.scratch / "tuned/model.safetensors");
  EXPECT_EQ(op.set().shape, (Shape{21, 21}));
  EXPECT_EQ(op.coordinates().size(), 2u * 21 * 21);
  std::vector<float> input(21 * 21, 1.0f);
  EXPECT_EQ(op.predict({}, input).size(), 21u * 21);
}

TEST(StartModel, AResumedRunNeedsTheFileNoMore) {
  Trained t;
  TrainConfig next = t.further(darcy(t.scratch, 12, 4, 0.25, 11, "other.h5").string());
  next.epochs = 3;
  train(next, t.scratch / "whole");
  TrainOptions options;
  options.resume = true;
  options.stop_after = 1;
  train(next, t.scratch / "parts", options);
  std::filesystem::remove(t.model);
  options.stop_after = 0;
  train(next, t.scratch / "parts", options);
  EXPECT_EQ(read_file(t.scratch / "parts/model.safetensors", "r"),
            read_file(t.scratch / "whole/model.safetensors", "r"));
}

TEST(StartModel, WhatDoesNotFitIsRefusedAndLeavesNothing) {
  Trained t;
  TrainConfig next = t.further(t.config.data);
  next.lano.width *= 2;
  EXPECT_ERROR_WITH(train(next, t.scratch / "no"), "changes switches of its model");
  next = t.further(t.config.data);
  next.from = (t.scratch / "nowhere.safetensors").string();
  EXPECT_ERROR_WITH(train(next, t.scratch / "no"), "nowhere.safetensors");
  // Two output fields instead of one.
  SetDescription set = DatasetReader(t.config.data).description();
  set.output.push_back({"v", "1"});
  const DatasetReader reader(t.config.data);
  const Samples samples = reader.read(reader.indices("all"));
  DatasetWriter writer(t.scratch / "two.h5", set, reader.splits(), samples.coordinates);
  for (std::int64_t i = 0; i < samples.count; ++i) {
    const auto u = samples.output_of(i, 1);
    std::vector<float> both;
    for (const float value : u) both.insert(both.end(), {value, -value});
    writer.write(i, {}, samples.input_of(i, 1), both);
  }
  writer.commit();
  EXPECT_ERROR_WITH(train(t.further((t.scratch / "two.h5").string()), t.scratch / "no"),
                    "the model was trained on another kind of data");
  EXPECT_FALSE(std::filesystem::exists(t.scratch / "no"));
}

}  // namespace
}  // namespace lano::start_model_test
