// The Plasticity benchmark: die profile -> motion of a forged block at 20 times. Positions in millimetres, times in
// milliseconds. The die array runs along i, that is, against x (in the public files it runs against i).
#pragma once

#include "pde/forging_solver.h"
#include "pde/problem.h"

namespace lano {

struct PlasticityConfig {
  std::uint64_t seed = 0;
  std::int64_t cells_x = 100, cells_y = 30;  // one point more per axis; fewer for tests
  std::int64_t frames = 20;                  // the first undeformed
  double frame_travel = 0.3;                 // of the die between frames, mm
  double speed = 3;                          // of the die, mm/ms
  double friction = 0.15;
  double depth = 7.5;  // of the deepest knot below the ends of the die, mm
  double hourglass = 0.002;
  PlaneMaterial material;
};

class PlasticityProblem final : public Problem {
 public:
  explicit PlasticityProblem(PlasticityConfig config);
  SetDescription describe() const override;
  std::vector<float> coordinates() const override;
  bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const override;

  // The die of a sample at time 0, in metres: nine knots over the width of the block, the ends `depth` above the
  // lowest, those between at depth |n|/max|n| of independent normal n; it touches the block.
  DieProfile die(std::int64_t sample, std::int64_t attempt) const;
  ForgingConfig forging() const;  // the solver's settings

 private:
  PlasticityConfig config_;
};

}  // namespace lano
