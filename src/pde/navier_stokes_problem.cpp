#include "pde/navier_stokes_problem.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/error.h"

namespace lano {
namespace {

NavierStokesConfig checked(NavierStokesConfig c) {
  if (c.resolution < 8 || c.resolution > 4096 || c.stride < 1 || c.resolution % c.stride != 0 || c.given < 1 ||
      c.frames <= c.given) {
    fail_usage(
        "generating navier-stokes",
        fmt::format("a resolution of 8 to 4096 that the stride divides, and more than the {} frames given", c.given),
        fmt::format("resolution {}, stride {}, frames {}", c.resolution, c.stride, c.frames));
  }
  return c;
}

}  // namespace

NavierStokesProblem::NavierStokesProblem(NavierStokesConfig config)
    : config_(checked(config)),
      kept_(config.resolution / config.stride),
      solver_(config.resolution, config.viscosity, forcing(config.resolution)),
      sampler_(config.resolution, config.scale) {}

std::vector<double> NavierStokesProblem::forcing(std::int64_t n) {
  std::vector<double> f;
  f.reserve(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double phase = 2 * std::numbers::pi * static_cast<double>(i + j) / static_cast<double>(n);
      f.push_back(0.1 * (std::sin(phase) + std::cos(phase)));
    }
  }
  return f;
}

SetDescription NavierStokesProblem::describe() const {
  SetDescription d;
  d.name = "navier-stokes";
  d.geometry = Geometry::grid;
  d.shape = {kept_, kept_};
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.output = {{"w", "1"}};
  d.box = {0, 1, 0, 1};
  d.periodic = {true, true};
  for (std::int64_t frame = 1; frame <= config_.frames; ++frame) {
    const auto time = static_cast<double>(frame);
    if (frame <= config_.given) {
      d.initial_time.push_back(time);
      d.input.push_back({fmt::format("w at t={:g}", time), "1"});
    } else {
      d.time.push_back(time);
    }
  }
  d.generator = nlohmann::json{{"program", "lano generate navier-stokes"},
                               {"resolution", config_.resolution},
                               {"stride", config_.stride},
                               {"frames", config_.frames},
                               {"courant", config_.rule.courant},
                               {"longest_step", config_.rule.longest},
                               {"viscosity", config_.viscosity},
                               {"seed", config_.seed},
                               {"covariance", config_.scale == VorticityScale::printed ? "printed" : "program"}}
                    .dump();
  return d;
}

std::vector<float> NavierStokesProblem::coordinates() const {
  std::vector<float> coords;
  for (std::int64_t i = 0; i < kept_; ++i) {
    for (std::int64_t j = 0; j < kept_; ++j) {
      coords.push_back(static_cast<float>(i) / static_cast<float>(kept_));
      coords.push_back(static_cast<float>(j) / static_cast<float>(kept_));
    }
  }
  return coords;
}

bool NavierStokesProblem::make(std::int64_t sample, std::int64_t, const SampleArrays& to) const {
  const auto n = static_cast<std::size_t>(config_.resolution), stride = static_cast<std::size_t>(config_.stride),
             kept = static_cast<std::size_t>(kept_), given = static_cast<std::size_t>(config_.given);
  std::vector<double> w(n * n);
  sampler_.sample(config_.seed, static_cast<std::uint64_t>(sample), w);
  for (std::size_t frame = 0; frame < static_cast<std::size_t>(config_.frames); ++frame) {
    solver_.advance(w, 1, config_.rule);
    for (std::size_t i = 0; i < kept; ++i) {
      for (std::size_t j = 0; j < kept; ++j) {
        const auto value = static_cast<float>(w[i * stride * n + j * stride]);
        const std::size_t point = i * kept + j;
        if (frame < given) {
          to.input[point * given + frame] = value;
        } else {
          to.output[(frame - given) * kept * kept + point] = value;
        }
      }
    }
  }
  return true;
}

}  // namespace lano
