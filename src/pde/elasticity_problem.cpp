#include "pde/elasticity_problem.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/error.h"
#include "core/random.h"

namespace lano {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kCircle = 0.3, kMoved = 0.5;  // radii of the unmoved cavity, and beyond which nothing moves

// A point of the square's edge: s in [0, 4) runs anticlockwise from the lower left corner.
Point2 on_square(double s) {
  const int side = static_cast<int>(s) % 4;
  const double t = s - std::floor(s);
  switch (side) {
    case 0:
      return {t, 0};
    case 1:
      return {1, t};
    case 2:
      return {1 - t, 1};
    default:
      return {0, 1 - t};
  }
}

}  // namespace

Cavity::Cavity(std::uint64_t seed, std::int64_t sample, std::int64_t attempt) {
  RandomStream stream(seed, Purpose::elasticity, static_cast<std::uint64_t>(attempt),
                      static_cast<std::uint64_t>(sample));
  for (double& wave : waves_) wave = stream.normal();
}

double Cavity::radius(double phi) const {
  double g = 0;
  for (std::size_t k = 1; k <= 5; ++k) {
    const auto wave = static_cast<double>(k);
    g += (waves_[2 * k - 2] * std::cos(wave * phi) + waves_[2 * k - 1] * std::sin(wave * phi)) / (wave * wave + 9);
  }
  return 0.2 + 0.2 / (1 + std::exp(16 / std::sqrt(kPi) * g));
}

Q9Mesh cavity_mesh(std::int64_t around, std::int64_t across, const std::function<double(double)>& radius) {
  Q9Mesh mesh;
  const std::int64_t columns = 2 * around, rows = 2 * across + 1;  // node (c, r): c around, r outwards
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const Point2 edge = on_square(4.0 * static_cast<double>(c) / static_cast<double>(columns));
      const double dx = edge[0] - 0.5, dy = edge[1] - 0.5, far = std::hypot(dx, dy);
      double rho = kCircle + (far - kCircle) * static_cast<double>(r) / static_cast<double>(rows - 1);
      if (rho < kMoved) {
        const double near = radius(std::atan2(dy, dx));
        rho = near + (kMoved - near) * (rho - kCircle) / (kMoved - kCircle);
      }
      mesh.nodes.push_back(r == rows - 1 ? edge : Point2{0.5 + rho * dx / far, 0.5 + rho * dy / far});
    }
  }
  const auto node = [&](std::int64_t c, std::int64_t r) { return static_cast<int>(r * columns + c % columns); };
  for (std::int64_t r = 0; r < across; ++r) {
    for (std::int64_t c = 0; c < around; ++c) {
      // Local axes: outwards, then anticlockwise around: a right-handed pair.
      const std::int64_t a = 2 * c, b = 2 * r;
      mesh.elements.push_back({node(a, b), node(a, b + 2), node(a + 2, b + 2), node(a + 2, b), node(a, b + 1),
                               node(a + 1, b + 2), node(a + 2, b + 1), node(a + 1, b), node(a + 1, b + 1)});
    }
  }
  return mesh;
}

ElasticityProblem::ElasticityProblem(ElasticityConfig config) : config_(config) {
  if (config.around < 8 || config.around % 4 != 0 || config.across < 1) {
    fail_usage("describing the elasticity problem",
               "a multiple of 4 of at least 8 elements around and at least 1 across",
               std::to_string(config.around) + " and " + std::to_string(config.across));
  }
}

SetDescription ElasticityProblem::describe() const {
  SetDescription d;
  d.name = "elasticity";
  d.geometry = Geometry::points;
  d.shape = {9 * config_.around * config_.across};
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.output = {{"stress", "Pa"}};
  d.box = {0, 1, 0, 1};
  d.generator = nlohmann::json{{"program", "lano generate elasticity"},
                               {"elements", {config_.around, config_.across}},
                               {"traction", config_.traction},
                               {"c1", config_.material.c1},
                               {"c2", config_.material.c2},
                               {"seed", config_.seed}}
                    .dump();
  return d;
}

CavityStress ElasticityProblem::stress_around(const std::function<double(double)>& radius) const {
  const Q9Mesh mesh = cavity_mesh(config_.around, config_.across, radius);
  Q9Load load;
  load.fixed.assign(2 * mesh.nodes.size(), false);
  load.prescribed.assign(2 * mesh.nodes.size(), 0.0);
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) {
    if (mesh.nodes[n][1] == 0) load.fixed[2 * n] = load.fixed[2 * n + 1] = true;
  }
  for (const auto& element : mesh.elements) {
    const std::array<int, 3> outer{element[1], element[5], element[2]};
    bool above = true;
    for (const int n : outer) above = above && mesh.nodes[static_cast<std::size_t>(n)][1] == 1;
    if (above) load.edges.push_back({outer, {0, config_.traction}});
  }
  const ElasticSolution solution = solve_hyperelastic(mesh, config_.material, load);
  if (!solution.converged) return {};
  return {gauss_values(mesh, config_.material, solution.displacement), true};
}

bool ElasticityProblem::make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const {
  const Cavity cavity(config_.seed, sample, attempt);
  const auto [values, converged] = stress_around([&](double phi) { return cavity.radius(phi); });
  if (!converged) return false;
  for (std::size_t i = 0; i < values.places.size(); ++i) {
    to.coordinates[2 * i] = static_cast<float>(values.places[i][0]);
    to.coordinates[2 * i + 1] = static_cast<float>(values.places[i][1]);
    to.output[i] = static_cast<float>(values.von_mises[i]);
  }
  return true;
}

}  // namespace lano
