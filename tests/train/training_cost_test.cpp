#include "train/training_cost.h"

#include <csignal>
#include <regex>

#include "core/interrupt.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"

namespace lano::training_cost_test {
namespace {

TEST(TrainingCost, HoursAreSaidWithWhatTheyComeFrom) {
  // 500 (1000 + 14) 0.22 s = 111540 s.
  EXPECT_EQ(cost_text({500, 1000, 14}, 0.22), "about 31 hours on this machine: 500 epochs of 1000 steps at 0.22 s");
  EXPECT_EQ(cost_text({1, 3900, 0}, 1), "about 1.1 hours on this machine: 1 epoch of 3900 steps at 1 s");
  EXPECT_EQ(cost_text({1, 3600, 0}, 1), "");
  EXPECT_EQ(cost_text({}, 1), "");
}

class Heard : public Listener {
 public:
  void say(const std::string& line) override { lines.push_back(line); }
  std::vector<std::string> about() const {
    std::vector<std::string> found;
    for (const std::string& line : lines) {
      if (line.find("on this machine") != std::string::npos) found.push_back(line);
    }
    return found;
  }
  std::vector<std::string> lines;
};

TEST(TrainingCost, ALongRunSaysItOnceAndAShortOneNothing) {
  test::Scratch scratch;
  TrainConfig config = test::tiny(test::darcy(scratch, 24, 2));
  Heard heard;
  TrainOptions options;
  options.listener = &heard;
  config.epochs = 1;
  train(config, scratch / "short", options);
  EXPECT_TRUE(heard.about().empty());
  config.epochs = 100'000'000;  // of nine steps, whatever the machine
  std::int64_t first = 0;
  options.after_step = [&](std::int64_t step) {
    if (first == 0 && !heard.about().empty()) first = step;
    if (step == 20) std::raise(SIGINT);
  };
  const auto begun = std::chrono::steady_clock::now();
  {
    const InterruptGuard guard;
    EXPECT_FALSE(train(config, scratch / "long", options).finished);
  }
  const InterruptGuard fresh;  // forgets the signal, for the tests behind this one
  ASSERT_EQ(heard.about().size(), 1u);
  EXPECT_EQ(first, 5);
  std::smatch found;
  const std::string said = heard.about().front();
  ASSERT_TRUE(std::regex_match(
      said, found, std::regex("about ([0-9]+) hours on this machine: 100000000 epochs of 9 steps at (.+) s")))
      << said;
  // Six validation samples of two per step are a third of three steps: ten steps per epoch. Both numbers are rounded.
  const double step = std::stod(found[2]);
  EXPECT_NEAR(std::stod(found[1]), 1e8 * 10 * step / 3600, 0.05 * std::stod(found[1]) + 1);
  const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  EXPECT_GT(step, 0);
  EXPECT_LT(4 * step, 1.05 * whole);
}

}  // namespace
}  // namespace lano::training_cost_test
