// The airfoil benchmark: mesh coordinates -> Mach number of the steady transonic Euler flow around a NACA-0012 deformed
// by a random design box. Each sample has its own mesh; density, velocity and pressure are stored with the Mach number.
#pragma once

#include <cstdint>
#include <vector>

#include "pde/airfoil_mesh.h"
#include "pde/euler_solver.h"
#include "pde/problem.h"

namespace lano {

struct AirfoilConfig {
  std::uint64_t seed = 0;
  double mach = 0.8;
  double alpha = 0;            // incidence, degrees
  double displacement = 0.05;  // the box nodes but the first move by U[-displacement, displacement]
  double tolerance = 1e-8;     // of the residual over that of the undisturbed flow
  std::int64_t max_steps = 300;
  AirfoilMeshConfig mesh;  // the benchmark's 221 x 51 points
};

class AirfoilProblem final : public Problem {
 public:
  // Solves the undeformed airfoil once, the start of all samples; throws where that does not converge.
  explicit AirfoilProblem(AirfoilConfig config);
  SetDescription describe() const override;
  bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const override;

  DesignBox draw(std::int64_t sample, std::int64_t attempt) const;
  EulerReport solve(const DesignBox& box, QuadMesh& mesh, std::vector<Flow>& flow) const;

 private:
  EulerBoundary boundary() const;
  EulerOptions options() const;

  AirfoilConfig config_;
  std::vector<Flow> start_;  // the flow round the undeformed airfoil
};

// Air of density and pressure 1 at a Mach number and an incidence in degrees.
Flow free_stream(double mach, double alpha);

}  // namespace lano
