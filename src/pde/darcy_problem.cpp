#include "pde/darcy_problem.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace lano {
namespace {

DarcyConfig checked(DarcyConfig config) {
  if (config.resolution < 2 || config.stride < 1 || config.stride >= config.resolution) {
    fail_usage("generating darcy", "a resolution of at least 2 and a stride of at least 1 and below it",
               fmt::format("resolution {}, stride {}", config.resolution, config.stride));
  }
  return config;
}

}  // namespace

DarcyProblem::DarcyProblem(DarcyConfig config)
    : config_(checked(config)),
      kept_((config.resolution - 1) / config.stride + 1),
      sampler_(config.resolution, config.field),
      solver_(config.resolution) {}

SetDescription DarcyProblem::describe() const {
  SetDescription d;
  d.name = "darcy";
  d.geometry = Geometry::grid;
  d.shape = {kept_, kept_};
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.input = {{"coefficient", "1"}};
  d.output = {{"pressure", "1"}};
  d.box = {0, 1, 0, 1};
  d.generator = nlohmann::json{{"program", "lano generate darcy"},
                               {"resolution", config_.resolution},
                               {"stride", config_.stride},
                               {"seed", config_.seed},
                               {"alpha", config_.field.alpha},
                               {"tau", config_.field.tau},
                               {"medium", config_.field.medium == DarcyMedium::lognormal ? "lognormal" : "two values"},
                               {"high", config_.field.high},
                               {"low", config_.field.low},
                               {"source", config_.source},
                               {"tolerance", config_.tolerance}}
                    .dump();
  return d;
}

std::vector<float> DarcyProblem::coordinates() const {
  std::vector<float> coords;
  const auto centre = [&](std::int64_t k) {
    return static_cast<float>((static_cast<double>(k * config_.stride) + 0.5) /
                              static_cast<double>(config_.resolution));
  };
  for (std::int64_t i = 0; i < kept_; ++i) {
    for (std::int64_t j = 0; j < kept_; ++j) coords.insert(coords.end(), {centre(i), centre(j)});
  }
  return coords;
}

bool DarcyProblem::make(std::int64_t sample, std::int64_t, const SampleArrays& to) const {
  const auto n = static_cast<std::size_t>(config_.resolution);
  std::vector<double> a(n * n), f(n * n, config_.source), u(n * n);
  sampler_.coefficient(config_.seed, static_cast<std::uint64_t>(sample), a);
  solver_.solve(a, f, u, config_.tolerance);
  std::size_t at = 0;
  const auto stride = static_cast<std::size_t>(config_.stride);
  for (std::size_t i = 0; i < n; i += stride) {
    for (std::size_t j = 0; j < n; j += stride, ++at) {
      to.input[at] = static_cast<float>(a[i * n + j]);
      to.output[at] = static_cast<float>(u[i * n + j]);
    }
  }
  return true;
}

}  // namespace lano
