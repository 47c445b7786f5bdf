// The Darcy benchmark: coefficient -> pressure, solved on n x n cells and kept at every stride-th cell centre.
#pragma once

#include "pde/darcy_field.h"
#include "pde/darcy_solver.h"
#include "pde/problem.h"

namespace lano {

struct DarcyConfig {
  std::int64_t resolution = 421;  // cells per axis in the solve
  std::int64_t stride = 5;        // points kept: 0, stride, 2 stride, ...; 421 / 5 -> 85
  std::uint64_t seed = 0;
  DarcyFieldConfig field;
  double source = 1;         // f
  double tolerance = 1e-10;  // of the conjugate gradients
};

class DarcyProblem final : public Problem {
 public:
  explicit DarcyProblem(DarcyConfig config);
  SetDescription describe() const override;
  std::vector<float> coordinates() const override;
  bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const override;

 private:
  DarcyConfig config_;
  std::int64_t kept_;  // points per axis
  DarcyFieldSampler sampler_;
  DarcySolver solver_;
};

}  // namespace lano
