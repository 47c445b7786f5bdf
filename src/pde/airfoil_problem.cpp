#include "pde/airfoil_problem.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/error.h"
#include "core/random.h"

namespace lano {
namespace {

// The start fits the sample's flow but for the shape, so the pseudo-time may begin with longer steps than from rest.
constexpr double kFirstCfl = 10, kWarmCfl = 30;

AirfoilConfig checked(AirfoilConfig config) {
  if (!(config.mach > 0 && config.mach < 1) || !(std::abs(config.alpha) <= 10) || !(config.displacement >= 0) ||
      config.displacement > 0.06 || !(config.tolerance > 0) || config.max_steps < 1) {
    fail_usage("generating airfoil",
               "0 < mach < 1, alpha within 10 degrees, displacement in [0, 0.06] (more folds the airfoil), a positive "
               "tolerance and steps",
               fmt::format("mach {}, alpha {}, displacement {}, tolerance {}, max_steps {}", config.mach, config.alpha,
                           config.displacement, config.tolerance, config.max_steps));
  }
  return config;
}

}  // namespace

Flow free_stream(double mach, double alpha) {
  const double speed = mach * std::sqrt(kGamma), angle = alpha * std::numbers::pi / 180;
  return {1, speed * std::cos(angle), speed * std::sin(angle), 1};
}

AirfoilProblem::AirfoilProblem(AirfoilConfig config) : config_(checked(config)) {
  const EulerSolver solver(airfoil_mesh(config_.mesh, {}), boundary());
  std::vector<Flow> flow = solver.outer_flow();
  EulerOptions cold = options();
  cold.first_cfl = kFirstCfl;
  const EulerReport report = solver.solve(flow, cold);
  if (!report.converged) {
    fail("generating airfoil", fmt::format("the undeformed flow to converge to {}", config_.tolerance),
         fmt::format("a residual of {:.2e} after {} steps", report.residuals.back(), report.steps()),
         "raise max_steps or tolerance");
  }
  start_ = std::move(flow);
}

EulerBoundary AirfoilProblem::boundary() const {
  EulerBoundary b;
  b.outer = [flow = free_stream(config_.mach, config_.alpha)](double, double) { return flow; };
  return b;
}

EulerOptions AirfoilProblem::options() const {
  EulerOptions o;
  o.tolerance = config_.tolerance;
  o.max_steps = static_cast<int>(config_.max_steps);
  o.first_cfl = kWarmCfl;
  return o;
}

SetDescription AirfoilProblem::describe() const {
  const AirfoilMeshConfig& m = config_.mesh;
  SetDescription d;
  d.name = "airfoil";
  d.geometry = Geometry::mesh;
  d.shape = {static_cast<std::int64_t>(2 * (m.wake_cells + m.side_cells) + 1),
             static_cast<std::int64_t>(m.radial_cells + 1)};
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.output = {{"mach", "1"}};
  d.kept = {{"rho", "1"}, {"u", "1"}, {"v", "1"}, {"p", "1"}};
  d.box = {1 - m.radius, 1 + m.radius, -m.radius, m.radius};
  d.generator = nlohmann::json{
      {"program", "lano generate airfoil"},
      {"seed", config_.seed},
      {"mach", config_.mach},
      {"alpha", config_.alpha},
      {"gamma", kGamma},
      {"displacement", config_.displacement},
      {"limiter", "van Albada"},
      {"tolerance", config_.tolerance},
      {"max_steps", config_.max_steps},
      {"wake_cells", m.wake_cells},
      {"side_cells", m.side_cells},
      {"radial_cells", m.radial_cells},
      {"radius",
       m.radius}}.dump();
  return d;
}

DesignBox AirfoilProblem::draw(std::int64_t sample, std::int64_t attempt) const {
  RandomStream stream(config_.seed, Purpose::airfoil, static_cast<std::uint64_t>(attempt),
                      static_cast<std::uint64_t>(sample));
  DesignBox box{};
  // The first stays 0: moving all eight together would only move the airfoil.
  for (std::size_t k = 1; k < box.size(); ++k) box[k] = config_.displacement * (2 * stream.uniform() - 1);
  return box;
}

EulerReport AirfoilProblem::solve(const DesignBox& box, QuadMesh& mesh, std::vector<Flow>& flow) const {
  const EulerSolver solver(airfoil_mesh(config_.mesh, box), boundary());
  mesh = solver.mesh();
  flow = start_;
  return solver.solve(flow, options());
}

bool AirfoilProblem::make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const {
  QuadMesh mesh;
  std::vector<Flow> flow;
  if (!solve(draw(sample, attempt), mesh, flow).converged) return false;
  for (std::size_t p = 0; p < flow.size(); ++p) {
    to.coordinates[2 * p] = static_cast<float>(mesh.x[p]);
    to.coordinates[2 * p + 1] = static_cast<float>(mesh.y[p]);
    to.output[p] = static_cast<float>(mach_number(flow[p]));
    const Flow& w = flow[p];
    to.kept[4 * p] = static_cast<float>(w.rho);
    to.kept[4 * p + 1] = static_cast<float>(w.u);
    to.kept[4 * p + 2] = static_cast<float>(w.v);
    to.kept[4 * p + 3] = static_cast<float>(w.p);
  }
  return true;
}

}  // namespace lano
