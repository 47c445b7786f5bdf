#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

#include "pde/navier_stokes_problem.h"
#include "pde/navier_stokes_solver.h"
#include "pde/vorticity_field.h"
#include "scratch.h"

namespace lano::navier_stokes_test {
namespace {

constexpr double kTau = 2 * std::numbers::pi;

std::vector<double> field(std::size_t n, const std::function<double(double, double)>& f) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      values.push_back(
          f(static_cast<double>(i) / static_cast<double>(n), static_cast<double>(j) / static_cast<double>(n)));
  }
  return values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t p = 0; p < a.size(); ++p) worst = std::max(worst, std::abs(a[p] - b[p]));
  return worst;
}

double mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum / static_cast<double>(values.size());
}

// Taylor and Green's vortices, carried by nothing: u . grad w = 0, so that w decays by exp(-nu |k|^2 t), |k|^2 = 2 (2
// pi)^2.
TEST(NavierStokes, TaylorGreenDecaysToRounding) {
  const double viscosity = 0.03, time = 1;
  const auto vortices = [](double x, double y) { return 2 * std::sin(kTau * x) * std::sin(kTau * y); };
  const double left = std::exp(-viscosity * 2 * kTau * kTau * time);
  const auto exact = field(32, [&](double x, double y) { return left * vortices(x, y); });
  const NavierStokesSolver solver(32, viscosity);
  for (const std::int64_t steps : {1, 10}) {
    auto w = field(32, vortices);
    solver.advance(w, time, steps);
    EXPECT_LT(largest_difference(w, exact), 1e-14) << steps;
  }
  auto w = field(32, vortices);
  EXPECT_GE(solver.advance(w, time, NavierStokesSolver::StepRule{}), 20);  // steps of at most 0.05
  EXPECT_LT(largest_difference(w, exact), 1e-14);
}

// The velocity of the same vortices by hand: psi = w / |k|^2, u = psi_y, v = -psi_x.
TEST(NavierStokes, VelocityIsThatOfTheStreamfunction) {
  const NavierStokesSolver solver(32, 0);
  const auto w = field(32, [](double x, double y) { return std::sin(kTau * x) * std::cos(2 * kTau * y); });
  std::vector<double> u(w.size()), v(w.size());
  solver.velocity(w, u, v);
  const auto exact_u =
      field(32, [](double x, double y) { return -2 / (5 * kTau) * std::sin(kTau * x) * std::sin(2 * kTau * y); });
  const auto exact_v =
      field(32, [](double x, double y) { return -1 / (5 * kTau) * std::cos(kTau * x) * std::cos(2 * kTau * y); });
  EXPECT_LT(largest_difference(u, exact_u), 1e-15);
  EXPECT_LT(largest_difference(v, exact_v), 1e-15);
}

// Transport, against a solution made for it: two plane waves, kept in place by f = u . grad w - nu lap w. Of waves
// cos(K.x) only the pair interacts: u . grad w = (1/|K|^2 - 1/|L|^2) (K_y L_x - K_x L_y) sin(K.x) sin(L.x).
TEST(NavierStokes, AFlowKeptInPlaceByItsForcingStays) {
  const double viscosity = 0.01, k = kTau;  // K = k (1, 0), L = k (1, 2)
  const auto flow = [&](double x, double y) { return std::cos(k * x) + std::cos(k * (x + 2 * y)); };
  const auto f = field(32, [&](double x, double y) {
    return (1 - 1.0 / 5) * (0 * 1 - 1 * 2) * std::sin(k * x) * std::sin(k * (x + 2 * y)) +
           viscosity * k * k * (std::cos(k * x) + 5 * std::cos(k * (x + 2 * y)));
  });
  const NavierStokesSolver solver(32, viscosity, f);
  const auto still = field(32, flow);
  const auto after = [&](std::int64_t steps) {
    auto w = still;
    solver.advance(w, 0.5, steps);
    return largest_difference(w, still);
  };
  EXPECT_LT(after(200), 1e-9);
  // The integrating factor does not keep it in place exactly: the scheme's error, of order 4.
  EXPECT_NEAR(std::log2(after(5) / after(10)), 4, 0.4);
}

