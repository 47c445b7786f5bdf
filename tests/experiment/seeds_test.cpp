#include "experiment/seeds.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"

namespace lano::seeds_test {
namespace {

using nlohmann::json;
using test::darcy;
using test::tiny;

json parsed(const std::filesystem::path& path) { return json::parse(read_file(path, "r")); }

TEST(Seeds, TheDeviationIsThatOfASample) {
  const MeanAndDeviation three = mean_and_deviation(std::vector<double>{1, 2, 4});
  EXPECT_NEAR(three.mean, 7.0 / 3, 1e-15);
  EXPECT_NEAR(three.deviation, std::sqrt((16 + 1 + 25) / 9.0 / 2), 1e-15);
  const MeanAndDeviation one = mean_and_deviation(std::vector<double>{3});
  EXPECT_EQ(one.mean, 3);
  EXPECT_TRUE(std::isnan(one.deviation));
  EXPECT_TRUE(std::isnan(mean_and_deviation({}).mean));
}

TEST(Seeds, EverySeedIsAnOrdinaryRunAndCounts) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.epochs = 2;
  config.seed = 5;
  const auto folder = scratch / "group";
  const SeedResults group = run_seeds(config, 2, folder, false);
  ASSERT_EQ(group.runs.size(), 2u);
  EXPECT_TRUE(group.finished());
  EXPECT_NE(group.runs[0].test_l2, group.runs[1].test_l2);
  EXPECT_FALSE(std::filesystem::exists(folder / "config.toml"));
  EXPECT_EQ(read_file(folder / "recipe.toml", "r"), to_toml(config));

  const json all = parsed(folder / "seeds.json");
  EXPECT_EQ(all["planned"], 2);
  EXPECT_EQ(all["base_seed"], 5);
  ASSERT_EQ(all["seeds"].size(), 2u);
  double test_sum = 0, validation_sum = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const json& one = all["seeds"][i];
    EXPECT_EQ(one["seed"], 5 + i);
    EXPECT_EQ(one["run"], "seed-" + std::to_string(5 + i));
    const json evaluation = parsed(folder / one["run"].get<std::string>() / "evaluation.json");
    EXPECT_EQ(one["test_l2"], evaluation["test"]["relative_l2"]["mean"]);
    EXPECT_EQ(one["validation_l2"], evaluation["validation_l2"]);
    EXPECT_EQ(one["best_epoch"], evaluation["best_epoch"]);
    test_sum += one["test_l2"].get<double>();
    validation_sum += one["validation_l2"].get<double>();
  }
  EXPECT_NEAR(all["test_l2"]["mean"].get<double>(), test_sum / 2, 1e-12);
  EXPECT_NEAR(all["validation_l2"]["mean"].get<double>(), validation_sum / 2, 1e-12);
  const double a = all["seeds"][0]["test_l2"], b = all["seeds"][1]["test_l2"];
  EXPECT_NEAR(all["test_l2"]["deviation"].get<double>(), std::abs(a - b) / std::sqrt(2.0), 1e-12);
  EXPECT_NE(all["selection"].get<std::string>().find("best on validation"), std::string::npos);
  EXPECT_NE(all["selection"].get<std::string>().find("no seed is chosen"), std::string::npos);

  config.seed = 6;
  train(config, scratch / "alone");
  EXPECT_EQ(read_file(scratch / "alone/model.safetensors", "r"), read_file(folder / "seed-6/model.safetensors", "r"));

  const std::string text = seeds_text(group);
  EXPECT_NE(text.find("relative L2 over 2 of 2 seeds"), std::string::npos) << text;
  EXPECT_NE(text.find("no seed is chosen"), std::string::npos) << text;
}

