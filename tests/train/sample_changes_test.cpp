#include "train/sample_changes.h"

#include <set>

#include "pde/darcy_solver.h"
#include "scratch.h"

namespace lano {
namespace {

// The truth of a changed sample is that of the changed equation: solved anew, not only permuted.
TEST(SampleChanges, EverySymmetryOfDarcyFlowIsASolutionToo) {
  const std::int64_t n = 12;
  const DarcySolver solver(n);
  torch::Tensor a = torch::rand({1, n * n, 1}) * 9 + 3;
  std::set<std::vector<float>> seen;
  const auto solve = [&](const torch::Tensor& coefficient) {
    const torch::Tensor exact = coefficient.to(torch::kFloat64).contiguous();
    const std::vector<double> values(exact.data_ptr<double>(), exact.data_ptr<double>() + n * n);
    std::vector<double> u(values.size());
    solver.solve(values, std::vector<double>(values.size(), 1.0), u, 1e-12);
    return torch::tensor(u, torch::kFloat64).view({1, n * n, 1});
  };
  const torch::Tensor u = solve(a);
  for (std::uint64_t step = 0; step < 60; ++step) {
    const SampleChanges changes(Augment::rotations, 0, {n * n}, 7, step, 0);
    const torch::Tensor changed = changes.apply(a, {n, n}).contiguous();
    if (!seen.insert(std::vector<float>(changed.data_ptr<float>(), changed.data_ptr<float>() + n * n)).second) continue;
    EXPECT_LT((changes.apply(u, {n, n}) - solve(changed)).abs().max().item<double>(), 1e-9);
  }
  EXPECT_EQ(seen.size(), 8u);
}

TEST(SampleChanges, SubsetsAreTheSameForAllFieldsAndKeepTheOrder) {
  const torch::Tensor x = torch::arange(40, torch::kFloat32).view({2, 20, 1});
  const SampleChanges changes(Augment::none, 6, {20, 20}, 1, 5, 0);
  Batch batch;
  batch.coordinates = x;
  batch.input = 2 * x;
  changes.apply(batch);
  EXPECT_EQ(batch.coordinates.sizes(), (std::vector<std::int64_t>{2, 6, 1}));
  EXPECT_TRUE(torch::equal(2 * batch.coordinates, batch.input));
  EXPECT_TRUE(torch::equal(3 * batch.coordinates, changes.apply(3 * x, {})));
  for (std::int64_t b = 0; b < 2; ++b) {
    const torch::Tensor row = batch.coordinates[b].flatten();
    EXPECT_TRUE((row.slice(0, 1) > row.slice(0, 0, -1)).all().item<bool>());  // rising, so each point once
    EXPECT_GE(row.min().item<float>(), 20 * static_cast<float>(b));
    EXPECT_LT(row.max().item<float>(), 20 * static_cast<float>(b + 1));
  }
  EXPECT_FALSE(torch::equal(batch.coordinates[0], batch.coordinates[1] - 20));  // each sample its own
  // The same step draws the same points, another step others.
  EXPECT_TRUE(torch::equal(SampleChanges(Augment::none, 6, {20, 20}, 1, 5, 0).apply(x, {}), batch.coordinates));
  EXPECT_FALSE(torch::equal(SampleChanges(Augment::none, 6, {20, 20}, 1, 6, 0).apply(x, {}), batch.coordinates));
}

TEST(SampleChanges, PackedCloudsAreThinnedOneByOne) {
  const torch::Tensor x = torch::arange(17, torch::kFloat32).view({1, 17, 1});
  const SampleChanges changes(Augment::none, 6, {12, 5}, 1, 0, 0);
  Batch batch;
  batch.coordinates = batch.input = x;
  batch.counts = {12, 5};
  changes.apply(batch);
  EXPECT_EQ(batch.counts, (std::vector<std::int64_t>{6, 5}));  // the second has no more
  EXPECT_EQ(batch.coordinates.size(1), 11);
  EXPECT_TRUE(torch::equal(batch.coordinates[0].slice(0, 6), x[0].slice(0, 12)));
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
}  // namespace lano