TEST(NavierStokes, FourthOrderInTime) {
  const NavierStokesSolver solver(32, 1e-3, NavierStokesProblem::forcing(32));
  std::vector<double> first(32 * 32);
  VorticityFieldSampler(32).sample(1, 2, first);
  for (double& w : first) w *= 50;  // Courant numbers of about a half in the coarsest steps
  const auto end = [&](std::int64_t steps) {
    auto w = first;
    solver.advance(w, 0.5, steps);
    return w;
  };
  const auto reference = end(640);
  const double coarse = largest_difference(end(20), reference), fine = largest_difference(end(40), reference);
  EXPECT_GT(coarse, 1e-9);  // above rounding
  EXPECT_NEAR(std::log2(coarse / fine), 4, 0.4);
}

// A smooth flow on more and more points, at the 16 x 16 they share: errors fall faster than any power.
TEST(NavierStokes, SpectrallyAccurateInSpace) {
  const auto end = [&](std::size_t n) {
    const NavierStokesSolver solver(static_cast<std::int64_t>(n), 5e-3);
    auto w = field(n, [](double x, double y) {
      return 8 * std::sin(kTau * x) * std::sin(kTau * y) + 6 * std::cos(kTau * (x + y) + 1) +
             4 * std::sin(2 * kTau * y);
    });
    solver.advance(w, 0.3, 200);
    std::vector<double> some;
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < 16; ++j) some.push_back(w[(i * n + j) * (n / 16)]);
    }
    return some;
  };
  const auto reference = end(128);
  const double coarse = largest_difference(end(16), reference), middle = largest_difference(end(32), reference),
               fine = largest_difference(end(64), reference);
  EXPECT_LT(middle, 0.05 * coarse);
  EXPECT_LT(fine, 1e-3 * middle);
}

// Without viscosity and forcing the truncated flow keeps energy and enstrophy; what RK4 loses falls with the fifth
// power of the step.
TEST(NavierStokes, EnergyAndEnstrophyAreKept) {
  const NavierStokesSolver solver(48, 0);
  std::vector<double> first(48 * 48), u(first.size()), v(first.size());
  VorticityFieldSampler(48).sample(3, 1, first);
  for (double& w : first) w *= 50;
  solver.advance(first, 0, 1);  // cut to the modes the solver keeps
  const auto energy = [&](const std::vector<double>& w) {
    solver.velocity(w, u, v);
    return mean_square(u) + mean_square(v);
  };
  auto w = first;
  solver.advance(w, 1, 400);
  EXPECT_GT(largest_difference(w, first), 1);  // it did flow
  EXPECT_NEAR(energy(w) / energy(first), 1, 1e-8);
  EXPECT_NEAR(mean_square(w) / mean_square(first), 1, 1e-8);
  double mean = 0;
  for (const double value : w) mean += value / static_cast<double>(w.size());
  EXPECT_NEAR(mean, 0, 1e-14);
}

// Viscosity takes energy as d/dt mean |u|^2 = -2 nu mean w^2: by central differences, with the enstrophy between.
TEST(NavierStokes, ViscosityTakesEnergyByTheEnstrophy) {
  const double viscosity = 2e-3, h = 1e-3;
  const NavierStokesSolver solver(48, viscosity);
  std::vector<double> w(48 * 48), u(w.size()), v(w.size());
  VorticityFieldSampler(48).sample(3, 4, w);
  for (double& value : w) value *= 50;
  const auto energy = [&] {
    solver.velocity(w, u, v);
    return mean_square(u) + mean_square(v);
  };
  solver.advance(w, 0.1, 50);
  const double before = energy();
  solver.advance(w, h, 1);
  const double enstrophy = mean_square(w);
  solver.advance(w, h, 1);
  EXPECT_NEAR((energy() - before) / (2 * h) / (-2 * viscosity * enstrophy), 1, 1e-5);
}

