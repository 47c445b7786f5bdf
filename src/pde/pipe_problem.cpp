#include "pde/pipe_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/random.h"

namespace lano {
namespace {

constexpr double kTolerance = 1e-10;  // of the residual

PipeConfig checked(PipeConfig config) {
  if (config.elements < 4 || config.elements % 4 != 0 || !(config.viscosity > 0)) {
    fail_usage("generating pipe", "elements a multiple of 4 and a positive viscosity",
               fmt::format("{} elements, viscosity {}", config.elements, config.viscosity));
  }
  return config;
}

// Inlet and walls are prescribed, corners included; the outlet between the walls is free.
FlowMesh mesh(std::int64_t elements) {
  FlowMesh m;
  m.nx = m.ny = elements;
  m.prescribed.assign(static_cast<std::size_t>(m.nodes()), false);
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    for (std::int64_t j = 0; j < m.columns(); ++j) {
      if (i == 0 || j == 0 || j + 1 == m.columns()) m.prescribed[static_cast<std::size_t>(m.node(i, j))] = true;
    }
  }
  return m;
}

}  // namespace

PipeCentreLine PipeCentreLine::draw(std::uint64_t seed, std::int64_t attempt, std::int64_t sample) {
  RandomStream random(seed, Purpose::pipe, static_cast<std::uint64_t>(attempt), static_cast<std::uint64_t>(sample));
  PipeCentreLine c;
  for (std::size_t k = 1; k <= kPieces; ++k) c.value[k] = kMostValue * (2 * random.uniform() - 1);
  for (double& slope : c.slope) slope = kMostSlope * (2 * random.uniform() - 1);
  return c;
}

double PipeCentreLine::at(double x) const {
  const double t = std::clamp(x / kLength, 0.0, 1.0) * kPieces;
  const std::size_t k = std::min(static_cast<std::size_t>(t), kPieces - 1);
  const double xi = t - static_cast<double>(k), rest = 1 - xi;
  return value[k] * (1 + 2 * xi) * rest * rest + value[k + 1] * (1 + 2 * rest) * xi * xi + slope[k] * xi * rest * rest -
         slope[k + 1] * rest * xi * xi;
}

PipeProblem::PipeProblem(PipeConfig config) : config_(checked(config)), solver_(mesh(config.elements)) {}

SetDescription PipeProblem::describe() const {
  SetDescription d;
  d.name = "pipe";
  d.geometry = Geometry::mesh;
  d.shape = {solver_.mesh().rows(), solver_.mesh().columns()};
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.output = {{"u", "1"}};
  d.kept = {{"v", "1"}, {"p", "1"}};
  // Between two ends c is a mean of their values plus at most 2 xi (1 - xi) <= 1/2 from the slopes: |c| <= 3/2, |y|
  // <= 2.
  d.box = {0, PipeCentreLine::kLength, -2, 2};
  d.generator = nlohmann::json{
      {"program", "lano generate pipe"},
      {"elements", config_.elements},
      {"viscosity", config_.viscosity},
      {"seed", config_.seed},
      {"length", PipeCentreLine::kLength},
      {"height", 1},
      {"pieces", PipeCentreLine::kPieces},
      {"most_value", PipeCentreLine::kMostValue},
      {"most_slope", PipeCentreLine::kMostSlope},
      {"inlet", "s(1-s)"},
      {"tolerance",
       kTolerance}}.dump();
  return d;
}

FlowCase PipeProblem::flow(const PipeCentreLine& centre) const {
  const FlowMesh& m = solver_.mesh();
  FlowCase f;
  f.viscosity = config_.viscosity;
  for (auto* field : {&f.x, &f.y, &f.u, &f.v}) field->assign(static_cast<std::size_t>(m.nodes()), 0);
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    const double x = PipeCentreLine::kLength * static_cast<double>(i) / static_cast<double>(m.rows() - 1),
                 c = centre.at(x);
    for (std::int64_t j = 0; j < m.columns(); ++j) {
      const auto node = static_cast<std::size_t>(m.node(i, j));
      const double s = static_cast<double>(j) / static_cast<double>(m.columns() - 1);
      f.x[node] = x;
      f.y[node] = c + (s - 0.5);
      if (i == 0) f.u[node] = s * (1 - s);
    }
  }
  return f;
}

bool PipeProblem::make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const {
  const FlowCase f = flow(PipeCentreLine::draw(config_.seed, attempt, sample));
  const FlowSolution solution = solver_.solve(f, kTolerance);
  if (!solution.converged) return false;
  for (std::size_t k = 0; k < solution.u.size(); ++k) {
    to.coordinates[2 * k] = static_cast<float>(f.x[k]);
    to.coordinates[2 * k + 1] = static_cast<float>(f.y[k]);
    to.output[k] = static_cast<float>(solution.u[k]);
    to.kept[2 * k] = static_cast<float>(solution.v[k]);
    to.kept[2 * k + 1] = static_cast<float>(solution.p[k]);
  }
  return true;
}

}  // namespace lano
