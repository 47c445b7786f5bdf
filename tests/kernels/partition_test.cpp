#include "kernels/partition.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/buffer.h"

namespace lano::kernels {
namespace {

TEST(Partition, CoversEveryPointOnceInOrder) {
  for (const std::vector<std::int64_t>& points : {std::vector<std::int64_t>{1},
                                                  {972},
                                                  {7225, 7225, 7225, 7225},
                                                  {1, 2, 3, 100000},
                                                  std::vector<std::int64_t>(500, 17)}) {
    const Partition p = divide(points, 240);
    ASSERT_EQ(p.first_unit.size(), points.size() + 1);
    for (std::size_t s = 0; s < points.size(); ++s) {
      std::int64_t at = 0;
      for (std::int64_t u = p.first_unit[s]; u < p.first_unit[s + 1]; ++u) {
        const Unit& unit = p.units[static_cast<std::size_t>(u)];
        EXPECT_EQ(unit.sample, static_cast<std::int64_t>(s));
        EXPECT_EQ(unit.first, at);
        EXPECT_GE(unit.count, 1);
        EXPECT_GE(unit.tile, 1);
        EXPECT_LE(unit.tile, kTile);
        at += unit.count;
      }
      EXPECT_EQ(at, points[s]);
    }
    std::int64_t unit = 0;
    for (const Group& group : p.groups) {
      EXPECT_EQ(group.first, unit);
      EXPECT_GT(group.last, group.first);
      unit = group.last;
    }
    EXPECT_EQ(unit, static_cast<std::int64_t>(p.units.size()));
    // Each costs a copy of a block's gradients. They are cut within samples, so that those of a sample do not depend on
    // the other samples.
    ASSERT_EQ(p.first_group.size(), points.size() + 1);
    for (std::size_t s = 0; s < points.size(); ++s) {
      EXPECT_LE(p.first_group[s + 1] - p.first_group[s], 64);
      EXPECT_EQ(p.groups[static_cast<std::size_t>(p.first_group[s])].first, p.first_unit[s]);
      const Partition alone = divide({points[s]}, 240);
      EXPECT_EQ(p.first_unit[s + 1] - p.first_unit[s], static_cast<std::int64_t>(alone.units.size()));
      EXPECT_EQ(p.first_group[s + 1] - p.first_group[s], static_cast<std::int64_t>(alone.groups.size()));
    }
  }
}

TEST(Partition, OneCloudFeedsManyThreads) {
  EXPECT_GE(divide({7225, 7225, 7225, 7225}, 240).units.size(), 64u);
  EXPECT_EQ(divide({972}, 240).units.size() % 4, 0u);
}

TEST(Partition, ParallelForVisitsEachOnceAndFlushesDenormals) {
  std::vector<int> seen(1000);
  volatile float tiny = 1e-30f;
  float product = 1;
  parallel_for(1000, [&](std::int64_t i, int) {
    ++seen[static_cast<std::size_t>(i)];
    if (i == 7) product = tiny * 1e-10f;
  });
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 1000);
  EXPECT_EQ(*std::min_element(seen.begin(), seen.end()), 1);
  EXPECT_EQ(product, 0);
  EXPECT_GT(tiny * 1e-10f, 0);  // and leaves the thread as it was
}

TEST(Buffers, LargeOnesAreUsedAgain) {
  release_kept_buffers();
  const float* first = nullptr;
  {
    Buffer buffer(2 << 20);
    first = buffer.data();
    buffer.data()[0] = 1;
  }
  EXPECT_EQ(kept_floats(), 2 << 20);
  const Buffer again(2000000);  // a little less: the same memory
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(kept_floats(), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(again.data()) % 64, 0u);
  EXPECT_EQ(Buffer(0).data(), nullptr);
}

// Sizes that change at every step, as packed clouds have them: never more kept than was in use at once.
TEST(Buffers, KeepsNoMoreThanWasInUse) {
  release_kept_buffers();
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < 60; ++i) {
    Buffer buffer((std::int64_t{2} << 20) + i * 700000);
    std::fill_n(buffer.data(), buffer.size(), 1.0f);
    most = std::max(most, buffer.size());
    EXPECT_LE(kept_floats(), most);
  }
  EXPECT_GT(kept_floats(), 0);
  EXPECT_LE(kept_floats(), most);
  release_kept_buffers();
  EXPECT_EQ(kept_floats(), 0);
}

}  // namespace
}  // namespace lano::kernels