// E w(x)^2 = sum of lambda_k over the modes of the grid; of 3000 fields, with what chance leaves of it.
TEST(VorticityField, VarianceAgainstTheSeries) {
  constexpr int kN = 16, kSamples = 3000;
  const VorticityFieldSampler sampler(kN);
  std::vector<double> w(kN * kN);
  double measured = 0, along = 0, mean = 0;
  for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
    sampler.sample(7, sample, w);
    measured += mean_square(w) / kSamples;
    for (std::size_t p = 0; p < w.size(); ++p) {
      along += w[p] * w[p / kN * kN + (p + kN / 2) % kN] / (kN * kN * kSamples);  // half a period apart in y
      mean = std::max(mean, std::abs(std::accumulate(w.begin(), w.end(), 0.0)));
    }
  }
  double expected = 0, expected_along = 0, fourth = 0;
  for (int k1 = -kN / 2 + 1; k1 < kN / 2; ++k1) {
    for (int k2 = -kN / 2 + 1; k2 < kN / 2; ++k2) {
      if (k1 == 0 && k2 == 0) continue;
      const double lambda =
          7 * std::sqrt(7.0) / std::pow(4 * std::numbers::pi * std::numbers::pi * (k1 * k1 + k2 * k2) + 49, 2.5);
      expected += lambda;
      expected_along += k2 % 2 == 0 ? lambda : -lambda;
      fourth += 2 * lambda * lambda;
    }
  }
  EXPECT_NEAR(measured, expected, 5 * std::sqrt(fourth / kSamples));
  EXPECT_NEAR(along, expected_along, 5 * std::sqrt(fourth / kSamples));
  EXPECT_LT(mean, 1e-12);
  // As the published program draws it: sqrt(7^3 / 7^1.5) times the same field.
  std::vector<double> louder(w.size());
  VorticityFieldSampler(kN, VorticityScale::program).sample(7, kSamples - 1, louder);
  EXPECT_NEAR(louder[5] / w[5], std::pow(7.0, 0.75), 1e-9);
}

TEST(VorticityField, SameFieldAtEveryResolution) {
  // 24 points are every other one of 48, where the field has more modes: those are what differs, and the rest is the
  // same.
  std::vector<double> coarse(24 * 24), fine(48 * 48), other(48 * 48);
  VorticityFieldSampler(24).sample(5, 2, coarse);
  VorticityFieldSampler(48).sample(5, 2, fine);
  VorticityFieldSampler(48).sample(5, 3, other);
  double difference = 0;
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < 24; ++j) difference += std::pow(coarse[i * 24 + j] - fine[2 * i * 48 + 2 * j], 2) / 576;
  }
  double beyond = 0;
  for (int k1 = -23; k1 <= 23; ++k1) {
    for (int k2 = -23; k2 <= 23; ++k2) {
      if (std::max(std::abs(k1), std::abs(k2)) > 11)
        beyond +=
            7 * std::sqrt(7.0) / std::pow(4 * std::numbers::pi * std::numbers::pi * (k1 * k1 + k2 * k2) + 49, 2.5);
    }
  }
  EXPECT_LT(difference, 2 * beyond);
  EXPECT_LT(2 * beyond, 0.01 * mean_square(fine));
  EXPECT_GT(largest_difference(fine, other), std::sqrt(mean_square(fine)));
}

