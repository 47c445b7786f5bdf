// The table's bookkeeping, with a shell script in the place of the training program: what is kept, what is tried again,
// what a crash costs.
#include "experiment/table.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/threads.h"
#include "experiment/pair_run.h"
#include "train/recipes.h"
#include "train/tiny_runs.h"

namespace lano::table_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(Budget, ManyEpochsAreWholeOnes) {
  TrainConfig config;
  config.batch = 4;
  const Pace pace{0.01, 0.5, 1000};  // 250 steps: 3 s per epoch
  const TrainConfig fixed = fit_to_budget(config, pace, 120);
  EXPECT_EQ(fixed.epochs, 38);  // 114 s / 3 s
  EXPECT_EQ(fixed.epoch_samples, 0);
}

TEST(Budget, FewEpochsShareTheSamples) {
  TrainConfig config;
  config.batch = 4;
  for (const double step : {0.1, 1.0, 3.0}) {
    const Pace pace{step, 2, 1000};
    const TrainConfig fixed = fit_to_budget(config, pace, 120);
    ASSERT_GT(fixed.epoch_samples, 0);
    ASSERT_LE(fixed.epoch_samples, 1000);
    const double planned =
        static_cast<double>(fixed.epochs) * (2 + step * static_cast<double>(fixed.epoch_samples) / 4);
    EXPECT_LE(planned, 114) << step;
    EXPECT_GT(planned, 114 - static_cast<double>(fixed.epochs) * step) << step;  // no step more would fit
  }
  // A step longer than the budget is still one step.
  const TrainConfig one = fit_to_budget(config, {500, 10, 1000}, 120);
  EXPECT_EQ(one.epochs, 1);
  EXPECT_EQ(one.epoch_samples, 4);
}

// A whole epoch would be 40 samples; the runs had epochs of 10, each with an evaluation of the validation split.
TEST(Budget, TheTimePerEpochHasOneEvaluationOfTheValidationSplit) {
  Pair pair;
  pair.items = 40;
  pair.epoch_samples = 10;
  pair.epochs = 5;
  pair.step_seconds = 0.5;
  pair.validation_seconds = 1;
  SeedOutcome seed;
  seed.state = "finished";
  seed.epochs = 5;
  seed.training_seconds = 5 * (2 + 1);  // 2 s of steps, 1 s of validation
  pair.seeds = {seed};
  EXPECT_DOUBLE_EQ(pair.epoch_seconds(), 4 * 2 + 1);
  pair.epoch_samples = 0;  // whole ones
  EXPECT_DOUBLE_EQ(pair.epoch_seconds(), 3);
  pair.validation_seconds = 20;
  pair.seeds[0].training_seconds = 1;  // a pace that was measured too slow
  EXPECT_DOUBLE_EQ(pair.epoch_seconds(), 20);
  pair.validation_seconds = 0;
  EXPECT_DOUBLE_EQ(pair.epoch_seconds(), 0.5);
}

TEST(Budget, ThePaceIsThatOfTheStepsBehindTheFirst) {
  const Pace usual = pace_of({{9, 5}, {1, 3}, {4, 6}}, 7);
  EXPECT_DOUBLE_EQ(usual.step_seconds, 2);
  EXPECT_DOUBLE_EQ(usual.validation_seconds, 3);
  const Pace long_epoch = pace_of({{9, 5}, {1, 3}, {}}, 7);
  EXPECT_DOUBLE_EQ(long_epoch.step_seconds, 2);
  EXPECT_DOUBLE_EQ(long_epoch.validation_seconds, 14);
  const Pace one_step_epochs = pace_of({{9, 5}, {}, {1, 2}}, 7);
  EXPECT_DOUBLE_EQ(one_step_epochs.step_seconds, 1.5);
  EXPECT_DOUBLE_EQ(one_step_epochs.validation_seconds, 0);
  EXPECT_DOUBLE_EQ(pace_of({{9, 5}, {}, {}}, 0).step_seconds, 5);
  EXPECT_DOUBLE_EQ(pace_of({{9}, {}, {}}, 1).step_seconds, 0);
}

