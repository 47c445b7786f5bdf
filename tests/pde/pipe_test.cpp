#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pde/pipe_problem.h"
#include "pde/strided_problem.h"
#include "pde/taylor_hood.h"
#include "scratch.h"

namespace lano::pipe_test {
namespace {

constexpr double kPi = std::numbers::pi;

// A mesh with all boundary velocities prescribed and the first pressure pinned.
FlowMesh closed_mesh(std::int64_t n) {
  FlowMesh m;
  m.nx = m.ny = n;
  m.prescribed.assign(static_cast<std::size_t>(m.nodes()), false);
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    for (std::int64_t j = 0; j < m.columns(); ++j) {
      m.prescribed[static_cast<std::size_t>(m.node(i, j))] =
          i == 0 || j == 0 || i + 1 == m.rows() || j + 1 == m.columns();
    }
  }
  m.pinned = 0;
  return m;
}

// Nodes at map(s, t), s and t uniform on [0, 1]; boundary values from velocity(x, y).
template <class Map, class Velocity>
FlowCase flow_case(const FlowMesh& m, double viscosity, Map&& map, Velocity&& velocity) {
  FlowCase f;
  f.viscosity = viscosity;
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    for (std::int64_t j = 0; j < m.columns(); ++j) {
      const auto at = map(static_cast<double>(i) / static_cast<double>(m.rows() - 1),
                          static_cast<double>(j) / static_cast<double>(m.columns() - 1));
      const auto value = velocity(at[0], at[1]);
      f.x.push_back(at[0]);
      f.y.push_back(at[1]);
      f.u.push_back(value[0]);
      f.v.push_back(value[1]);
    }
  }
  return f;
}

using Pair = std::array<double, 2>;

// u = (y^2, x^2), p = x lies in the discrete spaces, also on sheared elements, and every integral is exact there: the
// solution is met to rounding. Exercises the force, the pinned pressure and all terms of the Jacobian.
TEST(TaylorHood, AQuadraticFlowIsMetToRounding) {
  const TaylorHoodSolver solver(closed_mesh(4));
  constexpr double kNu = 0.1;
  auto f = flow_case(
      solver.mesh(), kNu,
      [](double s, double t) {
        return Pair{s + 0.3 * t, t + 0.2 * s};
      },
      [](double x, double y) {
        return Pair{y * y, x * x};
      });
  f.force = [](double x, double y) { return Pair{2 * x * x * y - 2 * kNu + 1, 2 * x * y * y - 2 * kNu}; };
  const auto solution = solver.solve(f, 1e-13);
  EXPECT_TRUE(solution.converged) << solution.residual;
  for (std::size_t k = 0; k < f.x.size(); ++k) {
    EXPECT_NEAR(solution.u[k], f.y[k] * f.y[k], 1e-12);
    EXPECT_NEAR(solution.v[k], f.x[k] * f.x[k], 1e-12);
    EXPECT_NEAR(solution.p[k], f.x[k], 1e-11);
  }
}

// Kovasznay's flow behind a grid at Re = 40 (Proc. Cambridge Phil. Soc. 44, 1948), an exact solution.
const double kLambda = 20 - std::sqrt(400 + 4 * kPi * kPi);
Pair kovasznay(double x, double y) {
  const double e = std::exp(kLambda * x);
  return {1 - e * std::cos(2 * kPi * y), kLambda / (2 * kPi) * e * std::sin(2 * kPi * y)};
}
double kovasznay_pressure(double x) { return (1 - std::exp(2 * kLambda * x)) / 2; }