// The frames of the dataset, against a solve of twice the resolution in steps of a quarter: the field is the same one,
// so what differs is the resolution.
TEST(NavierStokes, TheDatasetIsResolvedAndDependsOnSeedAndSampleAlone) {
  NavierStokesConfig config;
  config.resolution = 32;
  config.viscosity = 2e-3;
  config.frames = 12;
  const NavierStokesProblem problem(config);
  config.resolution = 64;
  config.stride = 4;
  config.rule = {.courant = 0.25, .longest = 0.0125};
  const NavierStokesProblem finer(config);
  constexpr std::size_t kPoints = 256;
  std::vector<float> a(kPoints * 10), w(kPoints * 2), a_again(a.size()), again(w.size()), a_fine(a.size()),
      fine(w.size());
  problem.make(5, 0, {{}, a, w, {}});
  problem.make(5, 0, {{}, a_again, again, {}});
  EXPECT_EQ(a, a_again);
  EXPECT_EQ(w, again);
  finer.make(5, 0, {{}, a_fine, fine, {}});
  const auto distance = [](const std::vector<float>& x, const std::vector<float>& y) {
    double squares = 0, difference = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      squares += static_cast<double>(y[i]) * y[i];
      difference += std::pow(static_cast<double>(x[i]) - y[i], 2);
    }
    return std::sqrt(difference / squares);
  };
  EXPECT_LT(distance(w, fine), 1e-3);
  EXPECT_LT(distance(a, a_fine), 5e-3);
  problem.make(6, 0, {{}, a_again, again, {}});
  EXPECT_NE(w, again);
  const SetDescription d = problem.describe();
  EXPECT_EQ(d.initial_time, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(d.time, (std::vector<double>{11, 12}));
  EXPECT_EQ(d.input.back().name, "w at t=10");
  // The last frame given and the first to come are one time unit apart: neighbours in time are alike, not the same.
  double apart = 0, size = 0;
  for (std::size_t p = 0; p < kPoints; ++p) {
    apart += std::pow(static_cast<double>(a[p * 10 + 9]) - w[p], 2);
    size += std::pow(static_cast<double>(w[p]), 2);
  }
  EXPECT_GT(apart, 1e-4 * size);
  EXPECT_LT(apart, 0.5 * size);
}

// The benchmark's own size against twice as many points and half the step: 20 time units at nu = 1e-5, whose filaments
// reach the size of the grid's cells towards the end.
double distance_to_finer(VorticityScale scale, std::size_t frame) {
  constexpr std::size_t kPoints = 64 * 64;
  std::array<std::vector<float>, 2> frames;
  for (const bool finer : {false, true}) {
    NavierStokesConfig config;
    config.scale = scale;
    config.frames = 10 + static_cast<std::int64_t>(frame) + 1;
    if (finer) {
      config.resolution = 256;
      config.stride = 4;
      config.rule = {.courant = 0.5, .longest = 0.025};
    }
    std::vector<float> a(kPoints * 10), w(kPoints * (frame + 1));
    NavierStokesProblem(config).make(3, 0, {{}, a, w, {}});
    frames[finer] = w;
  }
  double squares = 0, difference = 0;
  for (std::size_t p = frame * kPoints; p < (frame + 1) * kPoints; ++p) {
    squares += std::pow(static_cast<double>(frames[1][p]), 2);
    difference += std::pow(static_cast<double>(frames[0][p]) - frames[1][p], 2);
  }
  return std::sqrt(difference / squares);
}

TEST(NavierStokesFull, TheBenchmarkIsResolvedButForItsFinestFilaments) {
  EXPECT_LT(distance_to_finer(VorticityScale::printed, 0), 5e-4);  // t = 11
  EXPECT_LT(distance_to_finer(VorticityScale::printed, 9), 0.02);  // t = 20
  EXPECT_LT(distance_to_finer(VorticityScale::program, 9), 0.06);
}

TEST(NavierStokes, ImpossibleSizesAreRefused) {
  NavierStokesConfig config;
  config.stride = 3;
  EXPECT_ERROR_WITH(NavierStokesProblem{config}, "the stride divides");
  config.stride = 2;
  config.frames = 10;
  EXPECT_ERROR_WITH(NavierStokesProblem{config}, "more than the 10 frames given");
  EXPECT_ERROR_WITH(NavierStokesSolver(2, 0.1), "between 4 and 4096");
  EXPECT_ERROR_WITH(NavierStokesSolver(16, -1), "viscosity of at least 0");
  std::vector<double> w(256, 1.0);
  EXPECT_ERROR_WITH(NavierStokesSolver(16, 1).advance(w, 1, 1), "its mean zero");
  auto wild = field(16, [](double x, double y) { return 1e200 * std::sin(kTau * (x + 2 * y)) * std::cos(kTau * x); });
  auto again = wild;
  EXPECT_ERROR_WITH(NavierStokesSolver(16, 0).advance(wild, 1, 4), "a finite vorticity");
  EXPECT_ERROR_WITH(NavierStokesSolver(16, 0).advance(again, 1, NavierStokesSolver::StepRule{}), "steps can follow");
}

}  // namespace
}  // namespace lano::navier_stokes_test