TEST(Budget, ThePaceCountsTheSamplesThatAreLearnedFrom) {
  const test::Scratch scratch;
  TrainConfig config = test::tiny(test::darcy(scratch, 12, 2));  // three of them for validation
  const Pace some = measure_pace(config, scratch / "warm", 0);
  EXPECT_EQ(some.items, 9);
  EXPECT_GT(some.validation_seconds, 0);
  config.train_on = TrainOn::train_and_validation;
  config.selection = Selection::last;
  const Pace all = measure_pace(config, scratch / "warm", 0);
  EXPECT_EQ(all.items, 12);
  EXPECT_EQ(all.validation_seconds, 0);
}

// Answers as the training program would: by the model's name in the recipe it succeeds, is refused, diverges or dies.
void write_program(const fs::path& path) {
  std::ofstream(path) << R"sh(#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in --config) config=$2;; --run) run=$2;; --result) result=$2;; --measure) measure=1;; esac
  shift
done
model=$(sed -n 's/^name = "\(.*\)"/\1/p' "$config")
echo "$model ${run##*/}" >> "$LANO_TEST_LOG"
say() { echo "$1" > "$result"; }
if [ "$model" = factformer ]; then say '{"state":"refused","sentence":"a grid expected","peak_bytes":1}'; exit 2; fi
if [ -n "$measure" ]; then
  say '{"state":"measured","step_seconds":0.5,"validation_seconds":1,"items":40,"peak_bytes":1}'
  exit 0
fi
if [ "$model" = fno ]; then kill -9 $$; fi
if [ "$model" = gnot ]; then say '{"state":"diverged","sentence":"NaN in step 3","peak_bytes":5}'; exit 1; fi
mkdir -p "$run"
cat > "$run/evaluation.json" <<'END'
{"parameters":7,"epochs":4,"best_epoch":3,"validation_l2":0.2,"training_seconds":8,
 "test":{"relative_l2":{"mean":0.25}}}
END
say '{"state":"finished","peak_bytes":1000}'
)sh";
  fs::permissions(path, fs::perms::owner_all);
}

class TableRun : public ::testing::Test {
 protected:
  TableRun() {
    write_program(scratch_ / "program");
    ::setenv("LANO_TEST_LOG", log().c_str(), 1);
    test::darcy(scratch_, 4, 1);
    plan_.preset = "smoke";
    plan_.benchmarks = {"darcy"};
    plan_.minutes = 0.5;
    plan_.configs = LANO_CONFIGS;
    plan_.data = scratch_ / "";
    plan_.program = scratch_ / "program";
  }

