#include "serve/waiting_place.h"

#include <gtest/gtest.h>

#include <memory>

namespace lano::serve {
namespace {

TEST(WaitingPlace, IsRefusedBeyondTheLimitAndThenCountsNobody) {
  std::atomic<std::int64_t> waiting = 0;
  const WaitingPlace first(waiting, 1);
  EXPECT_TRUE(first.taken());
  {
    const WaitingPlace second(waiting, 1);
    EXPECT_FALSE(second.taken());
    EXPECT_EQ(waiting, 1);
  }
  EXPECT_EQ(waiting, 1);
}

TEST(WaitingPlace, IsGivenBackOnceWithAnAnswerOrWithout) {
  std::atomic<std::int64_t> waiting = 0;
  auto answered = std::make_shared<WaitingPlace>(waiting, 2), dropped = std::make_shared<WaitingPlace>(waiting, 2);
  EXPECT_EQ(waiting, 2);
  answered->give_back();
  answered->give_back();
  EXPECT_EQ(waiting, 1);
  answered.reset();
  EXPECT_EQ(waiting, 1);
  auto copy = dropped;
  dropped.reset();
  EXPECT_EQ(waiting, 1);
  copy.reset();
  EXPECT_EQ(waiting, 0);
}

}  // namespace
}  // namespace lano::serve