// L2 errors of velocity and pressure (up to a constant) on a smoothly bent mesh, by a 6 x 6 midpoint rule per element,
// on the isoparametric fields themselves: nodal errors could converge faster.
Pair kovasznay_errors(std::int64_t n) {
  const TaylorHoodSolver solver(closed_mesh(n));
  const FlowMesh& m = solver.mesh();
  const auto bent = [](double s, double t) {
    return Pair{-0.5 + s + 0.05 * std::sin(kPi * s) * std::cos(kPi * t), -0.5 + t + 0.05 * std::sin(2 * kPi * s) * t};
  };
  auto f = flow_case(m, 1.0 / 40, bent, kovasznay);
  f.pinned_pressure = kovasznay_pressure(f.x[0]);
  const auto solution = solver.solve(f);
  EXPECT_TRUE(solution.converged);
  double velocity = 0, area = 0, pressure = 0, offset = 0;
  const auto quadratic = [](double t) { return std::array{(1 - t) * (1 - 2 * t), 4 * t * (1 - t), t * (2 * t - 1)}; };
  const auto slope = [](double t) { return std::array{4 * t - 3, 4 - 8 * t, 4 * t - 1}; };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (int g = 0; g < 36; ++g) {
        const double xi = (g / 6 + 0.5) / 6, eta = (g % 6 + 0.5) / 6;
        const auto a = quadratic(xi), b = quadratic(eta), da = slope(xi), db = slope(eta);
        double x = 0, y = 0, u = 0, v = 0, p = 0, x_xi = 0, x_eta = 0, y_xi = 0, y_eta = 0;
        for (std::size_t k = 0; k < 9; ++k) {
          const auto a3 = static_cast<std::int64_t>(k / 3), b3 = static_cast<std::int64_t>(k % 3);
          const auto node = static_cast<std::size_t>(m.node(2 * i + a3, 2 * j + b3));
          const double shape = a[k / 3] * b[k % 3];
          x += shape * f.x[node];
          y += shape * f.y[node];
          u += shape * solution.u[node];
          v += shape * solution.v[node];
          p += shape * solution.p[node];  // bilinear, so its quadratic interpolant is itself
          x_xi += da[k / 3] * b[k % 3] * f.x[node];
          x_eta += a[k / 3] * db[k % 3] * f.x[node];
          y_xi += da[k / 3] * b[k % 3] * f.y[node];
          y_eta += a[k / 3] * db[k % 3] * f.y[node];
        }
        const double w = (x_xi * y_eta - x_eta * y_xi) / 36;
        const Pair exact = kovasznay(x, y);
        velocity += w * ((u - exact[0]) * (u - exact[0]) + (v - exact[1]) * (v - exact[1]));
        const double error = p - kovasznay_pressure(x);
        area += w;
        offset += w * error;
        pressure += w * error * error;
      }
    }
  }
  return {std::sqrt(velocity), std::sqrt(pressure - offset * offset / area)};
}

TEST(TaylorHood, OrdersThreeAndTwoOnKovasznaysFlow) {
  Pair coarse = kovasznay_errors(8);
  for (const std::int64_t n : {16, 32}) {
    const Pair fine = kovasznay_errors(n);
    EXPECT_NEAR(std::log2(coarse[0] / fine[0]), 3, 0.1) << n;
    EXPECT_NEAR(std::log2(coarse[1] / fine[1]), 2, 0.1) << n;
    coarse = fine;
  }
}

// The lid moves between the corners, which belong to the walls: with moving corners fluid leaks through the elements
// next to them, and the minimum below converges with order one only.
Pair lid(double x, double y) { return {y == 1 && x > 0 && x < 1 ? 1.0 : 0.0, 0}; }

// The smallest u on the vertical centre line of the driven cavity.
double cavity_minimum(std::int64_t n, double reynolds) {
  const TaylorHoodSolver solver(closed_mesh(n));
  const FlowMesh& m = solver.mesh();
  const auto f = flow_case(
      m, 1 / reynolds,
      [](double s, double t) {
        return Pair{s, t};
      },
      lid);
  const auto solution = solver.solve(f);
  EXPECT_TRUE(solution.converged) << solution.residual;
  double least = 0;
  for (std::int64_t j = 0; j < n; ++j) {  // the parabola of each element
    const auto u = [&](std::int64_t k) { return solution.u[static_cast<std::size_t>(m.node(n, 2 * j + k))]; };
    for (int k = 0; k <= 20; ++k) {
      const double t = k / 20.0;
      least = std::min(least, u(0) * (1 - t) * (1 - 2 * t) + u(1) * 4 * t * (1 - t) + u(2) * t * (2 * t - 1));
    }
  }
  return least;
}

TEST(TaylorHood, CentreLineOfTheDrivenCavity) {
  // -0.2109 and -0.3273 at Re 100 and 400 on the 129 x 129 second-order grid of Ghia, Ghia and Shin (1982), whose
  // tables are known to be 1 to 2 % off at the minimum; -0.21404 at Re 100 by the spectral method of Botella and Peyret
  // (1998).
  const double slow = cavity_minimum(32, 100), fast = cavity_minimum(32, 400);
  EXPECT_NEAR(slow, -0.2109, 0.02 * 0.2109);
  EXPECT_NEAR(slow, -0.21404, 1e-4);
  EXPECT_NEAR(fast, -0.3273, 0.01 * 0.3273);
}

