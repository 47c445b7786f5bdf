#include "core/listener.h"

#include <gtest/gtest.h>

#include <vector>

namespace lano::listener_test {
namespace {

struct Notes : Listener {
  std::vector<std::string> heard;
  void say(const std::string& line) override { heard.push_back("say " + line); }
  void begin(const std::string& label, std::int64_t total, const std::string& unit) override {
    heard.push_back("begin " + label + " " + std::to_string(total) + " " + unit);
  }
  void advance(std::int64_t count, const std::string& detail) override {
    heard.push_back("advance " + std::to_string(count) + detail);
  }
  void end(bool complete) override { heard.push_back(complete ? "complete" : "broken off"); }
};

TEST(Listener, CountedWorkEndsWithItsScope) {
  Notes notes;
  {
    CountedWork work(notes, "stepping", 3, "steps");
    work.advance(2, " done");
    work.finish();
    work.finish();
  }
  try {
    CountedWork work(notes, "failing", 1, "steps");
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(notes.heard, (std::vector<std::string>{"begin stepping 3 steps", "advance 2 done", "complete",
                                                   "begin failing 1 steps", "broken off"}));
}

TEST(Listener, WhoDoesNotListenHearsNothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  quiet().say("x");
  quiet().warn("x");
  CountedWork(quiet(), "x", 1, "x").finish();
  EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace lano::listener_test
