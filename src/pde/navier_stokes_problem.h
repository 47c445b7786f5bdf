// The field's benchmark of decaying and forced flow on a torus: ten frames of vorticity, t = 1 ... 10, are given and
// the next ten are predicted. Forcing f = 0.1 (sin(2 pi (x+y)) + cos(2 pi (x+y))), random initial vorticity at t = 0
// (vorticity_field.h). Input: the given frames, as `lano import --initial 10` stores them; output: those that follow.
#pragma once

#include "pde/navier_stokes_solver.h"
#include "pde/problem.h"
#include "pde/vorticity_field.h"

namespace lano {

struct NavierStokesConfig {
  std::int64_t resolution = 128;  // points per axis in the solve
  std::int64_t stride = 2;        // points kept: 0, stride, 2 stride, ...
  std::int64_t frames = 20;       // at t = 1, 2, ...
  std::int64_t given = 10;        // of them
  double viscosity = 1e-5;
  VorticityScale scale = VorticityScale::printed;
  NavierStokesSolver::StepRule rule;
  std::uint64_t seed = 0;
};

class NavierStokesProblem final : public Problem {
 public:
  explicit NavierStokesProblem(NavierStokesConfig config);
  SetDescription describe() const override;
  std::vector<float> coordinates() const override;
  bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const override;
  // f at the points of a grid of n points per axis.
  static std::vector<double> forcing(std::int64_t n);

 private:
  NavierStokesConfig config_;
  std::int64_t kept_;
  NavierStokesSolver solver_;
  VorticityFieldSampler sampler_;
};

}  // namespace lano
