#include "train/checkpoint.h"

#include <cmath>
#include <fstream>

#include "core/atomic_file.h"
#include "scratch.h"

namespace lano::checkpoint_test {
namespace {

Checkpoint sample(std::int64_t steps) {
  Checkpoint c;
  c.epoch = 2;
  c.steps = steps;
  c.epoch_loss = 0.1 + 1e-17 * static_cast<double>(steps);
  c.epoch_seconds = 1.0 / 3;
  c.best.epoch = 1;
  c.best.error = std::nan("");
  c.best.average = true;
  c.config = "a = 1\n";
  c.data = "0123";
  c.threads = 3;
  c.history = {{1, 5, 1e-3, 0.3, std::nan(""), 0.7, 2.5}};
  c.weights = {1, -0.0f, 1e-40f};
  c.best_weights = {4, 5, 6};
  c.first_moment = {7, 8, static_cast<float>(steps)};
  c.second_moment = {9, 10, 11};
  return c;
}

TEST(Checkpoint, EveryValueComesBack) {
  test::Scratch scratch;
  write_checkpoint(scratch / "c.safetensors", sample(11));
  const Checkpoint a = sample(11), b = read_checkpoint(scratch / "c.safetensors");
  EXPECT_EQ(b.epoch, a.epoch);
  EXPECT_EQ(b.steps, a.steps);
  EXPECT_EQ(b.epoch_loss, a.epoch_loss);
  EXPECT_EQ(b.epoch_seconds, a.epoch_seconds);
  EXPECT_EQ(b.best.epoch, a.best.epoch);
  EXPECT_TRUE(std::isnan(b.best.error));
  EXPECT_TRUE(b.best.average);
  EXPECT_FALSE(b.ended);
  EXPECT_EQ(b.config, a.config);
  EXPECT_EQ(b.data, a.data);
  EXPECT_EQ(b.threads, 3);
  ASSERT_EQ(b.history.size(), 1u);
  EXPECT_TRUE(std::isnan(b.history[0].validation_l2));
  EXPECT_EQ(b.history[0].validation_ema_l2, 0.7);
  EXPECT_EQ(b.history[0].seconds, 2.5);
  EXPECT_EQ(b.weights, a.weights);
  EXPECT_TRUE(std::signbit(b.weights[1]));
  EXPECT_TRUE(b.average.empty());
  EXPECT_EQ(b.best_weights, a.best_weights);
  EXPECT_EQ(b.first_moment, a.first_moment);
  EXPECT_EQ(b.second_moment, a.second_moment);
}

TEST(CheckpointFolder, KeepsTheLastTwoAndTheBest) {
  test::Scratch scratch;
  const CheckpointFolder folder(scratch / "");
  std::vector<std::string> said;
  EXPECT_FALSE(folder.newest(said).has_value());
  for (const std::int64_t steps : {2, 10, 100, 1000}) folder.save(sample(steps), steps == 10);
  ASSERT_EQ(folder.files().size(), 2u);
  EXPECT_EQ(read_checkpoint(folder.files()[0]).steps, 100);
  EXPECT_EQ(folder.newest(said)->checkpoint.steps, 1000);
  EXPECT_EQ(read_checkpoint(folder.best()).steps, 10);
  EXPECT_TRUE(said.empty());
}

// A resumed run keeps the state it resumes from as the best again: the same file, which is the best already.
TEST(CheckpointFolder, KeepingTheBestTwiceLeavesNothingBehind) {
  test::Scratch scratch;
  const CheckpointFolder folder(scratch / "");
  const auto path = folder.save(sample(2), true);
  folder.keep_as_best(path);
  EXPECT_EQ(scratch.files(), 2u);
  EXPECT_EQ(read_checkpoint(folder.best()).steps, 2);
}

// A kill between a state and the removal of the oldest one; a finished run saves no more.
TEST(CheckpointFolder, TheNewestIsFoundAndTheOldGo) {
  test::Scratch scratch;
  const CheckpointFolder folder(scratch / "");
  folder.save(sample(2), false);
  folder.save(sample(4), false);
  write_checkpoint(scratch / "step-0000000006.safetensors", sample(6));
  std::vector<std::string> said;
  EXPECT_EQ(folder.newest(said)->checkpoint.steps, 6);
  ASSERT_EQ(folder.files().size(), 2u);
  EXPECT_EQ(read_checkpoint(folder.files()[0]).steps, 4);
}

TEST(CheckpointFolder, ADamagedNewestFallsBackAndSaysSo) {
  for (const bool truncate : {true, false}) {
    test::Scratch scratch;
    const CheckpointFolder folder(scratch / "");
    folder.save(sample(5), false);
    folder.save(sample(6), false);
    const auto damage = [&](const std::filesystem::path& path) {
      std::string bytes = read_file(path, "r");
      if (truncate) {
        bytes.resize(bytes.size() / 2);
      } else {
        bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);  // one bit of one weight
      }
      std::ofstream(path, std::ios::binary) << bytes;
    };
    damage(folder.files()[1]);
    std::vector<std::string> said;
    const auto found = folder.newest(said);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->checkpoint.steps, 5);
    EXPECT_EQ(found->path, folder.files().back());  // the damaged one is put aside
    EXPECT_EQ(folder.files().size(), 1u);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("step-0000000006"), std::string::npos) << said[0];
    damage(folder.files()[0]);
    EXPECT_ERROR_WITH(folder.newest(said), "all checkpoints (1) are damaged");
  }
}

TEST(CheckpointFolder, AStateOfAnotherBuildIsRefusedAndLeftAlone) {
  test::Scratch scratch;
  const CheckpointFolder folder(scratch / "");
  const auto path = folder.save(sample(5), false);
  std::string bytes = read_file(path, "r");
  const std::string now = "\"format_version\":\"4\"";
  ASSERT_NE(bytes.find(now), std::string::npos);
  bytes.replace(bytes.find(now), now.size(), "\"format_version\":\"2\"");
  std::ofstream(path, std::ios::binary) << bytes;
  std::vector<std::string> said;
  EXPECT_ERROR_WITH(folder.newest(said),
                    "expected format version 4, found 2; finish the run with the lano that began it");
  EXPECT_EQ(read_file(path, "r"), bytes);
}

}  // namespace
}  // namespace lano::checkpoint_test