TEST(TaylorHood, NewtonsMethodConvergesQuadratically) {
  // From a pipe's Stokes flow: measured 5 to 6 linear solves and 3 factorisations. A wrong term in the derivative makes
  // it linear and takes many more.
  PipeConfig c;
  c.elements = 16;
  const PipeProblem problem(c);
  for (std::int64_t sample = 0; sample < 4; ++sample) {
    const auto solution = problem.solver().solve(problem.flow(PipeCentreLine::draw(1, 0, sample)));
    EXPECT_TRUE(solution.converged);
    EXPECT_LE(solution.iterations, 8);
    EXPECT_LE(solution.factorisations, 4);
  }
}

TEST(TaylorHood, SaysWhenItDidNotConverge) {
  const TaylorHoodSolver solver(closed_mesh(8));
  const auto f = flow_case(
      solver.mesh(), 1.0 / 400,
      [](double s, double t) {
        return Pair{s, t};
      },
      lid);
  const auto stopped = solver.solve(f, 1e-10, 1);
  EXPECT_FALSE(stopped.converged);
  EXPECT_GT(stopped.residual, 1e-10);
  EXPECT_TRUE(solver.solve(f).converged);
}

TEST(TaylorHood, WrongFlowsAreRefused) {
  auto open = closed_mesh(2);
  open.pinned.reset();
  EXPECT_ERROR_WITH(TaylorHoodSolver{open}, "all boundary velocities are prescribed");
  open.prescribed[0] = false;
  open.pinned = 1;
  EXPECT_ERROR_WITH(TaylorHoodSolver{open}, "the boundary is free in part");
  open.pinned = 9;
  EXPECT_ERROR_WITH(TaylorHoodSolver{open}, "a pinned pressure on the mesh");
  EXPECT_ERROR_WITH(TaylorHoodSolver(FlowMesh{}), "at least one element");
  const TaylorHoodSolver solver(closed_mesh(2));
  const auto still = [](double, double) { return Pair{0, 0}; };
  auto f = flow_case(
      solver.mesh(), 1,
      [](double s, double t) {
        return Pair{t, s};
      },
      still);
  EXPECT_ERROR_WITH(solver.solve(f), "a folded element");
  f.x.pop_back();
  EXPECT_ERROR_WITH(solver.solve(f), "25 values");
  f = flow_case(
      solver.mesh(), 0,
      [](double s, double t) {
        return Pair{s, t};
      },
      still);
  EXPECT_ERROR_WITH(solver.solve(f), "a positive viscosity");
}

PipeConfig config(std::int64_t elements) {
  PipeConfig c;
  c.elements = elements;
  c.seed = 7;
  return c;
}

TEST(PipeProblem, AStraightPipeHasPoiseuillesFlow) {
  // u = s (1 - s), and nu u'' = p' with p = 0 at the outlet gives p = 2 nu (10 - x).
  const PipeProblem problem(config(16));
  const FlowCase f = problem.flow({});
  const auto solution = problem.solver().solve(f, 1e-12);
  EXPECT_TRUE(solution.converged) << solution.residual;
  for (std::size_t k = 0; k < f.x.size(); ++k) {
    const double s = f.y[k] + 0.5;
    EXPECT_NEAR(solution.u[k], s * (1 - s), 1e-12);
    EXPECT_NEAR(solution.v[k], 0, 1e-12);
    EXPECT_NEAR(solution.p[k], 2 * 0.005 * (10 - f.x[k]), 1e-12);
  }
}

// How far the flux through a section is from that of the inlet, 1/6, at worst, and at the outlet.
Pair flux_errors(const PipeProblem& problem, std::int64_t sample) {
  const FlowMesh& m = problem.solver().mesh();
  const auto solution = problem.solver().solve(problem.flow(PipeCentreLine::draw(7, 0, sample)));
  EXPECT_TRUE(solution.converged);
  double worst = 0, error = 0;
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    double flux = 0;  // Simpson's rule, exact on the parabolas of the elements
    for (std::int64_t j = 0; j < m.columns(); ++j) {
      const double weight = j == 0 || j + 1 == m.columns() ? 1 : j % 2 == 1 ? 4 : 2;
      flux += weight * solution.u[static_cast<std::size_t>(m.node(i, j))] / static_cast<double>(6 * m.ny);
    }
    error = std::abs(flux - 1.0 / 6);
    worst = std::max(worst, error);
  }
  return {worst, error};
}