  std::string log() const { return (scratch_ / "log").string(); }
  fs::path out() const { return scratch_ / "table"; }
  std::vector<std::string> calls() const {
    std::ifstream file(log());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void run(const std::vector<std::string>& models) {
    fs::remove(log());
    plan_.models = models;
    run_table(plan_, out(), [](const Pair&) {});
  }

  test::Scratch scratch_;
  TablePlan plan_;
};

TEST_F(TableRun, ACrashOrARefusalIsOneCellAndTheTableGoesOn) {
  run({"fno", "factformer", "gnot", "transolver"});
  EXPECT_EQ(calls(),
            (std::vector<std::string>{"fno warm-up", "factformer warm-up", "gnot warm-up", "transolver warm-up",
                                      "fno seed-0", "gnot seed-0", "transolver seed-0"}));
  const std::vector<Pair> pairs = read_table(out());
  ASSERT_EQ(pairs.size(), 4u);
  std::map<std::string, Pair> by_name;
  for (const Pair& pair : pairs) by_name[pair.model] = pair;
  EXPECT_NE(by_name["fno"].reason().find("signal 9"), std::string::npos) << by_name["fno"].reason();
  EXPECT_EQ(by_name["factformer"].reason(), "refused: a grid expected");
  EXPECT_EQ(by_name["gnot"].reason(), "diverged: NaN in step 3");
  const Pair& good = by_name["transolver"];
  EXPECT_EQ(good.reason(), "");
  EXPECT_TRUE(good.finished(1));
  EXPECT_EQ(good.seeds[0].test_l2, 0.25);
  EXPECT_EQ(good.seeds[0].parameters, 7);
  EXPECT_EQ(good.seeds[0].peak_bytes, 1000);
  EXPECT_EQ(good.step_seconds, 0.5);
  EXPECT_EQ(good.minutes, 0.5);
  // The recipe of the runs is that of the budget: 30 s at half a second per step of 4 samples.
  const TrainConfig recipe = read_recipe_files({pair_folder(out(), "darcy", "transolver") / "recipe.toml"}, {});
  const TrainConfig expected = fit_to_budget(recipe, {0.5, 1, 40}, 30);
  EXPECT_EQ(recipe.epochs, expected.epochs);
  EXPECT_EQ(recipe.epoch_samples, expected.epoch_samples);
  EXPECT_EQ(recipe.model, "transolver");
  EXPECT_EQ(recipe.baseline.slices, 8);
  // 8 s for 4 epochs of part of the samples, with a second of validation each.
  EXPECT_EQ(good.validation_seconds, 1);
  EXPECT_NEAR(good.epoch_seconds(), (8.0 / 4 - 1) * 40 / static_cast<double>(recipe.epoch_samples) + 1, 1e-9);
}

TEST_F(TableRun, WhatIsSettledIsNotDoneAgain) {
  run({"fno", "factformer", "gnot", "transolver"});
  run({"fno", "factformer", "gnot", "transolver", "lano"});
  // A crash and a refusal are tried again, a divergence would come again; the pace of a pair is measured once.
  // All paces come before the first training.
  EXPECT_EQ(calls(), (std::vector<std::string>{"factformer warm-up", "lano warm-up", "fno seed-0", "lano seed-0"}));
  plan_.seeds = 2;
  run({"transolver"});
  EXPECT_EQ(calls(), (std::vector<std::string>{"transolver seed-1"}));
  const auto pairs = read_table(out());
  EXPECT_EQ(pairs.size(), 5u);
  EXPECT_EQ(pairs.front().model, "lano");  // the catalogue's order
}

TEST_F(TableRun, AnotherPlanOrRecipeIsRefusedBeforeAnythingIsTrained) {
  run({"transolver"});
  plan_.minutes = 1;
  EXPECT_ERROR_WITH(run({"transolver"}), "the preset, --minutes or --set differ from those in");
  plan_.minutes = 0.5;
  fs::create_directories(scratch_ / "configs");
  fs::copy(LANO_CONFIGS, scratch_ / "configs", fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  plan_.configs = scratch_ / "configs";
  run({"transolver"});  // the same files elsewhere
  std::ofstream(scratch_ / "configs/models/transolver/smoke.toml") << "[model]\nname = \"transolver\"\nslices = 9\n";
  EXPECT_ERROR_WITH(run({"lano", "transolver"}), "the recipe differs from the one in");
  EXPECT_TRUE(calls().empty());
  plan_.benchmarks = {"elasticity"};
  EXPECT_ERROR_WITH(run({"lano"}), "elasticity.h5' is missing");
}

TEST_F(TableRun, AnotherSetOrNumberOfThreadsIsRefused) {
  run({"transolver"});
  const Pair begun = read_table(out()).at(0);
  EXPECT_EQ(begun.threads, thread_count());  // --threads 0
  EXPECT_EQ(begun.set, fmt::format("{:016x}", DatasetReader(scratch_ / "darcy.h5").hash()));
  plan_.threads = thread_count() + 1;
  EXPECT_ERROR_WITH(run({"lano", "transolver"}),
                    fmt::format("expected --threads {}, with which transolver on darcy was trained", thread_count()));
  plan_.threads = thread_count();
  run({"transolver"});
  EXPECT_TRUE(calls().empty());
  test::darcy(scratch_, 5, 1);  // under the same name
  EXPECT_ERROR_WITH(run({"lano", "transolver"}), "is not the dataset that transolver was trained on");
  EXPECT_TRUE(calls().empty());
  EXPECT_FALSE(fs::exists(pair_folder(out(), "darcy", "lano")));
}

}  // namespace
}  // namespace lano::table_test
