#include <cmath>
#include <numbers>
#include <vector>

#include "pde/burgers_problem.h"
#include "pde/burgers_solver.h"
#include "scratch.h"

namespace lano::burgers_test {
namespace {

constexpr double kTau = 2 * std::numbers::pi;

// Cole-Hopf: phi = 1 + a exp(-2 nu (2 pi)^2 t) cos(2 pi x) cos(2 pi y) solves the heat equation, so
// u = -2 nu phi_x / phi, v = -2 nu phi_y / phi solve Burgers' equations exactly.
struct Exact {
  double viscosity = 0.05, a = 0.6;
  void at(double t, std::size_t n, std::vector<double>& u, std::vector<double>& v) const {
    u.resize(n * n);
    v.resize(n * n);
    const double e = a * std::exp(-2 * viscosity * kTau * kTau * t);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double x = static_cast<double>(i) / static_cast<double>(n),
                     y = static_cast<double>(j) / static_cast<double>(n);
        const double phi = 1 + e * std::cos(kTau * x) * std::cos(kTau * y);
        u[i * n + j] = 2 * viscosity * kTau * e * std::sin(kTau * x) * std::cos(kTau * y) / phi;
        v[i * n + j] = 2 * viscosity * kTau * e * std::cos(kTau * x) * std::sin(kTau * y) / phi;
      }
    }
  }
  double error(std::size_t n, std::int64_t steps, double time = 0.2) const {
    std::vector<double> u, v, exact_u, exact_v;
    at(0, n, u, v);
    BurgersSolver(static_cast<std::int64_t>(n), viscosity).advance(u, v, time, steps);
    at(time, n, exact_u, exact_v);
    double worst = 0;
    for (std::size_t p = 0; p < u.size(); ++p)
      worst = std::max({worst, std::abs(u[p] - exact_u[p]), std::abs(v[p] - exact_v[p])});
    return worst;
  }
};

TEST(Burgers, SpectrallyAccurateInSpace) {
  const Exact exact;
  // Errors fall faster than any power: each doubling gains orders of magnitude until rounding.
  const double coarse = exact.error(16, 400), middle = exact.error(32, 400), fine = exact.error(64, 400);
  EXPECT_LT(middle, 0.02 * coarse);
  EXPECT_LT(fine, 1e-10);
}

TEST(Burgers, FourthOrderInTime) {
  const Exact exact;
  const double coarse = exact.error(64, 4), fine = exact.error(64, 8);
  EXPECT_NEAR(std::log2(coarse / fine), 4, 0.4);
}

TEST(Burgers, TheSetIsResolvedAndDependsOnSeedAndSampleAlone) {
  BurgersConfig config;
  config.frames = 3;
  const BurgersProblem problem(config);
  config.resolution = 128;
  config.stride = 4;
  config.steps = 20;
  const BurgersProblem finer(config);
  std::vector<float> a(32 * 32 * 2), u(3 * 32 * 32 * 2), again(u.size()), fine(u.size());
  problem.make(5, 0, {{}, a, u, {}});
  problem.make(5, 0, {{}, a, again, {}});
  EXPECT_EQ(u, again);
  finer.make(5, 0, {{}, a, fine, {}});
  double squares = 0, difference = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    squares += static_cast<double>(fine[i]) * fine[i];
    difference += std::pow(static_cast<double>(u[i]) - fine[i], 2);
  }
  EXPECT_LT(std::sqrt(difference / squares), 2e-3);
  problem.make(6, 0, {{}, a, again, {}});
  EXPECT_NE(u, again);
}

TEST(Burgers, ImpossibleSizesAreRefused) {
  BurgersConfig config;
  config.stride = 3;
  EXPECT_ERROR_WITH(BurgersProblem{config}, "the stride divides");
  EXPECT_ERROR_WITH(BurgersSolver(2, 0.1), "between 4 and 4096");
  EXPECT_ERROR_WITH(BurgersSolver(16, 0), "viscosity above 0");
}

}  // namespace
}  // namespace lano::burgers_test
