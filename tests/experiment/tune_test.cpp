#include "experiment/tune.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/atomic_file.h"
#include "data/dataset.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"

namespace lano::tune_test {
namespace {

using test::darcy;
using test::tiny;

TunePlan small_plan(const std::filesystem::path& data) {
  TunePlan plan;
  plan.base = tiny(data);
  plan.vary = {parse_vary("schedule.learning_rate=1e-4..1e-2:log"), parse_vary("model.width=8,16")};
  plan.trials = 4;
  plan.rungs = 2;
  plan.keep = 0.5;
  return plan;
}

std::filesystem::path run_of(const std::filesystem::path& folder, int trial, int rung) {
  return folder / ("trial-00" + std::to_string(trial)) / ("rung-" + std::to_string(rung));
}

TEST(Tune, RungsGrowAsTheTrialsShrink) {
  TunePlan plan;
  plan.base.epochs = 500;
  EXPECT_EQ(rung_epochs(plan), (std::vector<std::int64_t>{58, 170, 500}));
  plan.base.epochs = 2;
  EXPECT_EQ(rung_epochs(plan), (std::vector<std::int64_t>{1, 1, 2}));
  EXPECT_EQ(kept_trials(12, 0.34), 5);
  EXPECT_EQ(kept_trials(5, 0.34), 2);
  EXPECT_EQ(kept_trials(1, 0.34), 1);
  EXPECT_EQ(kept_trials(4, 0.5), 2);
  EXPECT_EQ(kept_trials(50, 0.14), 7);  // 0.14 * 50 is 7.000000000000001 in binary
}

TEST(Tune, ATrialIsDrawnFromSeedAndNumberAlone) {
  SetDescription set;
  set.geometry = Geometry::grid;
  set.shape = {11, 11};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.output = {{"u", "1"}};
  TunePlan plan;
  plan.base = tiny("none.h5");
  plan.vary = {parse_vary("model.heads=2..8"), parse_vary("model.width=16,24"), parse_vary("model.agents=4..40")};
  plan.trials = 6;
  const auto few = draw_trials(plan, set);
  plan.trials = 40;
  const auto many = draw_trials(plan, set);
  std::int64_t redraws = 0;
  std::set<std::vector<ConfigValue>> different;
  for (std::size_t i = 0; i < many.size(); ++i) {
    if (i < few.size()) {
      EXPECT_EQ(few[i].values, many[i].values);
      EXPECT_EQ(few[i].redraws, many[i].redraws);
    }
    redraws += many[i].redraws;
    different.insert(many[i].values);
    EXPECT_EQ(std::get<std::int64_t>(many[i].values[1]) % std::get<std::int64_t>(many[i].values[0]), 0);
    EXPECT_NO_THROW(choose_patches(std::get<std::int64_t>(many[i].values[2]), set.shape));
  }
  EXPECT_GT(redraws, 20);  // 4 of 7 numbers of heads do not divide 16
  EXPECT_GT(different.size(), 30u);
  plan.seed = 1;
  EXPECT_NE(draw_trials(plan, set)[0].values, many[0].values);
  plan.base.lano.heads = 7;
  plan.vary = {parse_vary("model.width=16,24")};
  EXPECT_ERROR_WITH(draw_trials(plan, set), "no valid config in 101 draws");
}

TEST(Tune, TheBestOfEachRungGoOnAndTestIsNeverRead) {
  test::Scratch scratch;
  TunePlan plan = small_plan(darcy(scratch, 8, 2));
  plan.base.epochs = 9;
  plan.trials = 5;
  plan.rungs = 3;
  plan.keep = 0.34;
  const auto folder = scratch / "tune";
  const TuneResult result = run_tune(plan, folder);
  EXPECT_TRUE(result.finished);
  ASSERT_EQ(result.trials.size(), 5u);
  const std::vector<std::size_t> rungs_done{3, 2, 1, 1, 1};  // 5 trials, ceil(1.7) = 2, ceil(0.68) = 1
  const std::vector<TrialState> states{TrialState::best, TrialState::dropped, TrialState::dropped, TrialState::dropped,
                                       TrialState::dropped};
  std::set<std::int64_t> numbers;
  for (std::size_t i = 0; i < 5; ++i) {
    const TuneTrial& trial = result.trials[i];
    numbers.insert(trial.number);
    EXPECT_EQ(trial.validation_l2.size(), rungs_done[i]);
    EXPECT_EQ(trial.state, states[i]);
    for (int rung = 0; rung < 3; ++rung) {
      const auto run = run_of(folder, static_cast<int>(trial.number), rung);
      const bool trained = rung < static_cast<int>(rungs_done[i]);
      ASSERT_EQ(std::filesystem::exists(run), trained) << run;
      if (!trained) continue;
      const auto evaluation = nlohmann::json::parse(read_file(run / "evaluation.json", "r"));
      EXPECT_EQ(evaluation["validation_l2"], trial.validation_l2[static_cast<std::size_t>(rung)]);
      EXPECT_EQ(evaluation["epochs"], (std::vector<int>{1, 3, 9}[static_cast<std::size_t>(rung)]));
      EXPECT_FALSE(evaluation.contains("test"));
      EXPECT_FALSE(std::filesystem::exists(run / "evaluation.h5"));
    }
  }
  EXPECT_EQ(numbers.size(), 5u);
  // Trials that advanced were better than those that did not, in the rung that decided.
  EXPECT_LT(result.trials[0].validation_l2[1], result.trials[1].validation_l2[1]);
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_LT(std::max(result.trials[0].validation_l2[0], result.trials[1].validation_l2[0]),
              result.trials[i].validation_l2[0]);
  }
  TrainConfig best;
  Schema schema;
  bind_train_config(schema, best);
  schema.load(folder / "best.toml");
  EXPECT_EQ(best.epochs, 9);
  EXPECT_EQ(best.schedule.learning_rate, std::get<double>(result.trials[0].values[0]));
  EXPECT_EQ(best.lano.width, std::get<std::int64_t>(result.trials[0].values[1]));
  EXPECT_EQ(best.data, plan.base.data);
  const std::string table = read_file(folder / "tune.md", "r");
  EXPECT_NE(table.find("| rung 0: 1 epoch | rung 1: 3 epochs | rung 2: 9 epochs | state |"), std::string::npos)
      << table;
  EXPECT_EQ(read_file(folder / "tune.csv", "r"), tune_csv(plan, result.trials));
  EXPECT_TRUE(tune_csv(plan, result.trials)
                  .starts_with("trial,schedule.learning_rate,model.width,validation_l2_rung_0,validation_l2_rung_1,"
                               "validation_l2_rung_2,state,redraws,error\n" +
                               std::to_string(result.trials[0].number) + ","));
  EXPECT_NE(tune_csv(plan, result.trials).find(",best,0,\n"), std::string::npos);
}

TEST(Tune, AnInterruptedSearchEndsWithTheSameTable) {
  test::Scratch scratch;
  const TunePlan plan = small_plan(darcy(scratch, 8, 2));
  const TuneResult whole = run_tune(plan, scratch / "whole");
  const auto folder = scratch / "parts";
  const auto expect_same = [&] {
    for (const char* file : {"tune.csv", "tune.md", "best.toml", "tune.json"}) {
      EXPECT_EQ(read_file(folder / file, "r"), read_file((scratch / "whole") / file, "r")) << file;
    }
  };
  // A folder in the place of the table stops the search after its first run.
  make_folder(folder / "tune.csv");
  EXPECT_ERROR_WITH(run_tune(plan, folder), "tune.csv");
  EXPECT_TRUE(std::filesystem::exists(run_of(folder, 0, 0) / "evaluation.json"));
  EXPECT_FALSE(std::filesystem::exists(run_of(folder, 1, 0)));
  EXPECT_FALSE(std::filesystem::exists(folder / "best.toml"));
  std::filesystem::remove_all(folder / "tune.csv");
  // Trial 1 was killed after the first of its two epochs.
  TrainConfig first = plan.base;
  const auto trials = draw_trials(plan, DatasetReader(plan.base.data).description());
  for (std::size_t k = 0; k < 2; ++k) set_key(first, plan.vary[k].name, trials[1].values[k]);
  first.epochs = 2;
  train(first, run_of(folder, 1, 0), {.resume = true, .stop_after = 1, .test = false});
  const auto kept = std::filesystem::last_write_time(run_of(folder, 0, 0) / "model.safetensors");
  EXPECT_TRUE(run_tune(plan, folder).finished);
  expect_same();
  EXPECT_EQ(std::filesystem::last_write_time(run_of(folder, 0, 0) / "model.safetensors"), kept);
  // Killed in the last rung: the winner's last run is not finished, the table is of an earlier moment.
  std::filesystem::remove(run_of(folder, static_cast<int>(whole.trials[0].number), 1) / "evaluation.json");
  std::filesystem::remove(folder / "best.toml");
  std::filesystem::remove(folder / "tune.csv");
  EXPECT_TRUE(run_tune(plan, folder).finished);
  expect_same();
}

TEST(Tune, AFailedTrialIsRecordedAndTheSearchGoesOn) {
  test::Scratch scratch;
  TunePlan plan = small_plan(darcy(scratch, 8, 2));
  plan.base.schedule.kind = ScheduleKind::constant;
  plan.base.clip = 0;
  plan.base.epochs = 2;
  plan.trials = 5;
  plan.vary = {parse_vary("schedule.learning_rate=1e-3,1e38")};
  const auto folder = scratch / "tune";
  const TuneResult result = run_tune(plan, folder);
  std::size_t failed = 0;
  for (const TuneTrial& trial : result.trials) {
    const bool bad = std::get<double>(trial.values[0]) > 1;
    failed += bad;
    EXPECT_EQ(trial.state == TrialState::failed, bad) << trial.number;
    EXPECT_EQ(trial.error.find("NaN or infinity") != std::string::npos, bad) << trial.error;
  }
  ASSERT_GT(failed, 0u);
  ASSERT_LT(failed, 5u);
  EXPECT_EQ(result.trials[0].state, TrialState::best);
  EXPECT_EQ(result.trials.back().state, TrialState::failed);
  const std::string csv = read_file(folder / "tune.csv", "r");
  EXPECT_NE(csv.find(",failed,0,\"training, step "), std::string::npos) << csv;  // quoted: the sentence has commas
  EXPECT_NE(read_file(folder / "tune.md", "r").find("failed: training, step "), std::string::npos);
  // Not tried again by the next call.
  const auto events = run_of(folder, static_cast<int>(result.trials.back().number), 0) / "events.jsonl";
  const std::string before = read_file(events, "r");
  run_tune(plan, folder);
  EXPECT_EQ(read_file(events, "r"), before);
  EXPECT_EQ(read_file(folder / "tune.csv", "r"), csv);

  plan.vary = {parse_vary("schedule.learning_rate=1e37,1e38")};
  EXPECT_ERROR_WITH(run_tune(plan, scratch / "hopeless"), "every trial failed");
}

TEST(Tune, AnotherPlanIsRefused) {
  test::Scratch scratch;
  TunePlan plan = small_plan(darcy(scratch, 6, 2));
  plan.base.epochs = 1;
  plan.trials = 2;
  plan.rungs = 1;
  const auto folder = scratch / "tune";
  run_tune(plan, folder);
  const auto refused = [&](auto change) {
    TunePlan other = plan;
    change(other);
    return test::error_of([&] { run_tune(other, folder); });
  };
  EXPECT_NE(refused([](TunePlan& p) { p.trials = 3; }).find("started with trials 2"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.keep = 0.25; }).find("started with keep 0.5"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.seed = 1; }).find("started with seed 0"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.base.batch = 3; }).find("another recipe or dataset"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.vary.pop_back(); }).find("started with vary [\"schedule"), std::string::npos);
  EXPECT_EQ(refused([](TunePlan&) {}), "no error");
}

TEST(Tune, MistakesAreNamedBeforeAnythingIsWritten) {
  test::Scratch scratch;
  const auto data = darcy(scratch, 6, 2, 0);
  const auto refused = [&](auto change) {
    TunePlan plan = small_plan(data);
    change(plan);
    return test::error_of([&] { run_tune(plan, scratch / "tune"); });
  };
  EXPECT_NE(refused([](TunePlan&) {}).find("no validation split"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.base.data.clear(); }).find("no dataset is given"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.vary.clear(); }).find("no key to vary is given"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.vary.push_back(p.vary[0]); }).find("each key varied once"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.keep = 1; }).find("--keep between 0 and 1"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) {
              p.base.train_on = TrainOn::train_and_validation;
            }).find("trials are compared on validation"),
            std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.vary[0].name = "data.train_on"; }).find("data.train_on cannot be varied"),
            std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.rungs = 0; }).find("--rungs of at least 1"), std::string::npos);
  EXPECT_NE(refused([](TunePlan& p) { p.trials = 0; }).find("--trials of at least 1"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch / "tune"));
}

}  // namespace
}  // namespace lano::tune_test
