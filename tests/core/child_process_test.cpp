#include "core/child_process.h"

#include <csignal>
#include <thread>

#include "core/interrupt.h"
#include "core/resident_memory.h"
#include "scratch.h"

namespace lano::child_process_test {
namespace {

TEST(ChildProcess, HowItEndedIsTold) {
  EXPECT_TRUE(run_child("/bin/sh", {"-c", "exit 0"}).good());
  EXPECT_EQ(run_child("/bin/sh", {"-c", "exit 3"}).code, 3);
  const ChildEnd killed = run_child("/bin/sh", {"-c", "kill -9 $$"});
  EXPECT_EQ(killed.signal, 9);
  EXPECT_FALSE(killed.good());
  EXPECT_EQ(run_child("/bin/sh", {"-c", "test \"$1\" = \"a b\" && exit 5", "sh", "a b"}).code, 5);  // words stay whole
  EXPECT_ERROR_WITH(run_child("/nowhere/program", {}), "'/nowhere/program'");
}

TEST(ChildProcess, ItsWordsAreTakenOrThrownAway) {
  std::string text = "old";
  ChildOptions options;
  options.output = &text;
  options.environment = {{"LANO_TEST_WORD", "set here"}, {"HOME", "replaced"}};
  // More than a pipe holds, so that reading and waiting must go together.
  const ChildEnd end =
      run_child("/bin/sh",
                {"-c",
                 "echo \"$LANO_TEST_WORD, $HOME\"; i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); "
                 "done; exit 4"},
                options);
  EXPECT_EQ(end.code, 4);
  EXPECT_EQ(text.substr(0, text.find('\n')), "set here, replaced");
  EXPECT_EQ(text.size(), std::string("set here, replaced\n").size() + 20000 * 11);
  ChildOptions quiet_options;
  quiet_options.quiet = true;
  testing::internal::CaptureStdout();
  EXPECT_TRUE(run_child("/bin/echo", {"not to be heard"}, quiet_options).good());
  EXPECT_TRUE(run_child("/bin/echo", {"heard"}).good());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "heard\n");
}

TEST(ChildProcess, TalksLineByLine) {
  TalkingChild child("cat", {});
  child.tell("one");
  EXPECT_EQ(child.line(), "one");
  child.tell("two words");
  EXPECT_EQ(child.line(), "two words");
  TalkingChild silent("true", {});
  EXPECT_EQ(silent.line(), std::nullopt);
}

TEST(ChildProcess, AWishToStopIsHandedOn) {
  const InterruptGuard guard;
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::raise(SIGTERM);
  });
  const ChildEnd end = run_child(
      "/bin/sh",
      {"-c", "trap 'exit 7' TERM; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.1; done"});
  later.join();
  EXPECT_TRUE(interrupted());
  EXPECT_EQ(end.code, 7);
}

TEST(ResidentMemory, TheMarkRisesWithWhatIsTouched) {
  const std::int64_t before = resident_high_water();
  {
    std::vector<char> much(64 << 20, 'x');
    ASSERT_EQ(much[12345], 'x');
  }
  EXPECT_GT(resident_high_water(), before + (48 << 20));
}

}  // namespace
}  // namespace lano::child_process_test
