// Which points the stencil of a cloud reads, against a search through all of them and against the grid's own stencil.
#include "kernels/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/random.h"
#include "core/threads.h"

namespace lano::kernels::neighbours_test {
namespace {

std::vector<float> random_points(std::int64_t count, std::int64_t dims, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::test);
  std::vector<float> x(static_cast<std::size_t>(count * dims));
  for (float& value : x) value = static_cast<float>(stream.uniform());
  return x;
}

TEST(Neighbours, OnARegularGridTheyAreTheGridsStencil) {
  constexpr std::int64_t kSide = 9;
  std::vector<float> x;
  for (std::int64_t i = 0; i < kSide; ++i) {
    for (std::int64_t j = 0; j < kSide; ++j) {
      x.push_back(0.25f * static_cast<float>(i));
      x.push_back(0.25f * static_cast<float>(j));
    }
  }
  const Neighbours n(x, 2, 0, false);
  for (std::int64_t i = 2; i + 2 < kSide; ++i) {
    for (std::int64_t j = 2; j + 2 < kSide; ++j) {
      const auto entries = n.of(i * kSide + j);
      ASSERT_EQ(entries.size(), 9u);
      std::size_t at = 0;
      for (std::int64_t a = -1; a <= 1; ++a) {
        for (std::int64_t b = -1; b <= 1; ++b, ++at) {
          EXPECT_EQ(entries[at].other, (i + a) * kSide + j + b);
          EXPECT_EQ(entries[at].place[0], static_cast<float>(a));  // each on its own tap
          EXPECT_EQ(entries[at].place[1], static_cast<float>(b));
          EXPECT_NEAR(entries[at].weight, 1.5 - 0.375 * static_cast<double>(a * a + b * b), 1e-6);
        }
      }
    }
  }
}

TEST(Neighbours, AreTheNearestOfAllInOneTwoAndThreeDimensions) {
  for (const std::int64_t dims : {1, 2, 3}) {
    const std::int64_t count = 300, nearest = dims == 1 ? 3 : dims == 2 ? 9 : 27;
    const std::vector<float> x = random_points(count, dims, 3);
    const Neighbours n(x, dims, 0, true);
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<std::pair<double, std::int32_t>> all;
      for (std::int64_t j = 0; j < count; ++j) {
        double square = 0;
        for (std::int64_t a = 0; a < dims; ++a)
          square += std::pow(static_cast<double>(x[static_cast<std::size_t>(i * dims + a)]) -
                                 x[static_cast<std::size_t>(j * dims + a)],
                             2);
        all.emplace_back(square, static_cast<std::int32_t>(j));
      }
      std::sort(all.begin(), all.end());
      std::vector<std::int32_t> expected, found;
      for (std::int64_t k = 0; k < nearest; ++k) expected.push_back(all[static_cast<std::size_t>(k)].second);
      std::sort(expected.begin(), expected.end());
      double sum = 0;
      for (const auto& entry : n.of(i)) {
        found.push_back(entry.other);
        sum += static_cast<double>(entry.weight);
      }
      EXPECT_EQ(found, expected) << dims << " dimensions, point " << i;
      EXPECT_NEAR(sum, static_cast<double>(nearest), 1e-5);
    }
  }
}

TEST(Neighbours, TablesListEveryEntryBothWays) {
  const std::vector<float> x = random_points(200, 2, 5);
  const Neighbours n(x, 2, 0, true);
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // reader, read, tap
  std::map<Key, float> expected, ahead, back;
  const auto list = [](const TapTable& table, auto&& see) {
    for (std::int64_t p = 0; p < table.points(); ++p) {
      for (std::int64_t t = 0; t < table.taps(); ++t) {
        for (auto e = table.first(p)[t]; e < table.first(p)[t + 1]; ++e) see(p, t, table.entries()[e]);
      }
    }
  };
  for (std::int64_t i = 0; i < 200; ++i) {
    for (const auto& entry : n.of(i)) {
      for_taps(entry, 2, [&](std::int64_t tap, double weight) {
        expected[{i, entry.other, tap}] = static_cast<float>(weight);
      });
    }
  }
  list(n.table(), [&](auto p, auto t, const TapEntry& entry) { ahead[{p, entry.row, t}] = entry.weight; });
  list(n.table_back(), [&](auto p, auto t, const TapEntry& entry) { back[{entry.row, p, t}] = entry.weight; });
  EXPECT_EQ(n.table().points(), 200);
  EXPECT_EQ(ahead, expected);
  EXPECT_EQ(back, expected);
}

