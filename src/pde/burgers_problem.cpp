#include "pde/burgers_problem.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/error.h"
#include "core/random.h"

namespace lano {
namespace {

constexpr std::int64_t kWaves = 4;

BurgersConfig checked(BurgersConfig c) {
  if (c.resolution < 8 || c.stride < 1 || c.resolution % c.stride != 0 || c.frames < 2 || c.steps < 1 ||
      !(c.frame_time > 0)) {
    fail_usage("generating burgers", "a resolution of at least 8 that the stride divides, at least 2 frames and 1 step",
               fmt::format("resolution {}, stride {}, frames {}", c.resolution, c.stride, c.frames));
  }
  return c;
}

}  // namespace

BurgersProblem::BurgersProblem(BurgersConfig config)
    : config_(checked(config)),
      kept_(config.resolution / config.stride),
      solver_(config.resolution, config.viscosity) {}

SetDescription BurgersProblem::describe() const {
  SetDescription d;
  d.name = "burgers";
  d.geometry = Geometry::grid;
  d.shape = {kept_, kept_};
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.input = {{"u at t=0", "1"}, {"v at t=0", "1"}};
  d.output = {{"u", "1"}, {"v", "1"}};
  d.box = {0, 1, 0, 1};
  d.periodic = {true, true};
  for (std::int64_t t = 0; t < config_.frames; ++t) d.time.push_back(static_cast<double>(t) * config_.frame_time);
  d.generator = nlohmann::json{{"program", "lano generate burgers"}, {"resolution", config_.resolution},
                               {"stride", config_.stride},           {"frames", config_.frames},
                               {"frame_time", config_.frame_time},   {"steps", config_.steps},
                               {"viscosity", config_.viscosity},     {"seed", config_.seed}}
                    .dump();
  return d;
}

std::vector<float> BurgersProblem::coordinates() const {
  std::vector<float> coords;
  for (std::int64_t i = 0; i < kept_; ++i) {
    for (std::int64_t j = 0; j < kept_; ++j) {
      coords.push_back(static_cast<float>(i) / static_cast<float>(kept_));
      coords.push_back(static_cast<float>(j) / static_cast<float>(kept_));
    }
  }
  return coords;
}

void BurgersProblem::initial(std::uint64_t seed, std::uint64_t sample, std::int64_t n, std::span<double> u,
                             std::span<double> v) {
  RandomStream stream(seed, Purpose::burgers_field, 0, sample);
  const auto size = static_cast<std::size_t>(n);
  for (const std::span<double> field : {u, v}) {
    std::fill(field.begin(), field.end(), 0.0);
    // Half of the wave vectors suffices: k and -k are the same pair of sine and cosine.
    for (std::int64_t k1 = 0; k1 <= kWaves; ++k1) {
      for (std::int64_t k2 = k1 == 0 ? 1 : -kWaves; k2 <= kWaves; ++k2) {
        const double amplitude = 0.6 / (1 + static_cast<double>(k1 * k1 + k2 * k2));
        const double a = amplitude * stream.normal(), b = amplitude * stream.normal();
        for (std::size_t i = 0; i < size; ++i) {
          for (std::size_t j = 0; j < size; ++j) {
            const double phase =
                2 * std::numbers::pi *
                (static_cast<double>(k1) * static_cast<double>(i) + static_cast<double>(k2) * static_cast<double>(j)) /
                static_cast<double>(n);
            field[i * size + j] += a * std::cos(phase) + b * std::sin(phase);
          }
        }
      }
    }
  }
}

bool BurgersProblem::make(std::int64_t sample, std::int64_t, const SampleArrays& to) const {
  const auto n = static_cast<std::size_t>(config_.resolution), stride = static_cast<std::size_t>(config_.stride);
  std::vector<double> u(n * n), v(n * n);
  initial(config_.seed, static_cast<std::uint64_t>(sample), config_.resolution, u, v);
  const std::size_t frame_size = static_cast<std::size_t>(kept_ * kept_) * 2;
  for (std::int64_t t = 0; t < config_.frames; ++t) {
    if (t > 0) solver_.advance(u, v, config_.frame_time, config_.steps);
    std::size_t at = static_cast<std::size_t>(t) * frame_size;
    for (std::size_t i = 0; i < n; i += stride) {
      for (std::size_t j = 0; j < n; j += stride) {
        to.output[at++] = static_cast<float>(u[i * n + j]);
        to.output[at++] = static_cast<float>(v[i * n + j]);
      }
    }
    if (t == 0)
      std::copy(to.output.begin(), to.output.begin() + static_cast<std::ptrdiff_t>(frame_size), to.input.begin());
  }
  return true;
}

}  // namespace lano
