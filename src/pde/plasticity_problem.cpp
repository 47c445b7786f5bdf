#include "pde/plasticity_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/random.h"

namespace lano {
namespace {

constexpr std::size_t kKnots = 9;
constexpr double kMillimetre = 1e-3;  // in metres

PlasticityConfig checked(PlasticityConfig c) {
  if (c.cells_x < 2 || c.cells_y < 2 || c.frames < 2 || !(c.frame_travel > 0) || !(c.speed > 0) || !(c.depth > 0)) {
    fail_usage("generating plasticity",
               "at least 2 cells per axis, at least 2 frames, a positive travel, speed and depth",
               fmt::format("{} x {} cells, {} frames, {}, {}, {}", c.cells_x, c.cells_y, c.frames, c.frame_travel,
                           c.speed, c.depth));
  }
  return c;
}

}  // namespace

PlasticityProblem::PlasticityProblem(PlasticityConfig config) : config_(checked(config)) {}

ForgingConfig PlasticityProblem::forging() const {
  ForgingConfig f;
  f.cells_x = config_.cells_x;
  f.cells_y = config_.cells_y;
  f.material = config_.material;
  f.speed = config_.speed;  // mm/ms = m/s
  f.friction = config_.friction;
  f.hourglass = config_.hourglass;
  return f;
}

DieProfile PlasticityProblem::die(std::int64_t sample, std::int64_t attempt) const {
  RandomStream stream(config_.seed, Purpose::plasticity, static_cast<std::uint64_t>(attempt),
                      static_cast<std::uint64_t>(sample));
  std::vector<double> heights(kKnots, 0.0);
  double largest = 0;
  for (std::size_t k = 1; k + 1 < kKnots; ++k) {
    heights[k] = std::abs(stream.normal());
    largest = std::max(largest, heights[k]);
  }
  for (double& h : heights) h *= -config_.depth * kMillimetre / largest;
  const ForgingConfig block = forging();
  const DieProfile shape(block.right - block.width, block.width / static_cast<double>(kKnots - 1), heights);
  return shape.raised(block.top - shape.lowest());
}

SetDescription PlasticityProblem::describe() const {
  const ForgingConfig block = forging();
  SetDescription d;
  d.name = "plasticity";
  d.geometry = Geometry::mesh;
  d.shape = {config_.cells_x + 1, config_.cells_y + 1};
  d.coordinates = {{"x", "mm"}, {"y", "mm"}};
  d.input = {{"die", "mm"}};
  d.output = {{"x", "mm"}, {"y", "mm"}, {"u_x", "mm"}, {"u_y", "mm"}};
  d.box = {(block.right - block.width) / kMillimetre, block.right / kMillimetre,
           (block.top - block.height) / kMillimetre, block.top / kMillimetre};
  for (std::int64_t t = 0; t < config_.frames; ++t) {
    d.time.push_back(static_cast<double>(t) * config_.frame_travel / config_.speed);  // ms
  }
  d.generator = nlohmann::json{{"program", "lano generate plasticity"},
                               {"seed", config_.seed},
                               {"cells_x", config_.cells_x},
                               {"cells_y", config_.cells_y},
                               {"frames", config_.frames},
                               {"frame_travel", config_.frame_travel},
                               {"speed", config_.speed},
                               {"time_unit", "ms"},
                               {"friction", config_.friction},
                               {"knots", kKnots},
                               {"depth", config_.depth},
                               {"young", config_.material.young},
                               {"poisson", config_.material.poisson},
                               {"yield", config_.material.yield},
                               {"density", config_.material.density},
                               {"hourglass", block.hourglass},
                               {"linear_viscosity", block.linear_viscosity},
                               {"quadratic_viscosity", block.quadratic_viscosity},
                               {"time_step", block.time_step}}
                    .dump();
  return d;
}

std::vector<float> PlasticityProblem::coordinates() const {
  const ForgingSolver block(forging(), DieProfile::flat(1));
  std::vector<float> coords;
  for (std::size_t p = 0; p < block.x().size(); ++p) {
    coords.push_back(static_cast<float>(block.x()[p] / kMillimetre));
    coords.push_back(static_cast<float>(block.y()[p] / kMillimetre));
  }
  return coords;
}

bool PlasticityProblem::make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const {
  const DieProfile profile = die(sample, attempt);
  ForgingSolver block(forging(), profile);
  const std::vector<double> x0(block.x().begin(), block.x().end()), y0(block.y().begin(), block.y().end());
  for (std::size_t p = 0; p < x0.size(); ++p) to.input[p] = static_cast<float>(profile.at(x0[p]).height / kMillimetre);
  std::size_t at = 0;
  for (std::int64_t t = 0; t < config_.frames; ++t) {
    if (!block.advance_to(static_cast<double>(t) * config_.frame_travel / config_.speed * 1e-3)) return false;
    for (std::size_t p = 0; p < x0.size(); ++p) {
      const double x = block.x()[p], y = block.y()[p];
      for (const double value : {x, y, x - x0[p], y - y0[p]}) to.output[at++] = static_cast<float>(value / kMillimetre);
    }
  }
  return true;
}

}  // namespace lano
