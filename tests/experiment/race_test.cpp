// A race's bookkeeping and verdicts, with a shell script in the place of the training program and errors of known size;
// and what the real child leaves.
#include "experiment/race.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/threads.h"
#include "experiment/race_page.h"
#include "run/run_record.h"
#include "train/recipes.h"
#include "train/tiny_runs.h"

namespace lano::race_test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

TEST(RaceRecipe, IsTheBaseWithFilesAndKeysOverIt) {
  test::Scratch scratch;
  TrainConfig base = test::tiny("set.h5");
  base.seed = 5;
  const RaceRecipe same = parse_race_recipe(" base ", base);
  EXPECT_EQ(same.name, "base");
  EXPECT_EQ(to_toml(same.config), to_toml(base));

  const RaceRecipe keys = parse_race_recipe("wide+1: model.width=64  train.agents_range=[4, 8]\tmodel.bias=none", base);
  EXPECT_EQ(keys.name, "wide+1");
  EXPECT_EQ(keys.changes, (Lines{"model.width=64", "train.agents_range=[4, 8]", "model.bias=none"}));
  EXPECT_EQ(keys.config.lano.width, 64);
  EXPECT_EQ(keys.config.agents_range, (std::vector<double>{4, 8}));
  EXPECT_EQ(keys.config.lano.bias, Bias::none);
  EXPECT_EQ(keys.config.lano.agents, base.lano.agents);

  // A recipe with another dataset and seed, as a run or a search leaves it: the race has its own. Keys override files.
  const fs::path file = scratch / "my best.toml", plain = scratch / "plain-2.toml";
  std::ofstream(file) << "[data]\nfile = \"other.h5\"\n[model]\nwidth = 32\nlayers = 3\n[train]\nseed = 9\n";
  std::ofstream(plain) << "[model]\nwidth = 8\n";
  const RaceRecipe both = parse_race_recipe(fmt::format("both: model.width=48 \"{}\"", file.string()), base);
  EXPECT_EQ(both.config.lano.width, 48);
  EXPECT_EQ(both.config.lano.layers, 3);
  EXPECT_EQ(both.config.data, "set.h5");
  EXPECT_EQ(both.config.seed, 5);
  const RaceRecipe by_path = parse_race_recipe(plain.string(), base);
  EXPECT_EQ(by_path.name, "plain-2");
  EXPECT_EQ(by_path.config.lano.width, 8);
}

TEST(RaceRecipe, SaysWhatIsWrongWithIt) {
  const TrainConfig base = test::tiny("set.h5");
  const auto parse = [&](const char* text) { parse_race_recipe(text, base); };
  EXPECT_ERROR_WITH(parse("model.width=64"), "put a name and a colon before the keys");
  EXPECT_ERROR_WITH(parse(""), "or base, found ''");
  EXPECT_ERROR_WITH(parse("wide"), "a file ending in .toml, or base");
  EXPECT_ERROR_WITH(parse(": model.width=64"), "a name of letters");
  EXPECT_ERROR_WITH(parse("a/b: model.width=64"), "a name of letters");
  EXPECT_ERROR_WITH(parse("race.md: model.width=64"), "a name of letters");
  EXPECT_ERROR_WITH(parse("w: model.widht=64"), "recipe 'w': ");
  EXPECT_ERROR_WITH(parse("w: model.widht=64"), "did you mean 'model.width'");
  EXPECT_ERROR_WITH(parse("w: model.heads=3"), "multiple of model.heads");
  EXPECT_ERROR_WITH(parse("w: train.seed=3"), "all recipes have the same seeds");
  EXPECT_ERROR_WITH(parse("w: data.file=other.h5"), "all recipes use the same dataset");
  EXPECT_ERROR_WITH(parse("w: none.toml"), "reading config 'none.toml': there is nothing at that path");
}

