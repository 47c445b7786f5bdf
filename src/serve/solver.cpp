#include "serve/solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "pde/burgers_solver.h"
#include "pde/darcy_solver.h"
#include "pde/elasticity_problem.h"
#include "pde/navier_stokes_problem.h"
#include "pde/pipe_problem.h"
#include "serve/http_error.h"

namespace lano::serve {
namespace {

using nlohmann::json;
constexpr const char* kSolving = "solving exactly";

// A model file is untrusted: what its generator says is bounded before a solver is made of it.
double number_of(const json& problem, const char* key, double fallback, double least, double most) {
  const double value = problem.contains(key) && problem[key].is_number() ? problem[key].get<double>() : fallback;
  if (!(value >= least && value <= most))
    refuse(422, kSolving, fmt::format("a '{}' from {:g} to {:g} in the model's problem", key, least, most),
           fmt::format("{:g}", value));
  return value;
}
std::int64_t whole_of(const json& problem, const char* key, std::int64_t fallback, double least, double most) {
  return static_cast<std::int64_t>(number_of(problem, key, static_cast<double>(fallback), least, most));
}

std::vector<float> take(FieldsBody& body, const char* name, std::size_t count, const std::string& shape) {
  const auto at = body.arrays.find(name);
  if (at == body.arrays.end())
    refuse_plainly(422, kSolving, fmt::format("'{}', {} numbers, is missing: {}", name, count, shape));
  if (at->second.values.size() != count)
    refuse(422, kSolving, fmt::format("'{}' with {} numbers: {}", name, count, shape),
           std::to_string(at->second.values.size()));
  return std::move(at->second.values);
}

// Of a grid of `kept` points per axis, every stride-th of n.
struct StridedGrid {
  std::int64_t n, stride, kept;
};

StridedGrid grid_of(const json& problem, const SetDescription& set, std::int64_t resolution, bool cells) {
  StridedGrid g{whole_of(problem, "resolution", resolution, 4, 2048), whole_of(problem, "stride", 1, 1, 1024), 0};
  g.kept = cells ? (g.n - 1) / g.stride + 1 : g.n / g.stride;
  if (set.shape != Shape{g.kept, g.kept} || (!cells && g.n % g.stride != 0))
    refuse(422, kSolving, fmt::format("a model of {}x{} points, as its problem says", g.kept, g.kept),
           shape_text(set.shape));
  return g;
}

Solved solve_darcy(FieldsBody& body, const json& problem, const SetDescription& set) {
  const StridedGrid g = grid_of(problem, set, 421, true);
  const auto n = static_cast<std::size_t>(g.n), kept = static_cast<std::size_t>(g.kept);
  const std::vector<float> given = take(body, "input", kept * kept, shape_text(set.shape));
  if (*std::min_element(given.begin(), given.end()) <= 0)
    refuse_plainly(422, kSolving, "the coefficient must be positive everywhere");
  const auto nearest = [&](std::size_t i) {
    return std::min(kept - 1, (i + static_cast<std::size_t>(g.stride) / 2) / static_cast<std::size_t>(g.stride));
  };
  std::vector<double> a(n * n), f(n * n, number_of(problem, "source", 1, -1e9, 1e9)), u(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) a[i * n + j] = given[nearest(i) * kept + nearest(j)];
  DarcySolver(g.n).solve(a, f, u, 1e-10);
  Solved solved{{g.kept, g.kept, 1}, {}, {}, {}, {}, 0};
  const auto stride = static_cast<std::size_t>(g.stride);
  for (std::size_t i = 0; i < n; i += stride)
    for (std::size_t j = 0; j < n; j += stride) solved.values.push_back(static_cast<float>(u[i * n + j]));
  return solved;
}

// A periodic field on `kept` points per axis, every stride-th of n: the trigonometric polynomial through them at all n.
std::vector<double> refined(const std::vector<double>& field, const StridedGrid& g) {
  const auto n = static_cast<std::size_t>(g.n), m = static_cast<std::size_t>(g.kept);
  if (n == m) return field;
  std::vector<double> kernel(n);  // the polynomial that is 1 at point 0 and 0 at the other kept ones
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 1;
    for (std::size_t k = 1; 2 * k <= m; ++k) {
      const double wave = std::cos(2 * std::numbers::pi * static_cast<double>(k * i) / static_cast<double>(n));
      sum += (2 * k == m ? 1 : 2) * wave;
    }
    kernel[i] = sum / static_cast<double>(m);
  }
  const std::size_t stride = n / m;
  const auto weight = [&](std::size_t i, std::size_t k) { return kernel[(i + n - k * stride) % n]; };
  std::vector<double> rows(n * m, 0.0), all(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t j = 0; j < m; ++j) rows[i * m + j] += weight(i, k) * field[k * m + j];
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < m; ++k) all[i * n + j] += weight(j, k) * rows[i * m + k];
  return all;
}

