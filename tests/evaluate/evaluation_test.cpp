// Evaluation, and the samples that are shown: against a predictor whose predictions are known.
#include "evaluate/evaluation.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "evaluate/loaded_model.h"
#include "evaluate/shown_samples.h"
#include "scratch.h"

namespace lano::evaluation_test {
namespace {

// Adds to the state (or, steady, to the input) a number that grows with time.
class Adder : public Predictor {
 public:
  explicit Adder(Task task, std::int64_t state_frames = 1) : task_(task), state_frames_(state_frames) {}
  Task task() const override { return task_; }
  std::int64_t state_frames() const override { return task_ == Task::autoregressive ? state_frames_ : 0; }
  std::int64_t use_agents(std::int64_t agents) override { return agents; }
  const std::vector<double>& channel_times() const override { return together; }
  std::vector<double> together;
  std::vector<std::size_t> calls;  // queries of each

 protected:
  void apply(std::span<const Operator::Query> queries) override {
    calls.push_back(queries.size());
    for (const Operator::Query& query : queries) {
      // Of a state of several frames the oldest is the one added to: the window must move.
      const auto from = task_ == Task::autoregressive ? query.call.state : query.input;
      if (task_ == Task::autoregressive) {
        EXPECT_EQ(from.size(), query.output.size() * static_cast<std::size_t>(state_frames_));
      }
      for (std::size_t i = 0; i < query.output.size(); ++i)
        query.output[i] = from[i] + static_cast<float>(1 + query.call.time);
    }
  }

