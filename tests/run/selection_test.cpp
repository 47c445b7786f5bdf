#include "run/selection.h"

#include <gtest/gtest.h>

namespace lano::selection_test {
namespace {

const double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(Selection, BestKeepsTheLeastErrorOfBothKindsOfWeights) {
  KeptWeights kept;
  EXPECT_TRUE(offer(kept, Selection::best, 1, 0.5, std::nullopt));
  EXPECT_FALSE(offer(kept, Selection::best, 2, 0.5, std::nullopt));  // no better: the earlier stays
  EXPECT_TRUE(offer(kept, Selection::best, 3, 0.6, 0.4));
  EXPECT_EQ(kept.epoch, 3);
  EXPECT_EQ(kept.error, 0.4);
  EXPECT_TRUE(kept.average);
  EXPECT_TRUE(offer(kept, Selection::best, 4, 0.3, 0.35));
  EXPECT_FALSE(kept.average);
  EXPECT_FALSE(offer(kept, Selection::best, 5, kNone, 0.32));
  EXPECT_EQ(kept.epoch, 4);
}

TEST(Selection, WhatIsNotFiniteIsReplacedAndReplacesNothing) {
  KeptWeights kept;
  EXPECT_TRUE(offer(kept, Selection::best, 1, kNone, std::nullopt));  // something must be kept
  EXPECT_TRUE(offer(kept, Selection::best, 2, 0.9, kNone));
  EXPECT_FALSE(kept.average);
  EXPECT_FALSE(offer(kept, Selection::best, 3, kNone, kNone));
  EXPECT_EQ(kept.epoch, 2);
}

TEST(Selection, LastKeepsTheRunningMeanWhereThereIsOne) {
  KeptWeights kept;
  EXPECT_TRUE(offer(kept, Selection::last, 1, 0.1, 0.2));
  EXPECT_TRUE(kept.average);
  EXPECT_EQ(kept.error, 0.2);
  EXPECT_TRUE(offer(kept, Selection::last, 2, 0.7, std::nullopt));
  EXPECT_FALSE(kept.average);
  EXPECT_EQ(kept.epoch, 2);
}

}  // namespace
}  // namespace lano::selection_test