TEST(PipeProblem, TheSameFluxThroughEverySection) {
  // The pressure test function 1 makes in- and outflow agree to the tolerance of the solve. Between them continuity
  // holds against piecewise linear functions of x only, so sections differ by the discretisation error:
  // measured 1.9e-2, 3.8e-3 and 5.1e-4 for 16, 32 and 64 elements, on the way to order three.
  const PipeProblem coarse(config(16)), fine(config(32));
  for (const std::int64_t sample : {0, 1}) {
    const Pair before = flux_errors(coarse, sample), after = flux_errors(fine, sample);
    EXPECT_LT(before[1], 1e-9);
    EXPECT_LT(after[1], 1e-9);
    EXPECT_LT(after[0], 5e-3);
    EXPECT_GT(before[0] / after[0], 3);
  }
}

TEST(PipeProblem, AMirroredCentreLineMirrorsTheFlow) {
  const PipeProblem problem(config(16));
  const FlowMesh& m = problem.solver().mesh();
  PipeCentreLine centre = PipeCentreLine::draw(7, 0, 3);
  const auto one = problem.solver().solve(problem.flow(centre));
  for (double& value : centre.value) value = -value;
  for (double& slope : centre.slope) slope = -slope;
  const auto other = problem.solver().solve(problem.flow(centre));
  double most = 0;
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    for (std::int64_t j = 0; j < m.columns(); ++j) {
      const auto here = static_cast<std::size_t>(m.node(i, j)),
                 there = static_cast<std::size_t>(m.node(i, m.columns() - 1 - j));
      EXPECT_NEAR(one.u[here], other.u[there], 1e-9);
      EXPECT_NEAR(one.v[here], -other.v[there], 1e-9);
      EXPECT_NEAR(one.p[here], other.p[there], 1e-9);
      most = std::max(most, std::abs(one.v[here]));
    }
  }
  EXPECT_GT(most, 0.02);  // it is curved at all
}

TEST(PipeCentreLine, IsDrawnFromThePrior) {
  constexpr int kDraws = 4000;
  std::array<double, 5> value{}, value2{}, slope{}, slope2{};
  double most_value = 0, most_slope = 0, most = 0;
  for (int n = 0; n < kDraws; ++n) {
    const auto c = PipeCentreLine::draw(3, 0, n);
    EXPECT_EQ(c.value[0], 0);
    EXPECT_EQ(c.at(0), 0);
    for (std::size_t k = 0; k < 5; ++k) {
      value[k] += c.value[k] / kDraws;
      value2[k] += c.value[k] * c.value[k] / kDraws;
      slope[k] += c.slope[k] / kDraws;
      slope2[k] += c.slope[k] * c.slope[k] / kDraws;
      most_value = std::max(most_value, std::abs(c.value[k]));
      most_slope = std::max(most_slope, std::abs(c.slope[k]));
    }
    for (int k = 0; k <= 40; ++k) most = std::max(most, std::abs(c.at(k / 4.0)));
  }
  EXPECT_LE(most_value, 1);
  EXPECT_GT(most_value, 0.99);
  EXPECT_LE(most_slope, 2);
  EXPECT_GT(most_slope, 1.98);
  EXPECT_LE(most, 1.5);  // what the box of the description rests on
  EXPECT_GT(most, 1.1);
  // Uniform on [-a, a]: mean 0, mean square a^2 / 3 with a variance of 4 a^4 / 45 per draw. Five standard errors.
  for (std::size_t k = 0; k < 5; ++k) {
    if (k > 0) {
      EXPECT_NEAR(value[k], 0, 5 * std::sqrt(1.0 / 3 / kDraws)) << k;
      EXPECT_NEAR(value2[k], 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws)) << k;
    }
    EXPECT_NEAR(slope[k], 0, 5 * std::sqrt(4.0 / 3 / kDraws)) << k;
    EXPECT_NEAR(slope2[k], 4.0 / 3, 5 * std::sqrt(16 * 4.0 / 45 / kDraws)) << k;
  }
}

