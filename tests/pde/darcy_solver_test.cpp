#include "pde/darcy_solver.h"

#include <Eigen/Sparse>
#include <cmath>
#include <numbers>
#include <vector>

#include "pde/darcy_field.h"
#include "scratch.h"

namespace lano::darcy_solver_test {
namespace {

constexpr double kPi = std::numbers::pi;

struct Cells {
  explicit Cells(std::size_t count) : n(count), a(n * n), f(n * n), u(n * n) {}
  double x(std::size_t i) const { return (static_cast<double>(i) + 0.5) / static_cast<double>(n); }
  template <class Fill>
  void fill(Fill&& at) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) at(i * n + j, x(i), x(j));
    }
  }
  DarcySolver::Report solve() { return DarcySolver(static_cast<std::int64_t>(n)).solve(a, f, u, 1e-12); }
  std::size_t n;
  std::vector<double> a, f, u;
};

// u = sin(pi x) sin(2 pi y), a = 2 + sin(pi x) cos(pi y); f = -a lap u - grad a . grad u.
double manufactured_error(std::size_t n) {
  Cells c(n);
  c.fill([&](std::size_t p, double x, double y) {
    const double a = 2 + std::sin(kPi * x) * std::cos(kPi * y);
    const double ax = kPi * std::cos(kPi * x) * std::cos(kPi * y), ay = -kPi * std::sin(kPi * x) * std::sin(kPi * y);
    const double u = std::sin(kPi * x) * std::sin(2 * kPi * y);
    const double ux = kPi * std::cos(kPi * x) * std::sin(2 * kPi * y);
    const double uy = 2 * kPi * std::sin(kPi * x) * std::cos(2 * kPi * y);
    c.a[p] = a;
    c.f[p] = 5 * kPi * kPi * a * u - ax * ux - ay * uy;
  });
  c.solve();
  double squares = 0;
  c.fill([&](std::size_t p, double x, double y) {
    const double error = c.u[p] - std::sin(kPi * x) * std::sin(2 * kPi * y);
    squares += error * error / static_cast<double>(n * n);
  });
  return std::sqrt(squares);
}

TEST(DarcySolver, SecondOrderOnAManufacturedSolution) {
  double coarse = manufactured_error(16);
  for (const std::size_t n : {32, 64, 128}) {
    const double fine = manufactured_error(n);
    EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.1) << "n = " << n;
    coarse = fine;
  }
  EXPECT_LT(coarse, 2e-4);
}

TEST(DarcySolver, ConstantCoefficientCentreValue) {
  // -lap u = 1: u(1/2,1/2) = 0.0736713... (series). Odd n has a cell at the centre.
  Cells c(201);
  c.fill([&](std::size_t p, double, double) {
    c.a[p] = 4;
    c.f[p] = 1;
  });
  c.solve();
  EXPECT_NEAR(c.u[100 * 201 + 100], 0.0736713 / 4, 1e-6);
}

// Layers a = 12 | 3 meeting at x = 1/2, u = U(x) sin(pi y), U = 3x - 3.2x^2 on the left and 2t - 1.2t^2, t = 1-x, on
// the right: U and the flux a U' = -2.4 are continuous at 1/2, and f = (-(a U')' + pi^2 a U) sin(pi y) on each side.
double layered_error(std::size_t n) {
  const auto exact = [](double x) { return x < 0.5 ? 3 * x - 3.2 * x * x : 2 * (1 - x) - 1.2 * (1 - x) * (1 - x); };
  Cells c(n);
  c.fill([&](std::size_t p, double x, double y) {
    c.a[p] = x < 0.5 ? 12 : 3;
    c.f[p] = ((x < 0.5 ? 76.8 : 7.2) + kPi * kPi * c.a[p] * exact(x)) * std::sin(kPi * y);
  });
  c.solve();
  double worst = 0;
  c.fill([&](std::size_t p, double x, double y) {
    worst = std::max(worst, std::abs(c.u[p] - exact(x) * std::sin(kPi * y)));
  });
  return worst;
}