// Answers as the training program would, by the name of the recipe's folder; its errors lie in $LANO_TEST_ERRORS.
void write_program(const fs::path& path) {
  std::ofstream(path) << R"sh(#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in --run) run=$2;; --result) result=$2;; --measure) measure=$2;; --validation) seen=1;; esac
  shift
done
name=$(basename "$(dirname "$run")")
echo "$name ${run##*/}" >> "$LANO_TEST_LOG"
say() { echo "$1" > "$result"; }
[ -n "$seen" ] || { say '{"state":"failed","sentence":"the test split was asked for","peak_bytes":1}'; exit 1; }
if [ "$name" = bad ]; then say '{"state":"refused","sentence":"a grid expected","peak_bytes":1}'; exit 2; fi
if [ -n "$measure" ]; then
  # The first look at a pace is disturbed.
  step=0.5; [ -e "$run.seen" ] || step=2; touch "$run.seen"
  say '{"state":"measured","step_seconds":'$step',"validation_seconds":1,"items":40,"peak_bytes":1}'
  exit 0
fi
errors=$LANO_TEST_ERRORS/$name-${run##*-}.json
if [ ! -e "$errors" ]; then say '{"state":"diverged","sentence":"NaN in step 3, on | 4","peak_bytes":5}'; exit 1; fi
[ "$name" != broken ] || kill -9 $$
mkdir -p "$run"
echo '{"parameters":7,"epochs":4,"best_epoch":3,"validation_l2":0.2,"training_seconds":8}' > "$run/evaluation.json"
cp "$errors" "$run/validation.json"
say '{"state":"finished","peak_bytes":1000}'
)sh";
  fs::permissions(path, fs::perms::owner_all);
}

class RaceRun : public ::testing::Test {
 protected:
  RaceRun() {
    write_program(scratch_ / "program");
    fs::create_directory(scratch_ / "errors");
    ::setenv("LANO_TEST_LOG", log().c_str(), 1);
    ::setenv("LANO_TEST_ERRORS", (scratch_ / "errors").c_str(), 1);
    base_ = test::tiny(test::darcy(scratch_, 8, 2, 0.5));
    plan_.program = scratch_ / "program";
    plan_.recipes = {recipe("base"), recipe("wide: model.width=32")};
  }

  RaceRecipe recipe(const std::string& text) const { return parse_race_recipe(text, base_); }
  std::string log() const { return (scratch_ / "log").string(); }
  fs::path out() const { return scratch_ / "race"; }

