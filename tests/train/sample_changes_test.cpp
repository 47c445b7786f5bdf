#include "train/sample_changes.h"

#include <set>

#include "core/random.h"
#include "pde/darcy_solver.h"
#include "scratch.h"

namespace lano::sample_changes_test {
namespace {

// The truth of a changed sample is that of the changed equation: solved again, not only permuted.
TEST(SampleChanges, EverySymmetryOfDarcyFlowIsASolutionToo) {
  const std::int64_t n = 12;
  const DarcySolver solver(n);
  RandomStream stream(3, Purpose::test);
  std::vector<float> a(static_cast<std::size_t>(n * n));
  for (float& value : a) value = static_cast<float>(9 * stream.uniform() + 3);
  std::set<std::vector<float>> seen;
  const auto solve = [&](const std::vector<float>& coefficient) {
    const std::vector<double> values(coefficient.begin(), coefficient.end());
    std::vector<double> u(values.size());
    solver.solve(values, std::vector<double>(values.size(), 1.0), u, 1e-12);
    return std::vector<float>(u.begin(), u.end());
  };
  const std::vector<float> u = solve(a);
  for (std::uint64_t step = 0; step < 60; ++step) {
    const SampleChanges changes(Augment::rotations, 0, {n * n}, 7, step, 0);
    const std::vector<float> changed = changes.apply(a, {n, n});
    if (!seen.insert(changed).second) continue;
    const std::vector<float> permuted = changes.apply(u, {n, n}), solved = solve(changed);
    for (std::size_t i = 0; i < solved.size(); ++i) EXPECT_NEAR(permuted[i], solved[i], 1e-9);
  }
  EXPECT_EQ(seen.size(), 8u);
}

std::vector<float> counted(std::size_t size, float factor = 1) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = factor * static_cast<float>(i);
  return values;
}

TEST(SampleChanges, SubsetsAreTheSameForAllFieldsAndKeepTheOrder) {
  const SampleChanges changes(Augment::none, 6, {20, 20}, 1, 5, 0);
  FieldBatch batch;
  batch.sizes = {20, 20};
  batch.coordinates = counted(40);
  batch.input = counted(40, 2);
  changes.apply(batch);
  ASSERT_EQ(batch.sizes, (std::vector<std::int64_t>{6, 6}));
  ASSERT_EQ(batch.coordinates.size(), 12u);
  const std::vector<float> third = changes.apply(counted(40, 3), {});
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(2 * batch.coordinates[i], batch.input[i]);
    EXPECT_EQ(3 * batch.coordinates[i], third[i]);
    EXPECT_EQ(static_cast<int>(batch.coordinates[i]) / 20, static_cast<int>(i) / 6);  // of its own sample
    if (i % 6 == 0) continue;
    EXPECT_GT(batch.coordinates[i], batch.coordinates[i - 1]);  // rising, so each point once
  }
  bool same = true;  // each sample its own
  for (std::size_t i = 0; i < 6; ++i) same = same && batch.coordinates[i] == batch.coordinates[6 + i] - 20;
  EXPECT_FALSE(same);
  // The same step draws the same points, another step others.
  EXPECT_EQ(SampleChanges(Augment::none, 6, {20, 20}, 1, 5, 0).apply(counted(40), {}), batch.coordinates);
  EXPECT_NE(SampleChanges(Augment::none, 6, {20, 20}, 1, 6, 0).apply(counted(40), {}), batch.coordinates);
}

TEST(SampleChanges, SharedCoordinatesAreThinnedForEachSample) {
  const SampleChanges changes(Augment::none, 3, {5, 5}, 1, 0, 0);
  FieldBatch batch;
  batch.sizes = {5, 5};
  batch.shared_coordinates = true;
  batch.coordinates = counted(5);
  batch.input = counted(10);
  changes.apply(batch);
  EXPECT_FALSE(batch.shared_coordinates);
  ASSERT_EQ(batch.coordinates.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(batch.coordinates[i] + (i < 3 ? 0 : 5), batch.input[i]);
}

TEST(SampleChanges, PackedCloudsAreThinnedOneByOne) {
  const SampleChanges changes(Augment::none, 6, {12, 5}, 1, 0, 0);
  FieldBatch batch;
  batch.sizes = {12, 5};
  batch.packed = true;
  batch.coordinates = batch.input = counted(17);
  changes.apply(batch);
  EXPECT_EQ(batch.sizes, (std::vector<std::int64_t>{6, 5}));  // the second has no more
  ASSERT_EQ(batch.coordinates.size(), 11u);
  for (std::size_t i = 6; i < 11; ++i) EXPECT_EQ(batch.coordinates[i], static_cast<float>(i + 6));
}

TEST(SampleChanges, SetsWithoutTheSymmetryAreRefused) {
  SetDescription set;
  set.geometry = Geometry::grid;
  set.shape = {5, 5};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = set.output = {{"a", "1"}};
  set.box = {0, 1, 0, 1};
  check_augment(Augment::rotations, set, {0.2, 0.2}, {0.1, 0.1});
  EXPECT_ERROR_WITH(check_augment(Augment::flips, set, {0.2, 0.2}, {0, 0}), "lie symmetrically");
  EXPECT_ERROR_WITH(check_augment(Augment::flips, set, {}, {0, 0}), "a uniform grid of two axes");
  set.shape = {5, 9};
  check_augment(Augment::flips, set, {0.2, 0.1}, {0.1, 0.1});
  EXPECT_ERROR_WITH(check_augment(Augment::rotations, set, {0.2, 0.1}, {0.1, 0.1}), "a square grid");
  set.output.push_back({"b", "1"});
  EXPECT_ERROR_WITH(check_augment(Augment::flips, set, {0.2, 0.1}, {0.1, 0.1}), "one input and one output channel");
}

}  // namespace
}  // namespace lano::sample_changes_test