TEST(Seeds, AnInterruptedGroupGoesOnWhereItWas) {
  test::Scratch scratch;
  const TrainConfig config = tiny(darcy(scratch, 8, 2));
  run_seeds(config, 2, scratch / "whole", false);

  // A file where the folder of a run should be stops the group there.
  const auto folder = scratch / "parts";
  make_folder(folder);
  const auto block = [&](const char* run) { std::ofstream(folder / run) << "in the way"; };
  block("seed-0");
  EXPECT_ERROR_WITH(run_seeds(config, 2, folder, false), "seed-0");
  json state = parsed(folder / "seeds.json");
  EXPECT_EQ(state["planned"], 2);
  EXPECT_EQ(state["base_seed"], 0);
  EXPECT_TRUE(state["seeds"].empty());
  EXPECT_TRUE(state["test_l2"]["mean"].is_null());
  std::filesystem::remove(folder / "seed-0");
  block("seed-1");
  EXPECT_ERROR_WITH(run_seeds(config, 2, folder, true), "seed-1");
  state = parsed(folder / "seeds.json");
  EXPECT_EQ(state["seeds"].size(), 1u);
  EXPECT_TRUE(state["test_l2"]["mean"].is_number());
  EXPECT_TRUE(state["test_l2"]["deviation"].is_null());
  std::filesystem::remove(folder / "seed-1");

  // The second run was killed after two epochs.
  TrainConfig second = config;
  second.seed = 1;
  train(second, folder / "seed-1", {.resume = true, .stop_after = 2});
  const auto kept = std::filesystem::last_write_time(folder / "seed-0/model.safetensors");
  EXPECT_EQ(planned_seeds(folder), 2);
  EXPECT_TRUE(run_seeds(config, planned_seeds(folder), folder, true).finished());
  EXPECT_EQ(read_file(folder / "seeds.json", "r"), read_file(scratch / "whole/seeds.json", "r"));
  EXPECT_EQ(std::filesystem::last_write_time(folder / "seed-0/model.safetensors"), kept);
  EXPECT_EQ(read_file(folder / "seed-1/model.safetensors", "r"),
            read_file(scratch / "whole/seed-1/model.safetensors", "r"));
  std::ifstream events(folder / "seed-1/events.jsonl");
  std::vector<std::int64_t> started_at;
  for (std::string line; std::getline(events, line);) {
    const json event = json::parse(line);
    if (event["event"] == "start") started_at.push_back(event["epoch"]);
  }
  EXPECT_EQ(started_at, (std::vector<std::int64_t>{0, 2}));
}

TEST(Seeds, WhatIsNotThereIsNull) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 6, 0, 0));
  config.epochs = 1;
  config.selection = Selection::last;
  run_seeds(config, 2, scratch / "group", false);
  const json all = parsed(scratch / "group/seeds.json");
  for (const char* split : {"validation_l2", "test_l2"}) {
    EXPECT_TRUE(all[split]["mean"].is_null()) << split;
    EXPECT_TRUE(all[split]["deviation"].is_null()) << split;
    EXPECT_TRUE(all["seeds"][1][split].is_null()) << split;
  }
  EXPECT_NE(all["selection"].get<std::string>().find("last epoch"), std::string::npos);
}

TEST(Seeds, AnotherGroupOrRunIsNotTouched) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 6, 2));
  config.epochs = 1;
  EXPECT_ERROR_WITH(run_seeds(config, 1, scratch / "group", false), "--seeds of at least 2");
  run_seeds(config, 2, scratch / "group", false);
  EXPECT_ERROR_WITH(run_seeds(config, 2, scratch / "group", false), "add --resume");
  EXPECT_ERROR_WITH(run_seeds(config, 3, scratch / "group", true), "--seeds 2, with which the group was started");
  TrainConfig other = config;
  other.batch = 3;
  EXPECT_ERROR_WITH(run_seeds(other, 2, scratch / "group", true),
                    "the recipe or the dataset differs from that of the group");
  train(config, scratch / "run");
  EXPECT_ERROR_WITH(run_seeds(config, 2, scratch / "run", true), "a single run");
  other.data = (scratch / "none.h5").string();
  EXPECT_ERROR_WITH(run_seeds(other, 2, scratch / "none", false), "nothing at that path");
  EXPECT_FALSE(std::filesystem::exists(scratch / "none"));
}

}  // namespace
}  // namespace lano::seeds_test