  // Errors of the four validation samples.
  void set_errors(const std::string& name, std::int64_t seed, const std::vector<double>& errors,
                  std::int64_t first_id = 4) {
    Evaluation evaluation;
    for (std::size_t i = 0; i < errors.size(); ++i) evaluation.ids.push_back(first_id + static_cast<std::int64_t>(i));
    evaluation.relative_l2 = {errors, summarise(errors)};
    std::ofstream(scratch_ / fmt::format("errors/{}-{}.json", name, seed)) << to_json(evaluation).dump();
  }
  // base ends at `level` times 1 + seed / 10 on average, `name` at that times its factor of the seed.
  void set_all(const std::string& name, const std::vector<double>& factors) {
    for (std::size_t seed = 0; seed < factors.size(); ++seed) {
      const double level = factors[seed] * (1 + static_cast<double>(seed) / 10);
      set_errors(name, static_cast<std::int64_t>(seed), {0.1 * level, 0.2 * level, 0.3 * level, 0.4 * level});
    }
  }
  Lines run() {
    fs::remove(log());
    run_race(plan_, out(), [&] { write_race(plan_, out()); });
    std::ifstream file(log());
    Lines lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  test::Scratch scratch_;
  TrainConfig base_;
  RacePlan plan_;
};

TEST_F(RaceRun, SeedsAndSamplesArePaired) {
  set_all("base", {1, 1, 1});
  set_all("wide", {0.9, 0.88, 0.92});
  EXPECT_EQ(run(), (Lines{"base seed-0", "wide seed-0", "base seed-1", "wide seed-1", "base seed-2", "wide seed-2"}));
  const std::vector<RaceRow> rows = read_race(plan_, out());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].verdict, Verdict::reference);
  EXPECT_EQ(rows[0].over_seeds.count, 0);
  EXPECT_NEAR(rows[0].validation.mean, 0.25 * 1.1, 1e-12);
  EXPECT_NEAR(rows[0].validation.deviation, 0.025, 1e-12);
  EXPECT_EQ(rows[0].parameters, 7);
  EXPECT_EQ(rows[0].passes, 4);
  EXPECT_EQ(rows[0].seconds, 8);
  const std::vector<double> a{0.25, 0.275, 0.3}, b{0.225, 0.242, 0.276};
  const PairedDifference expected = paired_over_seeds(a, b);
  EXPECT_EQ(rows[1].over_seeds.count, 3);
  EXPECT_NEAR(rows[1].over_seeds.difference, 0.743 / 0.825 - 1, 1e-12);
  EXPECT_NEAR(rows[1].over_seeds.low, expected.low, 1e-9);
  EXPECT_NEAR(rows[1].over_seeds.high, expected.high, 1e-9);
  EXPECT_EQ(rows[1].verdict, Verdict::better);
  // Every sample's mean over seeds is lower by the same share.
  EXPECT_EQ(rows[1].over_samples.count, 4);
  EXPECT_NEAR(rows[1].over_samples.low, 0.743 / 0.825 - 1, 1e-12);
  EXPECT_NEAR(rows[1].over_samples.high, 0.743 / 0.825 - 1, 1e-12);
  EXPECT_EQ(rows[1].over_samples.probability, 2.0 / 16);
  for (const char* file : {"race.md", "race.csv", "race.json"}) EXPECT_TRUE(fs::exists(out() / file)) << file;
  const std::string table = read_file(out() / "race.md", "reading");
  EXPECT_NE(table.find("| 2.7500e-01 ± 2.5e-02 |"), std::string::npos) << table;
  EXPECT_NE(table.find("-9.9 %"), std::string::npos) << table;
  EXPECT_NE(table.find("better, beyond the seeds' spread"), std::string::npos) << table;
  EXPECT_NE(read_file(out() / "race.csv", "reading").find("wide,3,7,4,8,0.247666667,"), std::string::npos);
}

TEST_F(RaceRun, ADifferenceWithinTheSpreadOfSeedsIsNoVerdict) {
  set_all("base", {1, 1, 1});
  set_all("wide", {0.6, 0.7, 1.1});
  run();
  EXPECT_EQ(read_race(plan_, out())[1].verdict, Verdict::undecided);
  plan_.seeds = 2;  // of the same runs
  EXPECT_EQ(read_race(plan_, out())[1].verdict, Verdict::few_seeds);
  EXPECT_EQ(read_race(plan_, out())[1].over_seeds.count, 2);
  plan_.seeds = 4;
  EXPECT_EQ(read_race(plan_, out())[1].verdict, Verdict::incomplete);
  set_all("base", {0.5, 0.5, 0.49});
  fs::remove_all(out());
  plan_.seeds = 3;
  run();
  EXPECT_EQ(read_race(plan_, out())[1].verdict, Verdict::undecided);
  set_all("wide", {1, 1.1, 1.05});
  fs::remove_all(out());
  run();
  EXPECT_EQ(read_race(plan_, out())[1].verdict, Verdict::worse);
}

TEST_F(RaceRun, WhatFailsIsARowWithItsSentence) {
  set_all("base", {1, 1, 1});
  set_all("wide", {0.9, 0.88});  // seed 2 diverges
  set_all("broken", {1, 1, 1});
  plan_.recipes.push_back(recipe("bad: model.width=48"));
  plan_.recipes.push_back(recipe("broken: model.width=64"));
  EXPECT_EQ(run(), (Lines{"base seed-0", "wide seed-0", "bad seed-0", "broken seed-0", "base seed-1", "wide seed-1",
                          "broken seed-1", "base seed-2", "wide seed-2", "broken seed-2"}));
  const std::vector<RaceRow> rows = read_race(plan_, out());
  EXPECT_EQ(rows[1].verdict, Verdict::incomplete);  // two seeds left of three are a choice
  EXPECT_EQ(rows[1].over_seeds.count, 2);
  EXPECT_EQ(rows[2].finished, 0);
  EXPECT_EQ(rows[2].over_seeds.count, 0);
  const std::string table = read_file(out() / "race.md", "reading");
  for (const char* part : {"2 of 3 seeds: diverged", "- wide, seed 2: diverged: NaN in step 3, on | 4\n",
                           "0 of 3 seeds: refused", "- bad, seed 0: refused: a grid expected\n", "signal 9"})
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  // Tried again: all but what is finished and what diverges.
  EXPECT_EQ(run(), (Lines{"bad seed-0", "broken seed-0", "broken seed-1", "broken seed-2"}));
  // A reference without its seeds is nothing to be better than.
  std::swap(plan_.recipes[0], plan_.recipes[1]);
  EXPECT_EQ(read_race(plan_, out())[1].verdict, Verdict::incomplete);
}