TEST(PipeCentreLine, MeetsItsValuesAndSlopesFromBothSides) {
  const auto c = PipeCentreLine::draw(3, 0, 11);
  constexpr double kStep = 1e-5;
  for (std::size_t k = 0; k < 5; ++k) {
    const double x = 2.5 * static_cast<double>(k);
    EXPECT_NEAR(c.at(x), c.value[k], 1e-14);
    // dc/dxi with xi = x / 2.5 along the piece; one-sided, so off by at most c''/2 times the step.
    const double left = k > 0 ? (c.at(x) - c.at(x - kStep)) / kStep * 2.5 : c.slope[k];
    const double right = k < 4 ? (c.at(x + kStep) - c.at(x)) / kStep * 2.5 : c.slope[k];
    EXPECT_NEAR(left, c.slope[k], 1e-4) << k;
    EXPECT_NEAR(right, c.slope[k], 1e-4) << k;
  }
  // Hermite's cubic half way: the mean of the values plus an eighth of the difference of the slopes.
  EXPECT_NEAR(c.at(3.75), (c.value[1] + c.value[2]) / 2 + (c.slope[1] - c.slope[2]) / 8, 1e-14);
}

struct Made {
  explicit Made(const PipeProblem& problem, std::int64_t sample, std::int64_t attempt = 0) {
    const auto n = static_cast<std::size_t>(problem.describe().points());
    coordinates.resize(2 * n);
    output.resize(n);
    kept.resize(2 * n);
    good = problem.make(sample, attempt, {coordinates, {}, output, kept});
  }
  bool operator==(const Made&) const = default;
  std::vector<float> coordinates, output, kept;
  bool good;
};

TEST(PipeProblem, ASampleDependsOnItsNumberAndAttemptAlone) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  const PipeProblem problem(config(8));
  const Made first(problem, 5);
  EXPECT_TRUE(first.good);
  EXPECT_EQ(Made(problem, 5), first);
  EXPECT_EQ(Made(PipeProblem(config(8)), 5), first);
  EXPECT_NE(Made(problem, 5, 1).coordinates, first.coordinates);
  EXPECT_NE(Made(problem, 6).coordinates, first.coordinates);
  auto other = config(8);
  other.seed = 8;
  EXPECT_NE(Made(PipeProblem(other), 5).coordinates, first.coordinates);
  // From threads that share the problem.
  int same = 0;
#pragma omp parallel for reduction(+ : same)
  for (int i = 0; i < 6; ++i) same += Made(problem, 5) == first ? 1 : 0;
  EXPECT_EQ(same, 6);
  EXPECT_EQ(omp_get_max_threads(), 3);  // what keeps the BLAS on one thread is undone
  omp_set_num_threads(before);
}

TEST(PipeProblem, ArraysAreTheFlow) {
  const PipeProblem problem(config(16));
  const SetDescription d = problem.describe();
  EXPECT_EQ(d.shape, (Shape{33, 33}));
  EXPECT_EQ(d.geometry, Geometry::mesh);
  EXPECT_TRUE(problem.coordinates().empty());
  EXPECT_EQ(d.input_channels(), 0);
  EXPECT_EQ(d.output.at(0).name, "u");
  EXPECT_EQ(d.kept.at(0).name, "v");
  EXPECT_EQ(d.kept.at(1).name, "p");
  const Made made(problem, 2);
  const auto centre = PipeCentreLine::draw(7, 0, 2);
  const auto solution = problem.solver().solve(problem.flow(centre));
  const std::size_t k = 20 * 33 + 9;  // 20 along x, 9 across
  EXPECT_FLOAT_EQ(made.coordinates[2 * k], 6.25f);
  EXPECT_FLOAT_EQ(made.coordinates[2 * k + 1], static_cast<float>(centre.at(6.25) + 9.0 / 32 - 0.5));
  EXPECT_EQ(made.output[k], static_cast<float>(solution.u[k]));
  EXPECT_EQ(made.kept[2 * k], static_cast<float>(solution.v[k]));
  EXPECT_EQ(made.kept[2 * k + 1], static_cast<float>(solution.p[k]));
  for (std::size_t p = 0; p < made.output.size(); ++p) {
    EXPECT_GE(made.coordinates[2 * p], d.box[0]);
    EXPECT_LE(made.coordinates[2 * p], d.box[1]);
    EXPECT_GE(made.coordinates[2 * p + 1], d.box[2]);
    EXPECT_LE(made.coordinates[2 * p + 1], d.box[3]);
  }
}

