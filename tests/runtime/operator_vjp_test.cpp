// The transposed derivative against differences of predictions, in float: coarse, for every sanitizer; the fine test is
// tests/python/test_vjp.py, against an oracle in double.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "random_model.h"
#include "runtime/operator.h"
#include "scratch.h"

namespace lano::operator_vjp_test {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

std::vector<float> moved(const std::vector<float>& from, const std::vector<float>& along, double by) {
  std::vector<float> to(from);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += static_cast<float>(by * static_cast<double>(along[i]));
  return to;
}

LanoConfig small(Task task) {
  LanoConfig c;
  c.layers = 2;
  c.heads = 2;
  c.width = 8;
  c.agents = 4;
  c.task = task;
  return c;
}

// dL along a direction d of the input: L(a + h d) - L(a - h d) = 2h dL/da . d
void check(const Operator& op, const std::vector<float>& x, std::int64_t points) {
  const auto n = static_cast<std::size_t>(points);
  const std::vector<float> a = test::uniform(n * static_cast<std::size_t>(op.set().input_channels()), 3),
                           g = test::uniform(n * 2, 4), along = test::uniform(a.size(), 5),
                           state = test::uniform(n * 2, 6);
  Operator::Call call;
  call.time = 1.5;
  if (op.task() == Task::autoregressive) call.state = state;
  const Operator::Slopes slopes = op.vjp(x, a, g, call);
  ASSERT_EQ(slopes.coordinates.size(), x.size());
  ASSERT_EQ(slopes.input.size(), a.size());
  ASSERT_EQ(slopes.state.size(), call.state.size());
  constexpr double kStep = 5e-3;
  const double ahead = dot(op.predict(x, moved(a, along, kStep), call), g),
               back = dot(op.predict(x, moved(a, along, -kStep), call), g), truth = (ahead - back) / (2 * kStep);
  EXPECT_NEAR(dot(slopes.input, along), truth, 2e-3 * std::abs(truth) + 1e-3);
}

TEST(Vjp, OfGridsMeshesAndClouds) {
  for (const Task task : {Task::steady, Task::autoregressive, Task::time_conditional}) {
    for (const Geometry geometry : {Geometry::grid, Geometry::mesh, Geometry::points}) {
      const Shape shape = geometry == Geometry::points ? Shape{30} : Shape{6, 5};
      SetDescription set = test::set_of(geometry, shape, 2, 2, 2);
      if (task != Task::steady) set.time = {0, 1, 2};
      LanoConfig config = small(task);
      if (geometry == Geometry::points) config.stencil = Stencil::neighbours;
      const bool grid = geometry == Geometry::grid;
      const Operator op(test::random_model(config, set, grid ? std::vector<double>{0.2, 0.25} : std::vector<double>{},
                                           grid ? std::vector<double>{0, 0} : std::vector<double>{}));
      check(op, grid ? test::grid_points(shape) : test::uniform(60, 9), 30);
    }
  }
}

// On a finer mesh the displacement of a point follows from coordinates around it, too.
TEST(Vjp, OfADisplacedMeshAtAnotherResolution) {
  const Shape trained{6, 5};
  const MeanField mean(trained, test::grid_points(trained), {0.2, 0.3});
  const Operator op(
      test::random_model(small(Task::steady), test::set_of(Geometry::mesh, trained, 2, 1, 2), {}, {}, mean));
  for (const Shape& mesh : {Shape{11, 8}, Shape{4, 9}, Shape{5, 4}}) {
    const auto n = static_cast<std::size_t>(element_count(mesh));
    const std::vector<float> x = moved(test::grid_points(mesh), test::uniform(2 * n, 9), 0.1), a = test::uniform(n, 3),
                             g = test::uniform(2 * n, 4), along = test::uniform(2 * n, 5);
    Operator::Call call;
    call.mesh = mesh;
    constexpr double kStep = 1e-3;  // the error of the difference falls as its square: 4e-4 of the slope here
    const double ahead = dot(op.predict(moved(x, along, kStep), a, call), g),
                 back = dot(op.predict(moved(x, along, -kStep), a, call), g), truth = (ahead - back) / (2 * kStep);
    EXPECT_NEAR(dot(op.vjp(x, a, g, call).coordinates, along), truth, 2e-3 * std::abs(truth) + 1e-3)
        << shape_text(mesh);
  }
}

TEST(Vjp, SaysWhatDoesNotFit) {
  const Operator op(test::random_model(small(Task::steady), test::set_of(Geometry::points, {30}, 2, 1, 2)));
  const std::vector<float> x = test::uniform(60, 1), a = test::uniform(30, 2), g = test::uniform(59, 3),
                           bad(60, std::numeric_limits<float>::infinity());
  EXPECT_THROW(op.vjp(x, a, g, {}), UsageError);
  EXPECT_ERROR_WITH(op.vjp(x, a, g, {}), "expected 60 slopes: 30 points of 2 channels, found 59");
  EXPECT_ERROR_WITH(op.vjp(x, a, bad, {}), "the slopes of the output are not finite");
}

}  // namespace
}  // namespace lano::operator_vjp_test