TEST(DarcySolver, SecondOrderAcrossALayeredCoefficient) {
  double coarse = layered_error(16);
  for (const std::size_t n : {32, 64, 128}) {
    const double fine = layered_error(n);
    EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.15) << "n = " << n;
    coarse = fine;
  }
}

TEST(DarcySolver, AgreesWithADirectSolve) {
  constexpr std::size_t kN = 40;
  Cells c(kN);
  DarcyFieldSampler(kN, {}).coefficient(1, 0, c.a);
  c.fill([&](std::size_t p, double, double) { c.f[p] = 1; });
  c.solve();
  const DarcySolver solver(kN);
  // Columns of the operator from unit vectors, solved by a sparse Cholesky factorisation.
  Eigen::SparseMatrix<double> matrix(kN * kN, kN * kN);
  std::vector<Eigen::Triplet<double>> entries;
  std::vector<double> unit(kN * kN), column(kN * kN);
  for (std::size_t p = 0; p < kN * kN; ++p) {
    unit[p] = 1;
    solver.apply(c.a, unit, column);
    unit[p] = 0;
    for (std::size_t q = 0; q < kN * kN; ++q) {
      if (column[q] != 0) entries.emplace_back(static_cast<int>(q), static_cast<int>(p), column[q]);
    }
  }
  matrix.setFromTriplets(entries.begin(), entries.end());
  EXPECT_LT((Eigen::SparseMatrix<double>(matrix.transpose()) - matrix).norm(), 1e-12 * matrix.norm());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> direct(matrix);
  const Eigen::VectorXd exact = direct.solve(Eigen::Map<const Eigen::VectorXd>(c.f.data(), kN * kN));
  const Eigen::Map<const Eigen::VectorXd> ours(c.u.data(), kN * kN);
  EXPECT_LT((ours - exact).norm(), 1e-9 * exact.norm());
}

TEST(DarcySolver, IterationsDoNotGrowWithResolution) {
  // Condition at most 12/3 = 4: conjugate gradients gain a factor (sqrt 4 + 1)/(sqrt 4 - 1) = 3 per iteration,
  // so 1e-10 takes at most ln(2e10)/ln 3 = 22 iterations in the energy norm; two more for the residual norm.
  for (const std::int64_t n : {16, 64, 211}) {
    const auto size = static_cast<std::size_t>(n * n);
    std::vector<double> a(size), f(size, 1.0), u(size);
    DarcyFieldSampler(n, {}).coefficient(4, 1, a);
    const auto report = DarcySolver(n).solve(a, f, u, 1e-10);
    EXPECT_LE(report.iterations, 26) << n;
    EXPECT_LT(report.residual, 1.1e-10) << n;
  }
}

TEST(DarcySolver, TransposedCoefficientGivesTheTransposedSolution) {
  constexpr std::size_t kN = 33;
  Cells c(kN), t(kN);
  DarcyFieldSampler(kN, {}).coefficient(9, 3, c.a);
  c.fill([&](std::size_t p, double, double) { c.f[p] = t.f[p] = 1; });
  for (std::size_t i = 0; i < kN; ++i) {
    for (std::size_t j = 0; j < kN; ++j) t.a[j * kN + i] = c.a[i * kN + j];
  }
  c.solve();
  t.solve();
  for (std::size_t i = 0; i < kN; ++i) {
    for (std::size_t j = 0; j < kN; ++j) EXPECT_NEAR(t.u[j * kN + i], c.u[i * kN + j], 1e-13);
  }
}

TEST(DarcySolver, BadCoefficientsAreRefused) {
  Cells c(4);
  std::fill(c.a.begin(), c.a.end(), 1.0);
  c.a[5] = -1;
  EXPECT_ERROR_WITH(c.solve(), "a positive finite coefficient");
  c.a[5] = std::nan("");
  EXPECT_ERROR_WITH(c.solve(), "in cell 5");
  EXPECT_ERROR_WITH(DarcySolver(0), "cells per axis");
}

}  // namespace
}  // namespace lano::darcy_solver_test
