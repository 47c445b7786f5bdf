// Incompressible flow in two dimensions, periodic on the unit square, as vorticity w and streamfunction psi:
//   w_t + u . grad w = nu lap w + f,   -lap psi = w,   u = (psi_y, -psi_x).
// Fourier pseudo-spectral in space with the 2/3 rule against aliasing; in time classical Runge-Kutta of order 4 on the
// flow with viscosity integrated exactly (integrating factor), so that transport alone limits the step. Points
// (i/n, j/n), fields [n, n] row-major, the mean of w and f zero: a periodic velocity has no other. A solver is shared
// by threads; each call uses its own buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace lano {

class NavierStokesSolver {
 public:
  // forcing: f at the points, constant in time; empty: none.
  NavierStokesSolver(std::int64_t n, double viscosity, std::span<const double> forcing = {});
  ~NavierStokesSolver();

  // How long a step may be: courant / (n max(|u| + |v|)), and `longest`. On the modes that the 2/3 rule keeps RK4 is
  // stable up to a Courant number of 1.35.
  struct StepRule {
    double courant = 1, longest = 0.05;
  };

  // Advances the vorticity by `time` in `steps` equal steps. Fails where the flow is no longer finite.
  void advance(std::span<double> vorticity, double time, std::int64_t steps) const;
  // The same in steps by the rule, from the velocities at the beginning of each; gives their number.
  std::int64_t advance(std::span<double> vorticity, double time, const StepRule& rule) const;
  // u and v of a vorticity.
  void velocity(std::span<const double> vorticity, std::span<double> u, std::span<double> v) const;

 private:
  struct Spectral;
  class Flow;
  std::unique_ptr<Spectral> spectral_;
};

}  // namespace lano
