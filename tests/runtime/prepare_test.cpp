// Agents prepared once, new points decoded against them.
#include <gtest/gtest.h>

#include <cmath>

#include "random_model.h"
#include "runtime/operator.h"
#include "scratch.h"

namespace lano::prepare_test {
namespace {

LanoConfig small() {
  LanoConfig c;
  c.layers = 3;
  c.heads = 2;
  c.width = 16;
  c.agents = 6;
  return c;
}

std::vector<double> step_of(const Shape& shape) {
  std::vector<double> step;
  for (const std::int64_t n : shape) step.push_back(1.0 / static_cast<double>(n - 1));
  return step;
}

Operator grid_operator(const LanoConfig& config, const Shape& shape) {
  return Operator(test::random_model(config,
                                     test::set_of(Geometry::grid, shape, static_cast<std::int64_t>(shape.size()), 1, 2),
                                     step_of(shape), std::vector<double>(shape.size(), 0.0)));
}

Operator cloud_operator(const LanoConfig& config, std::int64_t points) {
  return Operator(test::random_model(config, test::set_of(Geometry::points, {points}, 2, 1, 2)));
}

// A smooth input field.
std::vector<float> field(const std::vector<float>& points, std::size_t dims) {
  std::vector<float> values;
  for (std::size_t i = 0; i < points.size() / dims; ++i) {
    float sum = 0;
    for (std::size_t a = 0; a < dims; ++a) sum += points[i * dims + a] * static_cast<float>(a + 1);
    values.push_back(std::sin(3 * sum));
  }
  return values;
}

double rms(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0, norm = 0;
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(sum / norm);
}

void expect_own_points(const Operator& op, const std::vector<float>& points, std::size_t dims,
                       const Operator::Call& call = {}) {
  const std::vector<float> input = field(points, dims), all = op.predict(points, input, call);
  const Prepared prepared = op.prepare(points, input, call);
  EXPECT_LT(rms(prepared.decode(points, input, call.state), all), 1e-6);
  // One by one and in reverse: the prediction at a point does not depend on the others.
  const std::size_t n = points.size() / dims, du = all.size() / n;
  for (const std::size_t i : {n - 1, n / 2, std::size_t{0}}) {
    const auto state = call.state.empty() ? call.state : call.state.subspan(i * du, du);
    const std::vector<float> one =
        prepared.decode(std::span(points).subspan(i * dims, dims), std::span(input).subspan(i, 1), state);
    for (std::size_t c = 0; c < du; ++c) EXPECT_NEAR(one[c], all[i * du + c], 1e-5 * (1 + std::abs(all[i * du + c])));
  }
}

TEST(Prepare, DecodesItsOwnPointsAsPredictDoes) {
  for (const Shape& shape : {Shape{12, 9}, Shape{31}, Shape{5, 6, 4}}) {
    SCOPED_TRACE(shape_text(shape));
    expect_own_points(grid_operator(small(), shape), test::grid_points(shape), shape.size());
  }
  expect_own_points(cloud_operator(small(), 150), test::uniform(300, 5), 2);
}

TEST(Prepare, KnowsTheStencilOfTheFeedForwardPart) {
  LanoConfig config = small();
  config.ffn_stencil = true;
  for (const Shape& shape : {Shape{12, 9}, Shape{31}, Shape{5, 6, 4}}) {
    SCOPED_TRACE(shape_text(shape));
    expect_own_points(grid_operator(config, shape), test::grid_points(shape), shape.size());
  }
  Operator::Call call;
  call.mesh = {23, 14};
  expect_own_points(grid_operator(config, {12, 9}), test::grid_points(call.mesh), 2, call);
  config.stencil = Stencil::neighbours;
  expect_own_points(cloud_operator(config, 150), test::uniform(300, 5), 2);
}

TEST(Prepare, WorksAtOtherResolutionsAndForOtherAgents) {
  Operator op = grid_operator(small(), {12, 9});
  Operator::Call call;
  call.mesh = {23, 14};
  expect_own_points(op, test::grid_points(call.mesh), 2, call);
  op.use_agents(12);
  expect_own_points(op, test::grid_points(call.mesh), 2, call);
  expect_own_points(cloud_operator(small(), 150), test::uniform(2 * 437, 6), 2);  // three times the trained density
}

TEST(Prepare, AgentsKeepTheirPlaces) {
  LanoConfig config = small();
  config.exchange = true;
  for (const Shape& shape : {Shape{12, 9}, Shape{31}, Shape{5, 6, 4}}) {
    SCOPED_TRACE(shape_text(shape));
    expect_own_points(grid_operator(config, shape), test::grid_points(shape), shape.size());
  }
  Operator op = grid_operator(config, {12, 9});
  Operator::Call call;
  call.mesh = {23, 14};
  op.use_agents(12);
  expect_own_points(op, test::grid_points(call.mesh), 2, call);
  expect_own_points(cloud_operator(config, 150), test::uniform(2 * 437, 6), 2);
}

TEST(Prepare, NeighboursInSpaceNeedNoOrder) {
  LanoConfig config = small();
  config.stencil = Stencil::neighbours;
  expect_own_points(cloud_operator(config, 150), test::uniform(300, 5), 2);
  expect_own_points(cloud_operator(config, 150), test::uniform(2 * 437, 6), 2);
  config.order = Order::file;
  config.bias = Bias::sum;
  expect_own_points(cloud_operator(config, 150), test::uniform(300, 7), 2);
}

TEST(Prepare, TakesEverySwitchThatNeedsNoPlace) {
  LanoConfig config = small();
  config.dwc = false;
  config.bias = Bias::sum;
  config.agent_tokens = Agents::latent;
  config.decoder = Decoder::mlp;
  config.position = Position::reference;
  expect_own_points(grid_operator(config, {12, 9}), test::grid_points({12, 9}), 2);
  config.order = Order::file;
  expect_own_points(cloud_operator(config, 150), test::uniform(300, 7), 2);
  config.pool = Pool::sequence;
  config.agent_tokens = Agents::pooled;
  const Operator op(test::random_model(config, test::set_of(Geometry::mesh, {12, 9}, 2, 1, 2)));
  expect_own_points(op, test::uniform(2 * 108, 8), 2);
  EXPECT_EQ(op.why_not_prepare(), "");
}

TEST(Prepare, CarriesTimeAndState) {
  LanoConfig config = small();
  config.task = Task::time_conditional;
  SetDescription set = test::set_of(Geometry::grid, {12, 9}, 2, 1, 2);
  set.time = {0, 0.5, 1};
  const std::vector<double> step = step_of({12, 9}), origin{0, 0};
  const std::vector<float> points = test::grid_points({12, 9}), input = field(points, 2);
  Operator::Call call;
  call.time = 0.5;
  const Operator timed(test::random_model(config, set, step, origin));
  expect_own_points(timed, points, 2, call);
  call.time = 1;
  EXPECT_GT(rms(timed.predict(points, input, call), timed.predict(points, input, {{}, 0.5, {}})),
            1e-3);  // time matters in this model
  config.task = Task::autoregressive;
  const std::vector<float> state = test::uniform(108 * 2, 9);
  call.state = state;
  expect_own_points(Operator(test::random_model(config, set, step, origin)), points, 2, call);
}

// Between the prepared points the prediction follows the operator on a finer grid, the closer the finer the prepared
// grid.
TEST(Prepare, AnswersBetweenThePointsConvergeToTheFineGrid) {
  const Operator op = grid_operator(small(), {9, 9});
  Operator::Call fine;
  fine.mesh = {65, 65};
  const std::vector<float> points = test::grid_points(fine.mesh), input = field(points, 2),
                           truth = op.predict(points, input, fine);
  double before = 1e9;
  for (const std::int64_t n : {9, 17, 33}) {
    Operator::Call call;
    call.mesh = {n, n};
    const std::vector<float> own = test::grid_points(call.mesh);
    const double error = rms(op.prepare(own, field(own, 2), call).decode(points, input), truth);
    EXPECT_LT(error, 0.6 * before) << n;
    before = error;
  }
  EXPECT_LT(before, 0.05);
}

TEST(Prepare, ANewPointOfACloudIsLikeItsNeighbours) {
  const Operator op = cloud_operator(small(), 600);
  const std::vector<float> points = test::uniform(1200, 10);
  const Prepared prepared = op.prepare(points, field(points, 2));
  std::vector<float> moved = points;
  for (float& x : moved) x += 1e-5f;
  EXPECT_LT(rms(prepared.decode(moved, field(moved, 2)), op.predict(points, field(points, 2))), 0.1);
}

TEST(Prepare, RefusesWhereAPointHasNoPlace) {
  const Operator mesh(test::random_model(small(), test::set_of(Geometry::mesh, {12, 9}, 2, 1, 2)));
  const std::vector<float> points = test::uniform(2 * 108, 8);
  EXPECT_NE(mesh.why_not_prepare(), "");
  EXPECT_ERROR_WITH(mesh.prepare(points, field(points, 2)), "the stencil needs a point's neighbours");
  LanoConfig config = small();
  config.order = Order::file;
  EXPECT_ERROR_WITH(cloud_operator(config, 108).prepare(points, field(points, 2)), "the file's order");
  config = small();
  config.pool = Pool::sequence;
  EXPECT_ERROR_WITH(grid_operator(config, {12, 9}).prepare({}, {}), "between rows");

  const Operator grid = grid_operator(small(), {12, 9});
  EXPECT_ERROR_WITH(grid.prepare(points, field(points, 2)), "the grid is not uniform");
  const std::vector<float> own = test::grid_points({12, 9});
  const Prepared prepared = grid.prepare(own, field(own, 2));
  EXPECT_ERROR_WITH(prepared.decode(std::vector<float>{3, 0.5}, std::vector<float>{1}), "within the prepared grid");
  EXPECT_ERROR_WITH(prepared.decode(std::vector<float>{std::nanf(""), 0.5}, std::vector<float>{1}), "finite numbers");
  EXPECT_ERROR_WITH(prepared.decode(std::vector<float>{0.5, 0.5}, std::vector<float>{1, 2}), "1 values of input");
  EXPECT_ERROR_WITH(prepared.decode({}, {}), "there are no points");
}

}  // namespace
}  // namespace lano::prepare_test