std::vector<double> channel(const std::vector<float>& values, std::size_t channels, std::size_t c) {
  std::vector<double> one;
  for (std::size_t i = c; i < values.size(); i += channels) one.push_back(values[i]);
  return one;
}

void keep_frame(const std::vector<const std::vector<double>*>& fields, const StridedGrid& g, std::vector<float>& to) {
  const auto n = static_cast<std::size_t>(g.n), stride = static_cast<std::size_t>(g.stride);
  for (std::size_t i = 0; i < n; i += stride)
    for (std::size_t j = 0; j < n; j += stride)
      for (const auto* field : fields) to.push_back(static_cast<float>((*field)[i * n + j]));
}

Solved solve_burgers(FieldsBody& body, const json& problem, const SetDescription& set) {
  const StridedGrid g = grid_of(problem, set, 64, false);
  const auto frames = static_cast<std::int64_t>(set.time.size());
  const auto points = static_cast<std::size_t>(g.kept * g.kept);
  const char* const name = body.arrays.contains("input") ? "input" : "state";
  const std::vector<float> given = take(body, name, 2 * points, shape_text(set.shape) + " and 2 velocities");
  std::vector<double> u = refined(channel(given, 2, 0), g), v = refined(channel(given, 2, 1), g);
  const BurgersSolver solver(g.n, number_of(problem, "viscosity", 0.02, 1e-6, 1e3));
  const std::int64_t steps = whole_of(problem, "steps", 10, 1, 1000);
  Solved solved{{frames, g.kept, g.kept, 2}, {}, set.time, {}, {}, 0};
  for (std::int64_t t = 0; t < frames; ++t) {
    if (t > 0) {
      const auto at = static_cast<std::size_t>(t);
      solver.advance(u, v, set.time[at] - set.time[at - 1], steps);
    }
    keep_frame({&u, &v}, g, solved.values);
  }
  return solved;
}

Solved solve_navier_stokes(FieldsBody& body, const json& problem, const ServedModel& model) {
  const SetDescription& set = model.op.set();
  const StridedGrid g = grid_of(problem, set, 128, false);
  const auto points = static_cast<std::size_t>(g.kept * g.kept);
  const std::int64_t given_frames = model.op.state_frames();
  if (given_frames < 1) refuse_plainly(422, kSolving, "this model does not step in time");
  const std::vector<float> given =
      take(body, "state", points * static_cast<std::size_t>(given_frames), "the given frames");
  Solved solved{{}, given, set.initial_time, {}, {}, 0};
  solved.times.insert(solved.times.end(), set.time.begin(), set.time.end());
  const auto last = given.end() - static_cast<std::ptrdiff_t>(points);
  std::vector<double> w = refined({last, given.end()}, g);
  const NavierStokesSolver solver(g.n, number_of(problem, "viscosity", 1e-5, 1e-9, 1e3),
                                  NavierStokesProblem::forcing(g.n));
  for (auto t = static_cast<std::size_t>(given_frames); t < solved.times.size(); ++t) {
    solver.advance(w, solved.times[t] - solved.times[t - 1], NavierStokesSolver::StepRule{});
    keep_frame({&w}, g, solved.values);
  }
  solved.shape = {static_cast<std::int64_t>(solved.times.size()), g.kept, g.kept, 1};
  return solved;
}

Solved solve_elasticity(FieldsBody& body, const json& problem, const SetDescription&) {
  const auto at = body.arrays.find("radius");
  const std::size_t handles = at == body.arrays.end() ? 0 : at->second.values.size();
  if (handles < 3 || handles > 63 || handles % 2 == 0)
    refuse(422, kSolving, "'radius' with an odd number of radii, 3 to 63", std::to_string(handles));
  const std::vector<float> r = at->second.values;
  const auto radius = [&](double phi) {
    double sum = 0;
    for (std::size_t k = 0; k < handles; ++k) {
      const double from = phi - 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(handles);
      double weight = 1;
      for (std::size_t wave = 1; 2 * wave < handles; ++wave) weight += 2 * std::cos(static_cast<double>(wave) * from);
      sum += weight / static_cast<double>(handles) * static_cast<double>(r[k]);
    }
    return sum;
  };
  for (int i = 0; i < 720; ++i) {
    const double now = radius(std::numbers::pi * i / 360);
    if (!(now > 0.02 && now < 0.49))
      refuse(422, kSolving, "a cavity whose radius lies between 0.02 and 0.49", fmt::format("{:.3f}", now));
  }
  ElasticityConfig config;
  if (problem.contains("elements") && problem["elements"].is_array() && problem["elements"].size() == 2) {
    config.around = whole_of({{"around", problem["elements"][0]}}, "around", 36, 8, 400);
    config.across = whole_of({{"across", problem["elements"][1]}}, "across", 3, 1, 40);
  }
  config.traction = number_of(problem, "traction", 100, -1e9, 1e9);
  config.material = {number_of(problem, "c1", config.material.c1, 1, 1e15),
                     number_of(problem, "c2", config.material.c2, 0, 1e15)};
  const CavityStress stress = ElasticityProblem(config).stress_around(radius);
  if (!stress.converged) fail_plainly(kSolving, "the solver did not converge", "choose a rounder cavity");
  Solved solved;
  for (std::size_t i = 0; i < stress.values.places.size(); ++i) {
    solved.coordinates.push_back(static_cast<float>(stress.values.places[i][0]));
    solved.coordinates.push_back(static_cast<float>(stress.values.places[i][1]));
    solved.values.push_back(static_cast<float>(stress.values.von_mises[i]));
  }
  const auto points = static_cast<std::int64_t>(solved.values.size());
  solved.shape = {points, 1};
  solved.coordinates_shape = {points, 2};
  return solved;
}

