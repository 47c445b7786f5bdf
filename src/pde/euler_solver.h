// Steady 2-D compressible Euler flow on a structured mesh of quadrilaterals, unknowns at its points: vertex-centred
// finite volumes on the median dual, MUSCL from least-squares gradients, Roe flux, slip walls imposed weakly, far field
// by the Roe flux against a given outer state. A solver holds the mesh's metrics, is constant and may be shared by
// threads; solve() works on one thread and is deterministic. Points of a wake cut share their unknowns.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "pde/euler_flux.h"
#include "pde/quad_mesh.h"

namespace lano {

enum class Limiter { none, van_albada, minmod };

// Which sides are walls; on a C-mesh j = 0 is wall along the airfoil and cut along the wake. All else sees outer(x, y).
struct EulerBoundary {
  bool wall_inner = true;   // j = 0
  bool wall_outer = false;  // j = nj - 1
  std::function<Flow(double x, double y)> outer;
};

struct EulerOptions {
  Limiter limiter = Limiter::van_albada;
  double tolerance = 1e-8;  // of the residual over that of the reference flow
  int max_steps = 300;      // pseudo-time steps, each one linear solve
  double first_cfl = 10;
  bool first_order = false;  // no reconstruction
};

struct EulerReport {
  bool converged = false;
  double reference = 0;           // residual of the outer flow put everywhere
  std::vector<double> residuals;  // over the reference: of the start, then after each step
  int linear_iterations = 0;
  int steps() const { return static_cast<int>(residuals.size()) - 1; }
};

class EulerSolver {
 public:
  EulerSolver(QuadMesh mesh, EulerBoundary boundary);

  const QuadMesh& mesh() const { return mesh_; }
  std::vector<Flow> outer_flow() const;  // the outer state at every point: [ni * nj]

  // From the start in `flow` [ni * nj] to steady state. Not converged: flow holds the last state and the report says
  // so.
  EulerReport solve(std::span<Flow> flow, const EulerOptions& options) const;

  // What flows out of each dual cell, [ni * nj]; zero in steady state.
  std::vector<Vec4> residual(std::span<const Flow> flow, Limiter limiter) const;

  // Pressure force on the inner wall; lift is y, drag x at zero incidence.
  std::pair<double, double> wall_force(std::span<const Flow> flow) const;

 private:
  struct Edge {
    std::size_t a, b;
    double nx, ny;          // dual face from a to b
    double dx, dy;          // b - a
    double ax, ay, bx, by;  // weights of (W_b - W_a) in the gradients at a and b
  };
  struct Face {
    std::size_t node;
    double nx, ny;  // outwards
    bool wall, inner;
    Flow outer;
  };
  struct Work;

  void number_nodes();
  void build_metrics(const EulerBoundary& boundary);
  void weigh_gradients();
  std::vector<Vec4> gather(std::span<const Flow> flow) const;
  void evaluate(std::span<const Vec4> state, Limiter limiter, bool first_order, Work& work, std::span<Vec4> out) const;
  void assemble(std::span<const Vec4> state, double cfl, Work& work) const;
  int solve_linear(std::span<const Vec4> state, std::span<const Vec4> residual, const EulerOptions& options, Work& work,
                   std::span<Vec4> step) const;

  QuadMesh mesh_;
  std::vector<std::size_t> node_of_;  // unknown of a mesh point
  std::size_t nodes_ = 0;
  std::vector<double> x_, y_;  // of the nodes
  std::vector<Edge> edges_;
  std::vector<Face> faces_;
  std::vector<Flow> outer_;  // [nodes]
};

}  // namespace lano