 private:
  Task task_;
  std::int64_t state_frames_;
};

SetDescription line(std::vector<double> time = {}) {
  SetDescription set;
  set.name = "line";
  set.shape = {4};
  set.coordinates = {{"x", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1};
  set.time = std::move(time);
  set.generator = "{}";
  return set;
}

Samples samples_of(std::int64_t count, std::int64_t frames) {
  Samples s;
  s.count = count;
  s.points = 4;
  s.frames = frames;
  s.shared_coordinates = true;
  s.coordinates = {0, 0.25f, 0.5f, 0.75f};
  for (std::int64_t i = 0; i < count; ++i) {
    s.ids.push_back(10 + i);
    for (int p = 0; p < 4; ++p) s.input.push_back(static_cast<float>(i + p));
    for (std::int64_t t = 0; t < frames; ++t) {
      for (int p = 0; p < 4; ++p) s.output.push_back(static_cast<float>((i + 1) * (p + 1)) + static_cast<float>(t));
    }
  }
  return s;
}

// This program is without LibTorch.
TEST(LoadedModel, WhatNeedsLibTorchIsKnownBeforeItIsLoaded) {
  ModelFile lano, fno;
  lano.architecture = {{"name", "lano"}};
  fno.architecture = {{"name", "fno"}};
  EXPECT_TRUE(can_load(lano));
  EXPECT_FALSE(can_load(lano, true));
  EXPECT_FALSE(can_load(fno));
  EXPECT_ERROR_WITH(load_model(fno, "testing"), "testing: ");
}

// A model that gives all times at once, as channels [N, T, du]: frames [T, N, du] of a dataset with its times.
TEST(Predictor, ChannelsOfAllTimesBecomeFrames) {
  class Numbered : public Adder {
   public:
    Numbered() : Adder(Task::steady) { together = {0, 1, 2}; }

   protected:
    void apply(std::span<const Operator::Query> queries) override {
      for (const Operator::Query& query : queries) {
        for (std::size_t i = 0; i < query.output.size(); ++i) query.output[i] = static_cast<float>(i);
      }
    }
  } numbered;
  const Samples samples = samples_of(2, 3);
  const Prediction prediction = numbered.predict(line({0, 1, 2}), samples);
  EXPECT_EQ(prediction.frames, 3);
  EXPECT_EQ(std::vector<float>(prediction.values.begin() + 12, prediction.values.end()),
            (std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_ERROR_WITH(numbered.predict(line({0, 1, 3}), samples), "the 3 times that the model predicts at once");
}

TEST(Predictor, RollsOutFromTheFirstFrameAndBeyondTheLast) {
  Adder adder(Task::autoregressive);
  const Samples samples = samples_of(3, 4);
  const Prediction known = adder.predict(line({0, 1, 2, 3}), samples);
  EXPECT_EQ(known.frames, 4);
  EXPECT_EQ(known.values, samples.output);  // the truth grows by one per step
  EXPECT_EQ(adder.calls, (std::vector<std::size_t>{3, 3, 3}));
  const Prediction longer = adder.predict(line({0, 1, 2, 3}), samples, 6);
  EXPECT_EQ(longer.frames, 7);
  EXPECT_EQ(longer.of(samples, 2, 1)[6 * 4 + 3], 12 + 6);
  const Judged judged = judge(adder, line({0, 1, 2, 3}), samples, 2);
  EXPECT_EQ(judged.evaluation.first_frame, 1);
  EXPECT_EQ(judged.evaluation.step_l2, (std::vector<double>{0, 0}));
}

// The oldest frame of two and one more: 1, 2, then 2, 3, 3, 4, ... of states that begin at 1 and 2.
TEST(Predictor, AStateOfSeveralFramesMovesByOne) {
  Adder adder(Task::autoregressive, 2);
  const Samples samples = samples_of(1, 4);
  const Prediction prediction = adder.predict(line({0, 1, 2, 3}), samples, 4);
  EXPECT_EQ(prediction.frames, 6);
  std::vector<float> first;
  for (std::size_t t = 0; t < 6; ++t) first.push_back(prediction.of(samples, 0, 1)[t * 4]);
  EXPECT_EQ(first, (std::vector<float>{1, 2, 2, 3, 3, 4}));
  const Judged judged = judge(adder, line({0, 1, 2, 3}), samples);
  EXPECT_EQ(judged.evaluation.first_frame, 2);
  EXPECT_EQ(judged.evaluation.step_l2.size(), 2u);
  // A dataset may give more frames than a model uses: the last ones are its state, the others are not evaluated.
  SetDescription given = line({0, 1, 2, 3});
  given.given_frames = 3;
  EXPECT_EQ(judge(adder, given, samples).evaluation.first_frame, 3);
  EXPECT_EQ(adder.predict(given, samples).of(samples, 0, 1)[3 * 4], 3);
  EXPECT_ERROR_WITH(adder.predict(line({0}), samples_of(1, 1)), "2 frames to step from");
}

// Twenty of very many frames are kept for the pictures: those given are counted among the kept ones.
TEST(ShownSamples, GivenFramesAreCountedAmongThoseShown) {
  const test::Scratch scratch;
  Adder adder(Task::autoregressive);
  std::vector<double> time(50000);
  std::iota(time.begin(), time.end(), 0.0);
  SetDescription set = line(time);
  set.given_frames = 40000;
  const Samples samples = samples_of(1, 50000);
  const ShownSamples shown = shown_samples(set, samples, judge(adder, set, samples));
  ASSERT_EQ(shown.set.time.size(), 20u);
  EXPECT_EQ(shown.set.given_frames, 16);
  EXPECT_LT(shown.set.time[15], 40000);
  EXPECT_GE(shown.set.time[16], 40000);
  write_shown(scratch / "shown.h5", shown);
  EXPECT_EQ(read_shown(scratch / "shown.h5").set.given_frames, 16);
  EXPECT_EQ(at_last_frame(shown).set.given_frames, 1);
}

TEST(Predictor, ManySamplesGoInGroups) {
  Adder adder(Task::steady);
  const Prediction prediction = adder.predict(line(), samples_of(130, 1));
  EXPECT_EQ(adder.calls, (std::vector<std::size_t>{64, 64, 2}));
  EXPECT_EQ(prediction.values[129 * 4 + 3], 133);
}

TEST(Evaluation, ErrorsOfTimeConditionalFramesByHand) {
  Adder adder(Task::time_conditional);
  const Samples samples = samples_of(2, 2);
  const Evaluation e = judge(adder, line({0, 1}), samples).evaluation;
  // Sample 0: predicted p + 1 and p + 2, truth the same; sample 1: one and two less at every point.
  EXPECT_EQ(e.relative_l2.per_sample[0], 0);
  const double off = (0 + 1 + 4 + 9) * 2, size = (4 + 16 + 36 + 64) + (9 + 25 + 49 + 81);
  EXPECT_NEAR(e.relative_l2.per_sample[1], std::sqrt(off / size), 1e-12);
  EXPECT_EQ(e.max_error.per_sample, (std::vector<double>{0, 3}));
  EXPECT_NEAR(e.step_l2[0], std::sqrt(14.0 / 120.0) / 2, 1e-12);
  const Evaluation again = evaluation_from_json(to_json(e), "testing");
  EXPECT_EQ(again.relative_l2.per_sample, e.relative_l2.per_sample);
  EXPECT_EQ(again.relative_l2.summary.q95, e.relative_l2.summary.q95);
  EXPECT_EQ(again.max_error.per_sample, e.max_error.per_sample);
  EXPECT_EQ(again.step_l2, e.step_l2);
  EXPECT_EQ(again.ids, e.ids);
}

TEST(ShownSamples, BestMedianAndWorstThroughTheFile) {
  Adder adder(Task::steady);
  const Samples samples = samples_of(5, 1);
  Judged judged = judge(adder, line(), samples);
  judged.evaluation.relative_l2.per_sample = {0.3, 0.1, 0.5, 0.2, 0.4};
  EXPECT_EQ(ids_to_show(judged.evaluation), (std::vector<std::int64_t>{11, 10, 12}));
  const ShownSamples shown = shown_samples(line(), samples, judged);
  const test::Scratch scratch;
  write_shown(scratch / "shown.h5", shown);
  const ShownSamples again = read_shown(scratch / "shown.h5");
  ASSERT_EQ(again.samples.size(), 3u);
  EXPECT_EQ(again.set.output_channels(), 1);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again.samples[i].label, (std::vector<std::string>{"best", "median", "worst"})[i]);
    EXPECT_EQ(again.samples[i].id, shown.samples[i].id);
    EXPECT_EQ(again.samples[i].relative_l2, shown.samples[i].relative_l2);
    EXPECT_EQ(again.samples[i].coordinates, samples.coordinates);
    EXPECT_EQ(again.samples[i].input, shown.samples[i].input);
    EXPECT_EQ(again.samples[i].truth, shown.samples[i].truth);
    EXPECT_EQ(again.samples[i].prediction, shown.samples[i].prediction);
  }
  EXPECT_EQ(shown.samples[2].prediction, (std::vector<float>{3, 4, 5, 6}));
  EXPECT_TRUE(rows_to_show({}).empty());
}

TEST(ShownSamples, EveryFrameAndTheCellsGoThroughTheFile) {
  Adder adder(Task::time_conditional);
  const Samples samples = samples_of(2, 2);
  const SetDescription set = line({0, 1});
  ShownSamples shown = shown_samples(set, samples, judge(adder, set, samples));
  shown.cell_kind = CellKind::line;
  for (ShownSample& sample : shown.samples) sample.cells = {0, 1, 1, 2, 2, 3};
  shown.samples[1].cells = {0, 1};
  const test::Scratch scratch;
  write_shown(scratch / "shown.h5", shown);
  const ShownSamples again = read_shown(scratch / "shown.h5");
  EXPECT_EQ(again.set.time, (std::vector<double>{0, 1}));
  EXPECT_EQ(again.times, (std::vector<double>{0, 1}));
  EXPECT_EQ(again.cell_kind, CellKind::line);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.samples[i].truth.size(), 2 * 4u);
    EXPECT_EQ(again.samples[i].truth, shown.samples[i].truth);
    EXPECT_EQ(again.samples[i].prediction, shown.samples[i].prediction);
    EXPECT_EQ(again.samples[i].cells, shown.samples[i].cells);
  }
  const ShownSamples last = at_last_frame(again);
  EXPECT_TRUE(last.set.time.empty());
  EXPECT_EQ(last.samples[0].truth,
            std::vector<float>(again.samples[0].truth.begin() + 4, again.samples[0].truth.end()));
}

TEST(ShownSamples, OfManyFramesSomeAreShown) {
  EXPECT_EQ(frames_to_show(1, 1000000), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(frames_to_show(200, 100).size(), 200u);
  const std::vector<std::int64_t> some = frames_to_show(200, 10000);
  EXPECT_EQ(some.size(), 20u);
  EXPECT_EQ(some.front(), 0);
  EXPECT_EQ(some.back(), 199);
  for (std::size_t i = 1; i < some.size(); ++i) EXPECT_NEAR(some[i] - some[i - 1], 199.0 / 19, 1);
}

}  // namespace
}  // namespace lano::evaluation_test
