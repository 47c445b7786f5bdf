// A dataset with times whose frames are learned all at once, as channels of one output: heat that an input field
// drives,
//   u(x, t) = (1 - exp(-t)) a(x) + t b, v(x, t) = t a(x)^2,   at four times.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "data/dataset.h"
#include "evaluate/evaluation.h"
#include "evaluate/loaded_model.h"
#include "evaluate/set_fit.h"
#include "run/run_record.h"
#include "scratch.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"
#include "train/training_set.h"

namespace lano::times_as_channels_test {
namespace {

constexpr std::int64_t kSide = 8, kSamples = 20;
const std::vector<double> kTimes{0.5, 1, 1.5, 2};

std::filesystem::path driven_heat(const test::Scratch& scratch, const std::vector<double>& times = kTimes,
                                  const char* name = "heat.h5") {
  SetDescription set;
  set.name = "heat";
  set.shape = {kSide, kSide};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "K"}, {"v", "1"}};
  set.box = {0, 1, 0, 1};
  set.time = times;
  std::vector<float> points;
  for (std::int64_t p = 0; p < kSide * kSide; ++p)
    points.insert(points.end(), {static_cast<float>(p / kSide) / 7, static_cast<float>(p % kSide) / 7});
  DatasetWriter writer(scratch / name, set, make_splits(16, 4, 0.25), points);
  for (std::int64_t s = 0; s < kSamples; ++s) {
    RandomStream stream(6, Purpose::test, 0, static_cast<std::uint64_t>(s));
    const double size = 1 + stream.uniform(), phase = stream.uniform();
    std::vector<float> a, output;
    for (std::size_t p = 0; p < points.size(); p += 2)
      a.push_back(static_cast<float>(size * std::sin(3 * points[p] + 2 * points[p + 1] + phase)));
    for (const double t : times) {
      for (const float value : a) {
        output.push_back(static_cast<float>((1 - std::exp(-t)) * value + t));
        output.push_back(static_cast<float>(t * value * value));
      }
    }
    writer.write(s, {}, a, output);
  }
  writer.commit();
  return scratch / name;
}

TrainConfig together(const std::filesystem::path& data) {
  TrainConfig config = test::tiny(data);
  config.times = Times::channels;
  config.epochs = 60;
  return config;
}

TEST(TimesAsChannels, TheReaderShowsEveryFieldAtEveryTime) {
  const test::Scratch scratch;
  const auto path = driven_heat(scratch);
  const DatasetReader frames(path);
  DatasetReader channels(path);
  channels.show_times_as_channels();
  const SetDescription& set = channels.description();
  EXPECT_TRUE(set.time.empty());
  EXPECT_EQ(set.channel_times, kTimes);
  ASSERT_EQ(set.output_channels(), 8);
  EXPECT_EQ(set.output[0].name, "u at t=0.5");
  EXPECT_EQ(set.output[7].name, "v at t=2");
  EXPECT_EQ(set.output[6].unit, "K");
  const std::vector<std::int64_t> ids{3, 1};
  const Samples stepped = frames.read(ids), whole = channels.read(ids);
  EXPECT_EQ(whole.frames, 1);
  ASSERT_EQ(whole.output.size(), stepped.output.size());
  for (std::int64_t s = 0; s < 2; ++s) {
    for (std::size_t t = 0; t < 4; ++t) {
      for (std::size_t p = 0; p < 64; ++p) {
        for (std::size_t c = 0; c < 2; ++c)
          EXPECT_EQ(whole.output_of(s, 8)[p * 8 + t * 2 + c], stepped.output_of(s, 2)[(t * 64 + p) * 2 + c]);
      }
    }
  }
  const SetDescription back = channels_as_times(set_description_from_json(to_json(set)));
  EXPECT_EQ(back.time, kTimes);
  EXPECT_EQ(to_json(back), to_json(frames.description()));
  EXPECT_ERROR_WITH(channels.show_times_as_channels(), "has no times; leave out data.times");
}

// The predicted frames have the error that training reported, frame by frame and as a whole.
TEST(TimesAsChannels, AModelPredictsFramesAndItsErrorIsTheirs) {
  const test::Scratch scratch;
  const auto path = driven_heat(scratch);
  const TrainResult result = train(together(path), scratch / "run");
  EXPECT_LT(result.test_l2, 0.1);
  const LoadedModel model = load_model(scratch / "run" / "model.safetensors");
  const DatasetReader reader = open_dataset(path, model.predictor->task());
  ASSERT_EQ(reader.description().time, kTimes);
  check_fits(model.about.set, reader.description(), "testing");
  const Samples test = reader.read(reader.indices(Split::test));
  const Judged judged = judge(*model.predictor, reader.description(), test);
  EXPECT_EQ(judged.prediction.frames, 4);
  EXPECT_DOUBLE_EQ(judged.evaluation.relative_l2.summary.mean, result.test_l2);
  const Evaluation recorded = *read_run_record(scratch / "run").test;
  EXPECT_EQ(recorded.step_l2, judged.evaluation.step_l2);
  ASSERT_EQ(recorded.step_l2.size(), 4u);
  // The last frame is v = t a^2 and u, not those of another time or field: near the truth, far from its neighbours.
  const auto frame = [](std::span<const float> values, std::size_t t) { return values.subspan(t * 128, 128); };
  const auto apart = [](std::span<const float> some, std::span<const float> others) {
    double squares = 0, size = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      squares += std::pow(static_cast<double>(some[i]) - static_cast<double>(others[i]), 2);
      size += std::pow(static_cast<double>(others[i]), 2);
    }
    return std::sqrt(squares / size);
  };
  const std::span<const float> predicted = judged.prediction.of(test, 0, 2), truth = test.output_of(0, 2);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_LT(apart(frame(predicted, t), frame(truth, t)), 0.15) << t;
    if (t > 0) {
      EXPECT_GT(apart(frame(predicted, t), frame(truth, t - 1)), 0.2) << t;
    }
  }
}

TEST(TimesAsChannels, OtherTimesAndOtherTasksAreRefused) {
  const test::Scratch scratch;
  const auto path = driven_heat(scratch), later = driven_heat(scratch, {1, 2, 3, 4}, "later.h5");
  TrainConfig config = together(path);
  config.epochs = 1;
  train(config, scratch / "run");
  const LoadedModel model = load_model(scratch / "run" / "model.safetensors");
  const DatasetReader other(later);
  EXPECT_ERROR_WITH(check_fits(model.about.set, other.description(), "testing"),
                    "expected 4 times, 0.5 to 2, found 4 times, 1 to 4; the model predicts all times of its training");
  EXPECT_ERROR_WITH(model.predictor->predict(other.description(), other.read(other.indices(Split::test))),
                    "expected the 4 times that the model predicts at once");
  config.lano.task = Task::time_conditional;
  EXPECT_ERROR_WITH(train(config, scratch / "other"), "model.task = \"steady\" for data.times = \"channels\"");
  config = together(path);
  config.frames = 2;
  EXPECT_ERROR_WITH(train(config, scratch / "other"), "data.times = \"frames\" for train.frames");
  config = together(path);
  config.times = Times::frames;
  EXPECT_ERROR_WITH(train(config, scratch / "other"), "or data.times = \"channels\" (all times at once)");
  EXPECT_ERROR_WITH(train(together(test::darcy(scratch, 8, 2)), scratch / "other"), "has no times");
}

}  // namespace
}  // namespace lano::times_as_channels_test
