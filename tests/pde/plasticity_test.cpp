// The forging dataset, from the metal up: stress update, element and wave, contact, dies, samples.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "pde/forging_solver.h"
#include "pde/plasticity_problem.h"
#include "scratch.h"

namespace lano::plasticity_test {
namespace {

const PlaneMaterial kSteel;
const PlanePlasticity kMetal(kSteel);
constexpr int kIncrements = 2000;

// Strains to (xx, yy, shear) times `strain` in equal increments, from a stress.
PlaneStress strained(PlaneStress stress, double xx, double yy, double shear, double strain) {
  const double d = strain / kIncrements;
  for (int k = 0; k < kIncrements; ++k) stress = kMetal.update(stress, xx * d, yy * d, shear * d, 0);
  return stress;
}

void expect_stress(const PlaneStress& got, double xx, double yy, double xy, double tolerance) {
  EXPECT_NEAR(got.xx, xx, tolerance);
  EXPECT_NEAR(got.yy, yy, tolerance);
  EXPECT_NEAR(got.xy, xy, tolerance);
}

TEST(PlasticityMaterial, ElasticStressIsHookesLawInPlaneStress) {
  const double e = kSteel.young, nu = kSteel.poisson, xx = 1e-4, yy = -0.3e-4, shear = 0.8e-4;
  const PlaneStress s = strained({}, xx, yy, shear, 1);
  expect_stress(s, e / (1 - nu * nu) * (xx + nu * yy), e / (1 - nu * nu) * (yy + nu * xx), e / (2 * (1 + nu)) * shear,
                1);
  ASSERT_LT(kMetal.von_mises(s), kSteel.yield);
  // Thickness strain -nu/E (xx + yy): volume ratio = (1 + e_xx)(1 + e_yy)(1 + e_zz) to first order.
  EXPECT_NEAR(kMetal.volume_ratio(s) - 1, xx + yy - nu / e * (s.xx + s.yy), 1e-12);
}

// Up to just below the yield stress the law is linear; three times as far the stress is the yield stress.
TEST(PlasticityMaterial, YieldsInTensionAtTheYieldStress) {
  const double limit = kSteel.yield / kSteel.young;
  expect_stress(strained({}, 1, -kSteel.poisson, 0, 0.999 * limit), 0.999 * kSteel.yield, 0, 0, 10);
  // Flow in tension: the lateral strain is -1/2 of the axial one, and the stress stays.
  expect_stress(strained({kSteel.yield, 0, 0}, 1, -0.5, 0, 2 * limit), kSteel.yield, 0, 0, 1e-6 * kSteel.yield);
  // Elastic lateral strain instead: no longer uniaxial, but on the yield surface.
  EXPECT_NEAR(kMetal.von_mises(strained({}, 1, -kSteel.poisson, 0, 3 * limit)), kSteel.yield, 1e-6 * kSteel.yield);
}

TEST(PlasticityMaterial, YieldsInShearAtYieldOverRootThree) {
  const double most = kSteel.yield / std::sqrt(3.0), limit = most / (kSteel.young / (2 * (1 + kSteel.poisson)));
  expect_stress(strained({}, 0, 0, 1, 0.999 * limit), 0, 0, 0.999 * most, 10);
  expect_stress(strained({}, 0, 0, 1, 3 * limit), 0, 0, most, 1e-6 * kSteel.yield);
  expect_stress(strained({}, 0, 0, -1, 3 * limit), 0, 0, -most, 1e-6 * kSteel.yield);
}

TEST(PlasticityMaterial, YieldsEquibiaxiallyAtTheYieldStress) {
  const double limit = kSteel.yield * (1 - kSteel.poisson) / kSteel.young;
  expect_stress(strained({}, 1, 1, 0, 0.999 * limit), 0.999 * kSteel.yield, 0.999 * kSteel.yield, 0, 10);
  expect_stress(strained({}, 1, 1, 0, 3 * limit), kSteel.yield, kSteel.yield, 0, 1e-6 * kSteel.yield);
}

TEST(PlasticityMaterial, OneBigStepLandsOnTheYieldSurface) {
  for (const double angle : {0.0, 0.4, 0.8, 1.2, 1.57, 2.5}) {
    const double xx = std::cos(angle), yy = std::sin(angle), shear = 0.5;
    const double elastic = kMetal.von_mises(kMetal.update({}, 1e-9 * xx, 1e-9 * yy, 1e-9 * shear, 0)) / 1e-9;
    for (const auto& [over, tolerance] : {std::pair{1.05, 1e-8}, {1.3, 2e-6}, {2.0, 2e-5}, {10.0, 2e-5}}) {
      const double strain = over * kSteel.yield / elastic;
      const PlaneStress s = kMetal.update({}, strain * xx, strain * yy, strain * shear, 0);
      EXPECT_NEAR(kMetal.von_mises(s) / kSteel.yield, 1, tolerance) << over << " " << angle;
    }
  }
}

TEST(PlasticityMaterial, StressTurnsWithTheBody) {
  // A quarter turn in 300 steps, each of the angle 2 atan(spin/2), swaps xx and yy and the sign of xy.
  PlaneStress s{30e6, -10e6, 5e6};
  const double spin = 2 * std::tan(std::numbers::pi / 2 / 300 / 2);
  for (int k = 0; k < 300; ++k) s = kMetal.update(s, 0, 0, 0, spin);
  expect_stress(s, -10e6, 30e6, -5e6, 1e-3);
}

TEST(PlasticityMaterial, ImpossibleMetalsAreRefused) {
  PlaneMaterial bad;
  bad.yield = 0;
  EXPECT_ERROR_WITH(PlanePlasticity{bad}, "positive modulus");
}

// A slender bar, free at both ends, on a roller along its middle line: v = cos(pi x/L) is its first mode, and its
// velocity follows cos(pi c t/L), c = sqrt(E/density). The amplitude passes zero at t = L/(2c).
double bar_zero_crossing(ForgingConfig c) {
  c.speed = 0;
  ForgingSolver bar(c, DieProfile::flat(1));
  const double left = c.right - c.width;
  std::vector<double> mode(bar.x().size());
  for (std::size_t p = 0; p < mode.size(); ++p) mode[p] = std::cos(std::numbers::pi * (bar.x()[p] - left) / c.width);
  for (std::size_t p = 0; p < mode.size(); ++p) bar.vx()[p] = 0.1 * mode[p];
  const double quarter = c.width / (2 * std::sqrt(c.material.young / c.material.density));
  double before_time = 0, before = 1;
  for (double t = 0.9 * quarter; t < 1.1 * quarter; t += quarter / 500) {
    EXPECT_TRUE(bar.advance_to(t));
    double amplitude = 0;
    for (std::size_t p = 0; p < mode.size(); ++p) amplitude += bar.vx()[p] * mode[p];
    if (amplitude <= 0) return before_time + (t - before_time) * before / (before - amplitude);
    before = amplitude;
    before_time = t;
  }
  return 0;
}

TEST(PlasticityForging, BarWaveSpeedIsRootOfModulusOverDensity) {
  ForgingConfig c;
  c.cells_x = 200;
  c.cells_y = 4;
  c.width = 50e-3;
  c.height = 1e-3;
  c.linear_viscosity = c.quadratic_viscosity = 0;
  const double speed = std::sqrt(c.material.young / c.material.density);
  const double crossing = bar_zero_crossing(c);
  ASSERT_GT(crossing, 0);
  // Lateral inertia slows the mode by nu^2 (pi/L)^2 h^2/6 < 1e-4, the half-step shift of velocities is 5e-4 of the
  // time.
  EXPECT_NEAR(c.width / (2 * crossing) / speed, 1, 2e-3);
}

TEST(PlasticityForging, EnergyOfAnElasticBarStays) {
  ForgingConfig c;
  c.cells_x = 50;
  c.cells_y = 2;
  c.height = 2e-3;
  c.speed = 0;
  c.time_step = 0.1;  // velocities are half a step behind the stresses, which shows in the sum of energies
  c.linear_viscosity = c.quadratic_viscosity = 0;
  ForgingSolver bar(c, DieProfile::flat(1));
  for (std::size_t p = 0; p < bar.vx().size(); ++p) bar.vx()[p] = 0.5 * std::sin(100 * bar.x()[p]);
  ASSERT_TRUE(bar.advance_to(1e-4));
  const ForgingEnergies e = bar.energies();
  EXPECT_GT(e.internal, 0.05 * e.first);
  EXPECT_LT(std::abs(e.imbalance()), 0.01 * e.first);
}

TEST(PlasticityForging, RigidMotionMakesNoStress) {
  ForgingConfig c;
  c.cells_x = 6;
  c.cells_y = 4;
  c.speed = 0;
  ForgingSolver block(c, DieProfile::flat(1));
  for (double& v : block.vx()) v = 10;
  ASSERT_TRUE(block.advance_to(1e-4));
  EXPECT_NEAR(block.x()[0] - c.right, 1e-3, 1e-12);
  EXPECT_LT(kMetal.von_mises(block.stress(3, 2)), 1.0);
}

// A bar that spins freely: the pull of density omega^2 L^2/8 = 20 MPa in its middle turns with it. Where
// the stress turned another way, shear of 4 pi 20 MPa/G = 0.03 a turn would have to keep it along the bar.
TEST(PlasticityForging, StressOfASpinningBarStaysAlongIt) {
  ForgingConfig c;
  c.cells_x = 20;
  c.cells_y = 4;
  c.height = 5e-3;
  c.speed = 0;
  c.roller = false;
  c.material.young = 20e9;  // soft, for strains that can be seen
  const double omega = std::sqrt(8 * 20e6 / c.material.density) / c.width;
  const double mid_x = c.right - c.width / 2, mid_y = c.top - c.height / 2;
  ForgingSolver bar(c, DieProfile::flat(1));
  for (std::size_t p = 0; p < bar.x().size(); ++p) {
    bar.vx()[p] = -omega * (bar.y()[p] - mid_y);
    bar.vy()[p] = omega * (bar.x()[p] - mid_x);
  }
  const std::size_t right = 2, left = 20 * 5 + 2;  // the ends of the middle line
  const double turn = 2 * std::numbers::pi / omega;
  double pull = 0;
  for (int eighth = 1; eighth <= 12; ++eighth) {
    ASSERT_TRUE(bar.advance_to(turn * eighth / 8));
    const double dx = bar.x()[right] - bar.x()[left], dy = bar.y()[right] - bar.y()[left], length = std::hypot(dx, dy);
    const double angle = std::numbers::pi / 4 * eighth;
    EXPECT_NEAR(std::hypot(dx / length - std::cos(angle), dy / length - std::sin(angle)), 0, 0.05) << eighth;
    EXPECT_NEAR(length / c.width, 1, 3e-3);
    const std::size_t over = 10 * 5, under = over + 4;
    const double wx = bar.x()[over] - bar.x()[under], wy = bar.y()[over] - bar.y()[under];
    EXPECT_NEAR((wx * dx + wy * dy) / (length * std::hypot(wx, wy)), 0, 2e-3) << eighth;  // its sections stay upright
    if (eighth <= 4) continue;                                                            // the bar still breathes
    const PlaneStress s = bar.stress(10, 1);
    const double ux = dx / length, uy = dy / length;
    const double along = ux * ux * s.xx + 2 * ux * uy * s.xy + uy * uy * s.yy;
    const double across = uy * uy * s.xx - 2 * ux * uy * s.xy + ux * ux * s.yy;
    EXPECT_LT(std::abs(across), 2e6) << eighth;
    EXPECT_LT(std::abs(ux * uy * (s.yy - s.xx) + (ux * ux - uy * uy) * s.xy), 2e6) << eighth;
    pull += along / 8;
  }
  EXPECT_NEAR(pull, 20e6, 2e6);
}

// An arch that comes down over the block squeezes its sides: the side columns are held too, on both sides alike.
TEST(PlasticityForging, TheSidesDoNotEnterTheDie) {
  ForgingConfig c;
  c.cells_x = c.cells_y = 8;
  c.width = 15e-3;
  const double centre = c.right - c.width / 2, half = c.width / 2;
  std::vector<double> heights;
  for (int k = -12; k <= 12; ++k) heights.push_back(c.top + 30e-3 * (1 - (k / 8.0) * (k / 8.0)));
  const DieProfile die(centre - 1.5 * half, half / 8, heights);
  ForgingSolver block(c, die.raised(c.top - die.at(c.right).height));
  const double drop = die.at(c.right).height - c.top, time = 1e-3;
  ASSERT_TRUE(block.advance_to(time));
  for (const std::size_t i : {0u, 8u}) {
    int touching = 0;
    for (std::size_t j = 1; j <= 8; ++j) {
      const std::size_t p = i * 9 + j;
      const double gap = die.at(block.x()[p]).height - drop - c.speed * time - block.y()[p];
      EXPECT_GT(gap, -1e-6) << i << " " << j;
      touching += gap < 1e-5;
    }
    EXPECT_GE(touching, 1) << i;
  }
}

// Frictionless upsetting between flat dies is homogeneous: stress (0, -yield), and by symmetry and constancy of volume
// the stretches along x and through the thickness are both lambda_y^(-1/2).
void expect_upsetting(std::int64_t cells_x, std::int64_t cells_y) {
  ForgingConfig c;
  c.cells_x = cells_x;
  c.cells_y = cells_y;
  c.width = 15e-3;
  c.friction = 0;
  c.speed = 0.5;
  ForgingSolver block(c, DieProfile::flat(c.top));
  const double travel = 3e-3, stretch = 1 - travel / c.height, area0 = block.total_area();
  ASSERT_TRUE(block.advance_to(travel / c.speed));
  const std::size_t last = block.x().size() - 1;
  const double lateral = (block.x()[0] - block.x()[last]) / c.width;
  EXPECT_NEAR(lateral, 1 / std::sqrt(stretch), 0.003);
  double volume = 0;
  for (std::int64_t i = 0; i < cells_x; ++i) {
    for (std::int64_t j = 0; j < cells_y; ++j) {
      const PlaneStress s = block.stress(i, j);
      EXPECT_NEAR(s.yy / c.material.yield, -1, 0.02);
      EXPECT_NEAR(s.xx / c.material.yield, 0, 0.04);
      EXPECT_NEAR(block.thickness(i, j) / c.thickness, 1 / std::sqrt(stretch), 0.003);
      volume += block.area(i, j) * block.thickness(i, j);
    }
  }
  EXPECT_NEAR(volume / (area0 * c.thickness), 1, 0.01);
  EXPECT_LT(block.total_area(), 0.95 * area0);  // it did flow
  // Work of the die = yield stress x volume x logarithmic strain.
  EXPECT_NEAR(block.energies().external / (c.material.yield * area0 * c.thickness * -std::log(stretch)), 1, 0.01);
}

TEST(PlasticityForging, UpsettingOfOneElement) { expect_upsetting(1, 1); }
TEST(PlasticityForging, UpsettingOfABlock) { expect_upsetting(8, 8); }

TEST(PlasticityForging, FrictionHoldsTheTopBack) {
  double top[2];
  for (const int k : {0, 1}) {
    ForgingConfig c;
    c.cells_x = c.cells_y = 8;
    c.width = 15e-3;
    c.friction = 0.15 * k;
    ForgingSolver block(c, DieProfile::flat(c.top));
    ASSERT_TRUE(block.advance_to(1e-3));
    top[k] = block.x()[0] - block.x()[8 * 9];
  }
  EXPECT_LT(top[1], 0.99 * top[0]);
}

PlasticityConfig coarse() {
  PlasticityConfig c;
  c.seed = 3;
  c.cells_x = 40;
  c.cells_y = 12;
  return c;
}

void expect_sound_run(const PlasticityConfig& config, std::int64_t sample, double most_hourglass) {
  const PlasticityProblem problem(config);
  ForgingSolver block(problem.forging(), problem.die(sample, 0));
  const double area0 = block.total_area(), volume0 = area0 * problem.forging().thickness;
  for (int frame = 1; frame < 20; ++frame) {
    ASSERT_TRUE(block.advance_to(frame * 1e-4));
    const ForgingEnergies e = block.energies();
    EXPECT_LT(std::abs(e.imbalance()), 0.01 * e.external) << frame;
    EXPECT_LT(e.kinetic, 0.05 * e.internal + 0.02) << frame;
    EXPECT_LT(block.penetration(), 1e-9) << frame;   // metres; the mesh has 0.5e-3
    EXPECT_GT(block.penetration(), -1e-9) << frame;  // and the die has not left the block
  }
  const ForgingEnergies e = block.energies();
  EXPECT_LT(e.hourglass, most_hourglass * e.internal);
  EXPECT_GT(e.hourglass, 0);
  EXPECT_LT(e.kinetic, 0.01 * e.internal);
  double volume = 0, most = 0;
  for (std::int64_t i = 0; i < config.cells_x; ++i) {
    for (std::int64_t j = 0; j < config.cells_y; ++j) {
      volume += block.area(i, j) * block.thickness(i, j);
      most = std::max(most, kMetal.von_mises(block.stress(i, j)));
    }
  }
  EXPECT_NEAR(volume / volume0, 1, 0.01);
  EXPECT_NEAR(most / config.material.yield, 1, 1e-4);
  const double fall = 1 - block.total_area() / area0;
  EXPECT_GT(fall, 0.025);
  EXPECT_LT(fall, 0.095);
}

TEST(PlasticityForging, RandomDiesKeepEnergyVolumeAndContact) {
  for (const std::int64_t sample : {0, 1, 2}) expect_sound_run(coarse(), sample, 0.05);
}

TEST(PlasticityFull, ARandomDieAtFullSize) { expect_sound_run({}, 0, 0.05); }

// The mirrored die gives the mirrored motion, up to what rounding grows to.
TEST(PlasticityForging, MirroredDieGivesTheMirroredMotion) {
  const PlasticityProblem problem(coarse());
  const ForgingConfig c = problem.forging();
  const DieProfile die = problem.die(4, 0);
  std::vector<double> heights = die.heights();
  std::reverse(heights.begin(), heights.end());
  ForgingSolver one(c, die), other(c, DieProfile(c.right - c.width, c.width / 8, heights));
  ASSERT_TRUE(one.advance_to(1.9e-3));
  ASSERT_TRUE(other.advance_to(1.9e-3));
  const double centre = c.right - c.width / 2;
  double worst = 0, lopsided = 0;
  for (std::size_t i = 0; i <= 40; ++i) {
    for (std::size_t j = 0; j <= 12; ++j) {
      const std::size_t p = i * 13 + j, q = (40 - i) * 13 + j;
      worst = std::max({worst, std::abs(one.x()[p] + other.x()[q] - 2 * centre), std::abs(one.y()[p] - other.y()[q])});
      lopsided = std::max(lopsided, std::abs(one.y()[p] - one.y()[q]));
    }
  }
  EXPECT_LT(worst, 1e-6);  // metres
  EXPECT_GT(lopsided, 1e-3);
}

TEST(PlasticityForging, AnInvertedElementIsReported) {
  ForgingConfig c;
  c.cells_x = c.cells_y = 4;
  c.speed = 0;
  ForgingSolver block(c, DieProfile::flat(1));
  block.vx()[2 * 5 + 2] = 3e5;  // one node shot through its neighbours
  EXPECT_FALSE(block.advance_to(1e-4));
}

TEST(PlasticityDie, SplineIsNaturalAndGoesThroughItsKnots) {
  const std::vector<double> heights{0, -3, -1, -7.5, -2, 0};
  const DieProfile die(-1, 2, heights);
  for (std::size_t k = 0; k < heights.size(); ++k)
    EXPECT_NEAR(die.at(-1 + 2 * static_cast<double>(k)).height, heights[k], 1e-12);
  const double h = 1e-4;
  for (double x = -0.5; x < 9; x += 0.37) {
    EXPECT_NEAR((die.at(x + h).height - die.at(x - h).height) / (2 * h), die.at(x).slope, 1e-6) << x;
  }
  for (const double knot : {1.0, 3.0, 5.0, 7.0}) {  // slope and curvature are continuous
    EXPECT_NEAR(die.at(knot - 1e-9).slope, die.at(knot + 1e-9).slope, 1e-7);
    const double left = (die.at(knot).slope - die.at(knot - h).slope) / h,
                 right = (die.at(knot + h).slope - die.at(knot).slope) / h;
    EXPECT_NEAR(left, right, 0.01);
  }
  EXPECT_NEAR(die.at(-1 + h).slope, die.at(-1).slope, 1e-6);  // natural: no curvature at the ends, straight beyond
  EXPECT_DOUBLE_EQ(die.at(-3).slope, die.at(-1).slope);
  EXPECT_NEAR(die.at(-3).height, die.at(-1).height - 2 * die.at(-1).slope, 1e-12);
  double low = 0;
  for (double x = -1; x <= 9; x += 1e-4) low = std::min(low, die.at(x).height);
  EXPECT_NEAR(die.lowest(), low, 1e-6);
  EXPECT_LT(die.lowest(), -7.5);
}

TEST(PlasticityDie, PriorOfTheDies) {
  const PlasticityProblem problem({});
  const ForgingConfig block = problem.forging();
  constexpr int kDies = 2000;
  double mean = 0;
  int deepest_at[9] = {};
  for (int sample = 0; sample < kDies; ++sample) {
    const DieProfile die = problem.die(sample, 0);
    const std::vector<double>& h = die.heights();
    ASSERT_EQ(h.size(), 9u);
    const auto lowest = std::min_element(h.begin(), h.end());
    ++deepest_at[lowest - h.begin()];
    EXPECT_NEAR(h.front() - *lowest, 7.5e-3, 1e-12);
    EXPECT_NEAR(h.back() - *lowest, 7.5e-3, 1e-12);
    double gap = 1;
    for (int k = 0; k <= 1000; ++k)
      gap = std::min(gap, die.at(block.right - block.width * k / 1000).height - block.top);
    EXPECT_GE(gap, -1e-12);
    EXPECT_LT(gap, 2e-5);  // touches, up to the spacing of this search
    for (std::size_t k = 1; k < 8; ++k) {
      const double depth = (h.front() - h[k]) / 7.5e-3;
      EXPECT_GE(depth, 0);
      EXPECT_LE(depth, 1 + 1e-12);
      mean += depth / (7 * kDies);
    }
  }
  // E|n|/max of 7: by simulation of 10^5 draws 0.477; the mean of 14,000 correlated ones spreads by about 0.003.
  EXPECT_NEAR(mean, 0.477, 0.012);
  for (int k = 1; k < 8; ++k) EXPECT_NEAR(deepest_at[k], kDies / 7, 5 * std::sqrt(kDies / 7.0));
}

struct Arrays {
  explicit Arrays(const SetDescription& d)
      : input(static_cast<std::size_t>(d.points())), output(static_cast<std::size_t>(d.points()) * 4 * d.time.size()) {}
  SampleArrays spans() { return {{}, input, output, {}}; }
  std::vector<float> input, output;
};

PlasticityConfig small() {
  PlasticityConfig c;
  c.cells_x = 20;
  c.cells_y = 6;
  return c;
}

TEST(PlasticityProblem, DescriptionAndCoordinates) {
  const PlasticityProblem problem({});
  const SetDescription d = problem.describe();
  EXPECT_EQ(d.name, "plasticity");
  EXPECT_EQ(d.geometry, Geometry::mesh);
  EXPECT_EQ(d.shape, (Shape{101, 31}));
  ASSERT_EQ(d.time.size(), 20u);
  EXPECT_DOUBLE_EQ(d.time[0], 0);
  EXPECT_NEAR(d.time[19], 1.9, 1e-12);
  EXPECT_EQ(d.output_channels(), 4);
  EXPECT_EQ(d.input[0].name, "die");
  EXPECT_NE(d.generator.find("\"friction\":0.15"), std::string::npos);
  const std::vector<float> at = problem.coordinates();
  ASSERT_EQ(at.size(), 101u * 31u * 2u);
  for (const auto& [i, j] : {std::pair{0, 0}, {7, 3}, {100, 30}}) {
    const std::size_t p = static_cast<std::size_t>(i * 31 + j) * 2;
    EXPECT_NEAR(at[p], 0.35 - 0.5 * i, 1e-5);
    EXPECT_NEAR(at[p + 1], 14.9 - 0.5 * j, 1e-5);
  }
}

TEST(PlasticityProblem, FramesFollowTheDie) {
  const PlasticityProblem problem(small());
  const SetDescription d = problem.describe();
  Arrays a(d);
  ASSERT_TRUE(problem.make(5, 0, a.spans()));
  const std::vector<float> first = problem.coordinates();
  const auto points = static_cast<std::size_t>(d.points());
  const DieProfile die = problem.die(5, 0);
  float deepest = 0;
  for (std::size_t t = 0; t < 20; ++t) {
    double gap = 1e9;
    for (std::size_t p = 0; p < points; ++p) {
      const float* o = &a.output[(t * points + p) * 4];
      EXPECT_NEAR(o[0] - o[2], first[2 * p], 2e-5);  // position - displacement = where it was
      EXPECT_NEAR(o[1] - o[3], first[2 * p + 1], 2e-5);
      if (t == 0 || p % 7 == 6) {
        EXPECT_EQ(o[3], 0.0f);  // undeformed at first, and the roller
      }
      if (p % 7 == 0) gap = std::min(gap, die.at(o[0] * 1e-3).height * 1e3 - 0.3 * static_cast<double>(t) - o[1]);
      if (t == 19) deepest = std::min(deepest, o[3]);
    }
    EXPECT_GT(gap, -1e-4) << t;
    if (t > 2) {
      EXPECT_LT(gap, 1e-3) << t;
    }
  }
  EXPECT_NEAR(deepest, -5.7, 0.7);  // coarse nodes miss the lowest point of the die
  for (std::size_t p = 0; p < points; ++p) {
    EXPECT_NEAR(a.input[p], die.at(first[2 * p] * 1e-3).height * 1e3, 1e-3);  // along i, repeated over j
    EXPECT_EQ(a.input[p], a.input[p / 7 * 7]);
  }
}

TEST(PlasticityProblem, SameBitsEachTimeAndOtherDiesForOtherDraws) {
  const PlasticityProblem problem(small()), again(small());
  Arrays a(problem.describe()), b(problem.describe());
  ASSERT_TRUE(problem.make(1, 0, a.spans()));
  ASSERT_TRUE(again.make(1, 0, b.spans()));
  EXPECT_EQ(a.input, b.input);
  EXPECT_EQ(a.output, b.output);
  EXPECT_NE(problem.die(1, 0).heights(), problem.die(1, 1).heights());
  EXPECT_NE(problem.die(1, 0).heights(), problem.die(2, 0).heights());
  PlasticityConfig other = small();
  other.seed = 1;
  EXPECT_NE(problem.die(1, 0).heights(), PlasticityProblem(other).die(1, 0).heights());
}

TEST(PlasticityProblem, BadSettingsAreRefused) {
  PlasticityConfig c;
  c.frames = 1;
  EXPECT_ERROR_WITH(PlasticityProblem{c}, "at least 2 frames");
}

}  // namespace
}  // namespace lano::plasticity_test