TEST_F(RaceRun, FinishedRunsAreKeptBesideNewRecipesAndSeeds) {
  set_all("base", {1, 1, 1, 1});
  set_all("wide", {0.9, 0.88, 0.92, 1});
  set_all("slow", {0.9, 0.88, 0.92, 1});
  run();
  EXPECT_EQ(run(), Lines{});
  plan_.recipes.push_back(recipe("slow: schedule.learning_rate=1e-4"));
  EXPECT_EQ(run(), (Lines{"slow seed-0", "slow seed-1", "slow seed-2"}));
  plan_.seeds = 4;
  EXPECT_EQ(run(), (Lines{"base seed-3", "wide seed-3", "slow seed-3"}));
  fs::remove(out() / "wide/seed-1/validation.json");
  EXPECT_EQ(read_race(plan_, out())[1].verdict, Verdict::incomplete);
  EXPECT_EQ(run(), (Lines{"wide seed-1"}));
  std::ofstream(out() / "wide/seed-1/validation.json") << "{}";
  EXPECT_ERROR_WITH(read_race(plan_, out()), "wide/seed-1/validation.json");
  set_errors("wide", 1, {0.1, 0.2, 0.3, 0.4}, 5);  // of other samples
  fs::remove(out() / "wide/seed-1/validation.json");
  EXPECT_ERROR_WITH(run(), "errors of the same validation samples");
}

TEST_F(RaceRun, TheBudgetIsThatOfAQuietMachine) {
  set_all("base", {1, 1, 1});
  set_all("wide", {1, 1, 1});
  plan_.minutes = 2;
  plan_.recipes.push_back(recipe("bad: model.width=48"));
  Lines expected{"base warm-up", "wide warm-up", "bad warm-up", "base warm-up", "wide warm-up"};
  for (const char* seed : {"0", "1", "2"}) {
    for (const char* name : {"base", "wide"}) expected.push_back(fmt::format("{} seed-{}", name, seed));
  }
  EXPECT_EQ(run(), expected);
  // The faster of the two measurements: half a second per step.
  const TrainConfig fixed = read_recipe_files({out() / "wide/recipe.toml"}, {});
  const TrainConfig fitted = fit_to_budget(plan_.recipes[1].config, {0.5, 1, 40}, 120);
  EXPECT_EQ(fixed.epochs, fitted.epochs);
  EXPECT_EQ(fixed.epoch_samples, fitted.epoch_samples);
  EXPECT_NE(fixed.epochs, fit_to_budget(plan_.recipes[1].config, {2, 1, 40}, 120).epochs);
  EXPECT_EQ(fixed.lano.width, 32);
  EXPECT_EQ(run(), Lines{"bad warm-up"});
  plan_.minutes = 3;
  EXPECT_ERROR_WITH(run(), "--minutes 2, with which its runs were trained, found 3");
  plan_.recipes.back() = recipe("more: train.epochs=50");
  EXPECT_ERROR_WITH(run(), "does not go with --minutes, which fixes the epochs");
}

