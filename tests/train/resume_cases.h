// kill -9 at random: another process trains, dies, is started again; in the end its model file is that of a run never
// stopped. For every engine; LANO_RESUME_VICTIM is the process.
#pragma once

#include <fmt/format.h>

#include <csignal>
#include <sstream>

#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/random.h"
#include "train/checkpoint.h"
#include "train/tiny_runs.h"

namespace lano {

constexpr int kKills = 20;

struct ResumeOutcome {
  bool killed, finished;
};

inline ResumeOutcome start(const std::filesystem::path& config, const std::filesystem::path& run,
                           const std::string& how) {
  std::vector<std::string> words{config.string(), run.string()};
  std::istringstream parts(how);
  for (std::string word; parts >> word;) words.push_back(word);
  ChildOptions options;
  options.quiet = true;
  options.environment = {{"OMP_NUM_THREADS", "2"}, {"OMP_WAIT_POLICY", "passive"}};
  const ChildEnd end = run_child(LANO_RESUME_VICTIM, words, options);
  return {end.signal == SIGKILL, end.good()};
}

struct Victim {
  const char *name, *model;
  Engine engine;
};

class KilledAtRandom : public ::testing::TestWithParam<Victim> {};

TEST_P(KilledAtRandom, EndsWithTheSameBytes) {
  test::Scratch scratch;
  TrainConfig config = test::tiny(test::darcy(scratch, 28, 2));
  config.model = GetParam().model;
  config.engine = GetParam().engine;
  const bool lano = config.model == "lano";
  if (lano) config.lano.dropout = 0.1;
  config.epochs = 24;  // of 21 samples: 6 steps each
  config.batch = 2;
  config.accumulate = 2;
  config.ema = 0.95;
  config.augment = Augment::rotations;
  if (lano) config.agents_range = {4, 16};
  write_file_atomically(scratch / "whole.toml", to_toml(config));
  ASSERT_TRUE(start(scratch / "whole.toml", scratch / "whole", "whole").finished);
  config.memory_gb = 0;  // read ahead
  config.checkpoint_steps = 2;
  write_file_atomically(scratch / "parts.toml", to_toml(config));
  RandomStream stream(2026, Purpose::test, !lano ? 3 : config.engine == Engine::fused ? 1 : 2);
  const int kills = lano ? kKills : kKills / 2;
  for (int kill = 0, starts = 0; kill < kills; ++starts) {
    ASSERT_LT(starts, 3 * kills);
    // Half of them after a number of steps, half at any moment: in a step, in a write, in validation.
    const std::string how = kill % 2 == 0 ? fmt::format("step {}", 1 + stream.below(6))
                                          : fmt::format("microseconds {}", 1 + stream.below(20000));
    const ResumeOutcome outcome = start(scratch / "parts.toml", scratch / "parts", how);
    ASSERT_TRUE(outcome.killed || outcome.finished) << how << ": failed";
    if (outcome.killed) ++kill;
    if (outcome.finished) {  // on a quick machine the kills come too late: the same bytes, and once more from the
                             // beginning
      EXPECT_EQ(read_file(scratch / "whole/model.safetensors", "r"),
                read_file(scratch / "parts/model.safetensors", "r"));
      std::filesystem::remove_all(scratch / "parts");
    }
  }
  ASSERT_TRUE(start(scratch / "parts.toml", scratch / "parts", "whole").finished);
  EXPECT_EQ(read_file(scratch / "whole/model.safetensors", "r"), read_file(scratch / "parts/model.safetensors", "r"));
  const auto state = [&](const char* run) { return read_checkpoint(CheckpointFolder(scratch / run).files().back()); };
  EXPECT_EQ(state("whole/checkpoint").average, state("parts/checkpoint").average);
  EXPECT_EQ(state("whole/checkpoint").second_moment, state("parts/checkpoint").second_moment);
}

}  // namespace lano