TEST(PipeProblem, TheGreatestVelocityIsThatOfThePublicSet) {
  // In comes 0.25 at most; bends raise it. One public sample has 0.2948.
  const PipeProblem problem(config(16));
  double least = 1, most = 0;
  for (std::int64_t i = 0; i < 12; ++i) {
    const Made made(problem, i);
    ASSERT_TRUE(made.good);
    const double peak = *std::max_element(made.output.begin(), made.output.end());
    least = std::min(least, peak);
    most = std::max(most, peak);
  }
  EXPECT_GE(least, 0.25);
  EXPECT_LT(most, 0.36);
  EXPECT_GT(most, 0.2948);
}

TEST(PipeProblem, AFlowThatDoesNotConvergeIsNoSample) {
  auto c = config(8);
  c.viscosity = 1e-7;
  EXPECT_FALSE(Made(PipeProblem(c), 0).good);
}

TEST(PipeProblem, ImpossibleParametersAreRefused) {
  EXPECT_ERROR_WITH(PipeProblem(config(6)), "a multiple of 4");
  EXPECT_ERROR_WITH(PipeProblem(config(0)), "a multiple of 4");
  auto c = config(8);
  c.viscosity = 0;
  EXPECT_ERROR_WITH(PipeProblem{c}, "a positive viscosity");
}

TEST(StridedProblem, KeepsEverySecondPointOfTheSameSolution) {
  PipeConfig config;
  config.elements = 8;
  const PipeProblem whole(config);
  const StridedProblem half(std::make_unique<PipeProblem>(config), 2);
  const SetDescription all = whole.describe(), some = half.describe();
  EXPECT_EQ(all.shape, (Shape{17, 17}));
  EXPECT_EQ(some.shape, (Shape{9, 9}));
  EXPECT_NE(some.generator.find("\"stride\":2"), std::string::npos);
  std::vector<float> x(289 * 2), u(289), k(289 * 2), hx(81 * 2), hu(81), hk(81 * 2);
  ASSERT_TRUE(whole.make(3, 0, {x, {}, u, k}));
  ASSERT_TRUE(half.make(3, 0, {hx, {}, hu, hk}));
  for (std::size_t i = 0; i < 9; ++i) {
    for (std::size_t j = 0; j < 9; ++j) {
      const std::size_t from = 2 * i * 17 + 2 * j, to = i * 9 + j;
      EXPECT_EQ(hu[to], u[from]);
      for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_EQ(hx[2 * to + c], x[2 * from + c]);
        EXPECT_EQ(hk[2 * to + c], k[2 * from + c]);
      }
    }
  }
  EXPECT_TRUE(some.span.empty());  // both ends of both axes are kept
}

// A stride that does not divide the cells leaves the last points away, and the description says where the mesh ends.
TEST(StridedProblem, AMeshThatLosesItsEndSaysSo) {
  PipeConfig config;
  config.elements = 8;
  const PipeProblem whole(config);
  const StridedProblem third(std::make_unique<PipeProblem>(config), 3);
  EXPECT_EQ(third.describe().shape, (Shape{6, 6}));
  EXPECT_EQ(third.describe().span, (std::vector<double>{15.0 / 16, 15.0 / 16}));
  std::vector<float> x(289 * 2), u(289), k(289 * 2), tx(36 * 2), tu(36), tk(36 * 2);
  ASSERT_TRUE(whole.make(3, 0, {x, {}, u, k}));
  ASSERT_TRUE(third.make(3, 0, {tx, {}, tu, tk}));
  EXPECT_EQ(tu[5 * 6 + 5], u[15 * 17 + 15]);
  EXPECT_EQ(tx[2 * (2 * 6 + 1)], x[2 * (6 * 17 + 3)]);
  EXPECT_ERROR_WITH(StridedProblem(std::make_unique<PipeProblem>(config), 17), "leaves two points");
}

}  // namespace
}  // namespace lano::pipe_test