TEST_F(RaceRun, OtherRunsInTheFolderAreRefused) {
  set_all("base", {1, 1, 1});
  set_all("wide", {1, 1, 1});
  run();
  plan_.recipes[1] = recipe("wide: model.width=48");
  EXPECT_ERROR_WITH(run(), "racing 'wide': the recipe differs from the one in");
  plan_.recipes[1] = recipe("wide: model.width=32 train.epochs=9");
  EXPECT_ERROR_WITH(run(), "racing 'wide': the recipe differs from the one in");
  plan_.recipes[1] = recipe("wide: model.width=32");
  plan_.threads = thread_count() + 1;
  EXPECT_ERROR_WITH(run(), fmt::format("--threads {}, with which its runs were trained", thread_count()));
  plan_.threads = 0;
  EXPECT_EQ(run(), Lines{});
  fs::rename(scratch_ / "darcy.h5", scratch_ / "moved.h5");
  base_.data = (scratch_ / "moved.h5").string();
  plan_.recipes = {recipe("base"), recipe("wide: model.width=32")};
  EXPECT_EQ(run(), Lines{});  // the same dataset elsewhere
  base_.data = test::darcy(scratch_, 9, 2, 0.5).string();
  plan_.recipes = {recipe("base"), recipe("wide: model.width=32")};
  EXPECT_ERROR_WITH(run(), "its runs were trained on another dataset than");
}

TEST_F(RaceRun, WhatIsNoRaceIsRefusedAndLeavesNothing) {
  const auto with = [&](std::vector<RaceRecipe> recipes) {
    plan_.recipes = std::move(recipes);
    run();
  };
  EXPECT_ERROR_WITH(with({recipe("base")}), "at least two recipes, found 1");
  EXPECT_ERROR_WITH(with({}), "at least two recipes, found 0");
  EXPECT_ERROR_WITH(with({recipe("a: model.width=32"), recipe("a: model.width=48")}), "two named 'a'");
  EXPECT_ERROR_WITH(with({recipe("base"), recipe("a: model.width=16")}), "the same under 'base' and 'a'");
  plan_.seeds = 0;
  EXPECT_ERROR_WITH(with({recipe("base"), recipe("a: model.width=32")}), "--seeds of at least 1");
  plan_.seeds = 3;
  base_.data = test::darcy(scratch_, 8, 2, 0).string();
  EXPECT_ERROR_WITH(with({recipe("base"), recipe("a: model.width=32")}), "the dataset has no validation split");
  base_.data = "none.h5";
  EXPECT_ERROR_WITH(with({recipe("base"), recipe("a: model.width=32")}),
                    "reading 'none.h5': there is nothing at that path");
  base_.data = test::darcy(scratch_, 8, 2).string();
  base_.train_on = TrainOn::train_and_validation;
  base_.selection = Selection::last;
  EXPECT_ERROR_WITH(with({recipe("base"), recipe("a: model.width=32")}), "recipes are compared on validation");
  base_.train_on = TrainOn::train;
  EXPECT_FALSE(fs::exists(out()));
  fs::create_directory(out());
  std::ofstream(out() / "config.toml") << "";
  base_.data = test::darcy(scratch_, 8, 2).string();
  EXPECT_ERROR_WITH(with({recipe("base"), recipe("a: model.width=32")}), "or one of a race, found a training");
}

// The child itself: its model file is evaluated as the training evaluated the weights, and the test split stays unread.
TEST(RaceChild, KeepsTheErrorOfEveryValidationSample) {
  test::Scratch scratch;
  TrainConfig config = test::tiny(test::darcy(scratch, 12, 3));
  config.epochs = 2;
  PairWork work;
  work.test = false;
  EXPECT_EQ(run_pair_child(config, scratch / "run", scratch / "result.json", work), 0);
  const RunRecord record = read_run_record(scratch / "run");
  EXPECT_FALSE(record.test);
  const Evaluation found = read_validation(scratch / "run");
  EXPECT_EQ(found.ids, DatasetReader(config.data).indices(Split::validation));
  ASSERT_EQ(found.relative_l2.per_sample.size(), 3u);
  EXPECT_DOUBLE_EQ(found.relative_l2.summary.mean, record.validation_l2);
  EXPECT_FALSE(fs::exists(scratch / "run/evaluation.h5"));
}

}  // namespace
}  // namespace lano::race_test
