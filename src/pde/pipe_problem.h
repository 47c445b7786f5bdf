// The pipe benchmark: the shape of a curved channel -> the horizontal velocity of the steady flow through it.
// A channel of length 10 and height 1, its centre line drawn at random: four cubic Hermite pieces with common values
// and slopes where they meet. In comes u = (s (1 - s), 0), s in [0, 1] from wall to wall; no slip at the walls, nothing
// prescribed at the outlet. A sample is its mesh, x uniform and y = c(x) + s - 1/2, and the velocity and pressure on
// it.
#pragma once

#include <array>

#include "pde/problem.h"
#include "pde/taylor_hood.h"

namespace lano {

struct PipeConfig {
  std::int64_t elements = 64;  // per axis; 64 -> 129 x 129 nodes. A multiple of 4: elements end where the pieces do
  double viscosity = 0.005;
  std::uint64_t seed = 0;
};

// The centre line c(x), 0 <= x <= 10.
struct PipeCentreLine {
  static constexpr std::size_t kPieces = 4;
  static constexpr double kLength = 10;
  static constexpr double kMostValue = 1;  // values at the ends of pieces are uniform on [-1, 1], the first is 0
  static constexpr double kMostSlope = 2;  // dc/dxi, xi in [0, 1] along a piece, is uniform on [-2, 2] at all of them

  std::array<double, kPieces + 1> value{}, slope{};

  static PipeCentreLine draw(std::uint64_t seed, std::int64_t attempt, std::int64_t sample);
  double at(double x) const;
};

class PipeProblem final : public Problem {
 public:
  explicit PipeProblem(PipeConfig config);
  SetDescription describe() const override;
  bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const override;

  FlowCase flow(const PipeCentreLine& centre) const;  // mesh and boundary values
  const TaylorHoodSolver& solver() const { return solver_; }

 private:
  PipeConfig config_;
  TaylorHoodSolver solver_;
};

}  // namespace lano