TEST(Neighbours, SpanTheSamePartOfSpaceAtOtherResolutions) {
  const std::vector<float> coarse = random_points(2000, 2, 7), fine = random_points(16000, 2, 8);
  const Neighbours few(coarse, 2, 2000, false), many(fine, 2, 2000, false), unscaled(fine, 2, 0, false);
  // The mean square of the distances read, over a hundred places.
  const auto reach = [](const Neighbours& n, const std::vector<float>& x) {
    double sum = 0, weights = 0;
    for (int k = 0; k < 100; ++k) {
      const std::vector<float> at{0.2f + 0.06f * static_cast<float>(k % 10), 0.2f + 0.06f * static_cast<float>(k / 10)};
      for (const auto& entry : n.at(at)) {
        const auto j = 2 * static_cast<std::size_t>(entry.other);
        weights += static_cast<double>(entry.weight);
        sum += static_cast<double>(entry.weight) * (std::pow(x[j] - at[0], 2) + std::pow(x[j + 1] - at[1], 2));
      }
    }
    EXPECT_NEAR(weights, 900, 1e-2);
    return std::sqrt(sum / weights);
  };
  const double trained = reach(few, coarse);
  EXPECT_NEAR(reach(many, fine) / trained, 1, 0.1);
  EXPECT_LT(reach(unscaled, fine) / trained, 0.5);  // the same number of points spans an eighth of the area
  const std::vector<float> centre{0.5f, 0.5f};
  EXPECT_NEAR(static_cast<double>(many.at(centre).size()), 72, 1);
  EXPECT_LE(unscaled.at(centre).size(), 9u);
}

TEST(Neighbours, ChangeContinuouslyAsAPointMoves) {
  std::vector<float> x = random_points(60, 2, 9);
  const std::vector<float> at{0.5f, 0.5f};
  std::map<std::int32_t, double> before;
  double largest = 0;
  for (int step = 0; step <= 4000; ++step) {
    x[0] = -0.2f + 1.4f * static_cast<float>(step) / 4000;  // through the whole neighbourhood
    x[1] = 0.52f;
    const Neighbours n(x, 2, 0, false);
    std::map<std::int32_t, double> now;
    for (const auto& entry : n.at(at)) now[entry.other] = static_cast<double>(entry.weight);
    if (step > 0) {
      for (std::int32_t j = 0; j < 60; ++j) largest = std::max(largest, std::abs(now[j] - before[j]));
    }
    before = now;
  }
  EXPECT_LT(largest, 0.05);
}

TEST(Neighbours, FewOrCoincidingPoints) {
  const std::vector<float> one{0.3f, 0.4f}, same(40, 0.25f);
  const Neighbours alone(one, 2, 0, true);
  ASSERT_EQ(alone.of(0).size(), 1u);
  EXPECT_FLOAT_EQ(alone.of(0)[0].weight, 9.0f);
  const Neighbours piled(same, 2, 0, true);
  for (std::int64_t i = 0; i < 20; ++i) {
    double sum = 0;
    for (const auto& entry : piled.of(i)) {
      EXPECT_TRUE(std::isfinite(entry.weight));
      sum += static_cast<double>(entry.weight);
    }
    EXPECT_NEAR(sum, 9, 1e-5);
  }
  const std::vector<float> few = random_points(4, 3, 2);
  const Neighbours all(few, 3, 0, true);
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(all.of(i).size(), 4u);
}

TEST(Neighbours, NoThreadCountChangesThem) {
  const std::vector<float> x = random_points(3000, 3, 4);
  std::vector<std::vector<float>> weights;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    const Neighbours n(x, 3, 0, true);
    weights.emplace_back();
    for (std::int64_t i = 0; i < n.points(); ++i) {
      for (const auto& entry : n.of(i)) weights.back().push_back(entry.weight);
    }
  }
  set_thread_count(0);
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_EQ(weights[0], weights[2]);
}

}  // namespace
}  // namespace lano::kernels::neighbours_test
