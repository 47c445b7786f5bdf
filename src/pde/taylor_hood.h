// Steady incompressible Navier-Stokes in the plane: (u . grad) u - nu lap u + grad p = f, div u = 0.
// Taylor-Hood elements (velocity Q2, pressure continuous Q1; Taylor, Hood: "A numerical solution of the Navier-Stokes
// equations using the finite element technique", 1973) on a structured mesh of nx x ny isoparametric quadrilaterals:
// order 3 in the velocity and 2 in the pressure, measured in L2. Nodes are [2 nx + 1, 2 ny + 1], the last index
// fastest; those with two even indices also carry a pressure. Boundary nodes have a prescribed velocity or are free.
// Where they are free nu du/dn = p n holds ("do nothing"), which fixes the pressure; without a free node one pressure
// must be pinned. A solver holds what depends on the mesh's connections alone and is shared by threads; a solve runs on
// one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace lano {

// The connections: which nodes are unknown.
struct FlowMesh {
  std::int64_t nx = 0, ny = 0;         // elements per axis
  std::vector<bool> prescribed;        // [nodes]; the velocity there is given
  std::optional<std::int64_t> pinned;  // the node of [nx + 1, ny + 1] whose pressure is given

  std::int64_t rows() const { return 2 * nx + 1; }
  std::int64_t columns() const { return 2 * ny + 1; }
  std::int64_t nodes() const { return rows() * columns(); }
  std::int64_t node(std::int64_t i, std::int64_t j) const { return i * columns() + j; }
};

// The numbers of one flow.
struct FlowCase {
  std::vector<double> x, y;  // [nodes]
  std::vector<double> u, v;  // [nodes], read at prescribed nodes
  double viscosity = 1;
  double pinned_pressure = 0;
  std::function<std::array<double, 2>(double x, double y)> force;  // f; empty is zero
};

struct FlowSolution {
  std::vector<double> u, v, p;  // [nodes]; p is Q1, interpolated where a node has no pressure unknown
  bool converged = false;
  int iterations = 0;      // linear solves after the Stokes flow
  int factorisations = 0;  // of the matrix, the one of the Stokes flow included
  double residual = 0;     // the last, relative to that of the prescribed values with zero elsewhere
};

class TaylorHoodSolver {
 public:
  explicit TaylorHoodSolver(FlowMesh mesh);
  ~TaylorHoodSolver();

  // Newton's method from the Stokes flow. Where it does not reach `tolerance` the result says so; fails on a mesh that
  // folds over and on values of the wrong size.
  FlowSolution solve(const FlowCase& flow, double tolerance = 1e-10, int most_iterations = 40) const;

  const FlowMesh& mesh() const { return mesh_; }

 private:
  struct Pattern;
  struct Newton;
  FlowMesh mesh_;
  std::unique_ptr<Pattern> pattern_;
};

}  // namespace lano
