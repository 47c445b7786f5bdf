#include "pde/darcy_problem.h"

#include <omp.h>

#include <cmath>

#include "data/generation.h"
#include "scratch.h"

namespace lano::darcy_problem_test {
namespace {

DarcyConfig config(std::int64_t resolution, std::int64_t stride) {
  DarcyConfig c;
  c.resolution = resolution;
  c.stride = stride;
  c.seed = 42;
  return c;
}

TEST(DarcyProblem, PointsOfTheBenchmark) {
  const DarcyProblem problem(config(421, 5));
  EXPECT_EQ(problem.describe().shape, (Shape{85, 85}));
  const auto coords = problem.coordinates();
  EXPECT_FLOAT_EQ(coords[0], 0.5f / 421);
  EXPECT_FLOAT_EQ(coords[2 * 85], 5.5f / 421);
  EXPECT_FLOAT_EQ(coords.back(), 420.5f / 421);
}

TEST(DarcyProblem, RootMeanSquareOfThePressure) {
  // The public dataset has a root mean square of about 7.0e-3. Over 60 samples at a coarser resolution: within 10 %.
  const DarcyProblem problem(config(85, 1));
  std::vector<float> a(85 * 85), u(85 * 85);
  double squares = 0;
  for (std::int64_t i = 0; i < 60; ++i) {
    problem.make(i, 0, {{}, a, u, {}});
    for (const float value : u) squares += static_cast<double>(value) * value / (60.0 * 85 * 85);
  }
  EXPECT_NEAR(std::sqrt(squares), 7.0e-3, 0.7e-3);
}

TEST(DarcyProblem, TheSameArraysForAnyNumberOfThreads) {
  test::Scratch scratch;
  const DarcyProblem problem(config(33, 2));
  const int before = omp_get_max_threads();
  std::vector<Samples> sets;
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    const auto path = scratch / ("t" + std::to_string(threads) + ".h5");
    generate_dataset(
        path, problem.describe(), make_splits(9, 3), problem.coordinates(),
        [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) { return problem.make(i, attempt, to); });
    const DatasetReader reader(path);
    sets.push_back(reader.read(reader.indices("all")));
  }
  omp_set_num_threads(before);
  EXPECT_EQ(sets[0].input, sets[1].input);
  EXPECT_EQ(sets[0].output, sets[1].output);
}

// The smooth medium is exp of the same Gaussian field, and its pressure stays within the maximum principle's bounds.
TEST(DarcyProblem, LogNormalMedium) {
  DarcyConfig two = config(33, 1), smooth = two;
  smooth.field.medium = DarcyMedium::lognormal;
  std::vector<float> a(33 * 33), b(33 * 33), u(33 * 33);
  DarcyProblem(two).make(3, 0, {{}, a, u, {}});
  ASSERT_TRUE(DarcyProblem(smooth).make(3, 0, {{}, b, u, {}}));
  float least = 1e9f, most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i] == 12, b[i] >= 1);
    least = std::min(least, b[i]);
    most = std::max(most, b[i]);
  }
  const float top = *std::max_element(u.begin(), u.end());
  EXPECT_LE(top, 0.0737f / least);
  EXPECT_GE(top, 0.0736f / most);
}

TEST(DarcyProblem, ImpossibleSizesAreRefused) {
  EXPECT_ERROR_WITH(DarcyProblem(config(1, 1)), "a resolution of at least 2");
  EXPECT_ERROR_WITH(DarcyProblem(config(16, 0)), "stride of at least 1");
  EXPECT_ERROR_WITH(DarcyProblem(config(16, 16)), "below it");
}

}  // namespace
}  // namespace lano::darcy_problem_test
