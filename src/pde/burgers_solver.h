// Viscous Burgers flow in two dimensions, periodic on the unit square:
//   u_t + u u_x + v u_y = nu (u_xx + u_yy),   v_t + u v_x + v v_y = nu (v_xx + v_yy).
// Fourier pseudo-spectral in space with the 2/3 rule against aliasing; in time classical Runge-Kutta of order 4 on the
// flow with diffusion integrated exactly (integrating factor), so viscosity does not limit the step. Points (i/n, j/n),
// fields [n, n] row-major. A solver is shared by threads; each call uses its own buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace lano {

class BurgersSolver {
 public:
  BurgersSolver(std::int64_t n, double viscosity);
  ~BurgersSolver();

  // Advances u and v by `time` in `steps` equal steps. Fails where the flow is no longer finite.
  void advance(std::span<double> u, std::span<double> v, double time, std::int64_t steps) const;

 private:
  struct Spectral;
  std::unique_ptr<Spectral> spectral_;
};

}  // namespace lano