Solved solve_pipe(FieldsBody& body, const json& problem, const SetDescription&) {
  PipeCentreLine centre;
  const std::vector<float> value = take(body, "value", centre.value.size(), "the heights of the centre line"),
                           slope = take(body, "slope", centre.slope.size(), "its slopes along a piece");
  for (std::size_t k = 0; k < value.size(); ++k) {
    if (std::abs(value[k]) > 2 || std::abs(slope[k]) > 4)
      refuse(422, kSolving, "heights within 2 and slopes within 4", fmt::format("{} and {}", value[k], slope[k]));
    centre.value[k] = value[k];
    centre.slope[k] = slope[k];
  }
  PipeConfig config;
  config.elements = whole_of(problem, "elements", config.elements, 4, 128);
  config.viscosity = number_of(problem, "viscosity", config.viscosity, 1e-4, 1e3);
  const std::int64_t stride = whole_of(problem, "stride", 1, 1, 64);
  const PipeProblem pipe(config);
  const FlowCase flow = pipe.flow(centre);
  const FlowSolution solution = pipe.solver().solve(flow, 1e-10);
  if (!solution.converged) fail_plainly(kSolving, "the solver did not converge", "choose a pipe with gentler bends");
  const FlowMesh& mesh = pipe.solver().mesh();
  Solved solved;
  for (std::int64_t i = 0; i < mesh.rows(); i += stride) {
    for (std::int64_t j = 0; j < mesh.columns(); j += stride) {
      const auto node = static_cast<std::size_t>(mesh.node(i, j));
      solved.coordinates.push_back(static_cast<float>(flow.x[node]));
      solved.coordinates.push_back(static_cast<float>(flow.y[node]));
      solved.values.push_back(static_cast<float>(solution.u[node]));
    }
  }
  const Shape kept{(mesh.rows() - 1) / stride + 1, (mesh.columns() - 1) / stride + 1};
  solved.shape = {kept[0], kept[1], 1};
  solved.coordinates_shape = {kept[0], kept[1], 2};
  return solved;
}

}  // namespace

std::string solver_takes(const json& about) {
  const json& problem = about.at("problem");
  if (!problem.is_object()) return {};
  const std::string kind = problem.value("kind", "");
  if (kind == "darcy") return "input";
  // Of a steady model the times are channels, which the solver's frames are not.
  if (kind == "burgers" && about.at("task") != "steady") return "input";
  if (kind == "navier-stokes" && about.at("task") == "autoregressive") return "state";
  if (kind == "elasticity") return "radius";
  if (kind == "pipe") return "value";
  return {};
}

Solved solve_exactly(FieldsBody body, const ServedModel& model) {
  const auto start = std::chrono::steady_clock::now();
  const std::string takes = solver_takes(model.about);
  const json& problem = model.about.at("problem");
  const SetDescription& set = model.op.set();
  if (takes.empty())
    refuse_plainly(422, kSolving, "there is no built-in solver for the problem of this model",
                   "darcy, burgers, navier-stokes, elasticity and pipe have one");
  if (auto lone = body.arrays.extract(""); !lone.empty()) {
    lone.key() = takes;
    body.arrays.insert(std::move(lone));
  }
  const std::string kind = problem.at("kind");
  Solved solved = kind == "darcy"           ? solve_darcy(body, problem, set)
                  : kind == "burgers"       ? solve_burgers(body, problem, set)
                  : kind == "navier-stokes" ? solve_navier_stokes(body, problem, model)
                  : kind == "elasticity"    ? solve_elasticity(body, problem, set)
                                            : solve_pipe(body, problem, set);
  solved.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return solved;
}

}  // namespace lano::serve
