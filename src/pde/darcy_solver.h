// Darcy flow: -div(a grad u) = f on the unit square, u = 0 on the boundary.
// Finite volumes on n x n cells, unknowns at cell centres ((i+1/2)/n, (j+1/2)/n), harmonic face means of a, half-cell
// Dirichlet boundaries: second order for smooth a, conservative across jumps. Conjugate gradients preconditioned by the
// exact inverse of the constant-coefficient operator (fast sine transforms): the condition number is at most max a /
// min a, whatever n, so the iteration count does not grow with resolution. Arrays are [n, n], row-major.
// A solver is shared by threads; each call uses its own buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace lano {

class DarcySolver {
 public:
  explicit DarcySolver(std::int64_t n);
  ~DarcySolver();

  struct Report {
    int iterations = 0;
    double residual = 0;  // ||f - A u|| / ||f|| at the end, recomputed
  };

  // Fails where a is not positive and finite or `tolerance` is not reached in 500 iterations.
  Report solve(std::span<const double> a, std::span<const double> f, std::span<double> u,
               double tolerance = 1e-10) const;

  // out = A u, the discrete operator itself (for residuals and tests).
  void apply(std::span<const double> a, std::span<const double> u, std::span<double> out) const;

 private:
  struct Poisson;
  std::int64_t n_;
  std::unique_ptr<Poisson> poisson_;
};

}  // namespace lano
