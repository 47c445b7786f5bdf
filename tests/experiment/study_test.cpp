// A study's bookkeeping, with a shell script in the place of the training program: equal epochs, what is kept, what a
// refusal costs.
#include "experiment/study.h"

#include <fstream>

#include "core/atomic_file.h"
#include "experiment/pair_run.h"
#include "train/recipes.h"
#include "train/tiny_runs.h"

namespace lano::study_test {
namespace {

namespace fs = std::filesystem;

// "Trains" to an error of 1/agents + seed; 5 agents are refused.
void write_program(const fs::path& path) {
  std::ofstream(path) << R"sh(#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in --config) config=$2;; --run) run=$2;; --result) result=$2;; --measure) measure=1;; esac
  shift
done
agents=$(sed -n 's/^agents = \(.*\)/\1/p' "$config")
echo "$agents ${run##*/}" >> "$LANO_TEST_LOG"
say() { echo "$1" > "$result"; }
if [ "$agents" = 5 ]; then say '{"state":"refused","sentence":"no five","peak_bytes":1}'; exit 2; fi
if [ -n "$measure" ]; then
  say '{"state":"measured","step_seconds":0.5,"validation_seconds":1,"items":40,"peak_bytes":1}'
  exit 0
fi
mkdir -p "$run"
error=$(awk -v m="$agents" -v s="${run##*-}" 'BEGIN { printf "%.6f", 1/m + s }')
cat > "$run/evaluation.json" <<END
{"parameters":7,"epochs":4,"best_epoch":3,"validation_l2":0.2,"training_seconds":8,
 "test":{"relative_l2":{"mean":$error}}}
END
say '{"state":"finished","peak_bytes":1000}'
)sh";
  fs::permissions(path, fs::perms::owner_all);
}

class StudyRun : public ::testing::Test {
 protected:
  StudyRun() {
    write_program(scratch_ / "program");
    ::setenv("LANO_TEST_LOG", log().c_str(), 1);
    data_ = test::darcy(scratch_, 4, 1);
    plan_.name = "agents";
    plan_.minutes = 0.5;
    plan_.threads = 1;
    plan_.program = scratch_ / "program";
    add(8, "");
    add(2, "agents-8");
    plan_.variants.front().place.reference = true;
  }

  void add(std::int64_t agents, const std::string& epochs_of) {
    const std::string name = "agents-" + std::to_string(agents);
    Variant variant{"darcy", name, Place{"agents M", "again", name, static_cast<double>(agents)}, test::tiny(data_),
                    epochs_of};
    variant.recipe.lano.agents = agents;
    plan_.variants.push_back(variant);
  }
  std::string log() const { return (scratch_ / "log").string(); }
  fs::path out() const { return scratch_ / "study"; }
  std::vector<std::string> calls() {
    std::ifstream file(log());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void run() {
    fs::remove(log());
    run_study(plan_, out(), [] {});
  }
  TrainConfig recipe(const char* name) { return read_recipe_files({out() / "darcy" / name / "recipe.toml"}, {}); }

  test::Scratch scratch_;
  fs::path data_;
  StudyPlan plan_;
};

TEST_F(StudyRun, EveryVariantHasTheEpochsOfTheReference) {
  plan_.seeds = 2;
  run();
  // One pace is measured, and seeds go round by round.
  EXPECT_EQ(calls(), (std::vector<std::string>{"8 warm-up", "8 seed-0", "2 seed-0", "8 seed-1", "2 seed-1"}));
  const TrainConfig expected = fit_to_budget(test::tiny(data_), {0.5, 1, 40}, 30);
  for (const char* name : {"agents-8", "agents-2"}) {
    EXPECT_EQ(recipe(name).epochs, expected.epochs) << name;
    EXPECT_EQ(recipe(name).epoch_samples, expected.epoch_samples) << name;
  }
  EXPECT_EQ(recipe("agents-2").lano.agents, 2);
  const std::vector<StudyRow> rows = read_study(plan_, out());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].errors, (std::vector<double>{0.125, 1.125}));
  EXPECT_DOUBLE_EQ(rows[1].mean(), 1.0);
  EXPECT_EQ(rows[0].parameters, 7);
  EXPECT_EQ(rows[0].seconds, 8);
  EXPECT_EQ(rows[0].reason, "");
}

TEST_F(StudyRun, WhatIsFinishedIsKeptAndMoreIsAdded) {
  run();
  add(4, "agents-8");
  run();
  EXPECT_EQ(calls(), (std::vector<std::string>{"4 seed-0"}));
  run();
  EXPECT_TRUE(calls().empty());
}

TEST_F(StudyRun, ARefusalIsOneRowAndTheStudyGoesOn) {
  add(5, "agents-8");
  add(4, "agents-8");
  run();
  const std::vector<StudyRow> rows = read_study(plan_, out());
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_TRUE(rows[2].errors.empty());
  EXPECT_EQ(rows[2].reason, "refused: no five");
  EXPECT_EQ(rows[3].errors.size(), 1u);
}

TEST_F(StudyRun, OtherRecipesMinutesThreadsAndDatasetsAreRefused) {
  run();
  StudyPlan other = plan_;
  other.minutes = 1;
  EXPECT_ERROR_WITH(run_study(other, out(), [] {}), "--minutes 0.5");
  other = plan_;
  other.threads = 2;
  EXPECT_ERROR_WITH(run_study(other, out(), [] {}), "--threads 1");
  other = plan_;
  other.variants[1].recipe.batch = 3;
  EXPECT_ERROR_WITH(run_study(other, out(), [] {}), "the recipe differs from the one in");
  other = plan_;
  other.variants.push_back(other.variants[0]);
  EXPECT_ERROR_WITH(run_study(other, out(), [] {}), "variants with different names");
  fs::remove(data_);
  test::darcy(scratch_, 5, 1);
  EXPECT_ERROR_WITH(run_study(plan_, out(), [] {}), "is not the dataset its runs were trained on");
}

}  // namespace
}  // namespace lano::study_test
