// A small time-dependent dataset: Burgers flow from random smooth velocities, kept at equally spaced frames. Input: the
// first velocities (for time-conditional models); output: the velocities at every frame, the first included.
#pragma once

#include "pde/burgers_solver.h"
#include "pde/problem.h"

namespace lano {

struct BurgersConfig {
  std::int64_t resolution = 64;  // points per axis in the solve
  std::int64_t stride = 2;       // points kept: 0, stride, 2 stride, ...
  std::int64_t frames = 11;      // the first at t = 0
  double frame_time = 0.05;      // between frames
  std::int64_t steps = 10;       // of the solver between frames
  double viscosity = 0.02;
  std::uint64_t seed = 0;
};

class BurgersProblem final : public Problem {
 public:
  explicit BurgersProblem(BurgersConfig config);
  SetDescription describe() const override;
  std::vector<float> coordinates() const override;
  bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const override;
  // The first velocities at n points per axis: waves of at most kWaves periods per axis, the same field at every n.
  static void initial(std::uint64_t seed, std::uint64_t sample, std::int64_t n, std::span<double> u,
                      std::span<double> v);

 private:
  BurgersConfig config_;
  std::int64_t kept_;
  BurgersSolver solver_;
};

}  // namespace lano
