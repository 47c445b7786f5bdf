// Plane-stress finite elasticity of an incompressible Rivlin-Saunders solid on nine-node quadrilaterals, total
// Lagrangian:
//   W = C1 (I1 - 3) + C2 (I2 - 3),   C33 = 1 / det C of the plane eliminated point by point, so nothing locks.
// Newton with the consistent tangent; one sparse Cholesky factorisation per step (Eigen). No state is shared between
// calls.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace lano {

struct RivlinSaunders {
  double c1 = 1.863e5, c2 = 9.79e3;  // Pa

  // Second Piola-Kirchhoff stress (11, 22, 12) at the right Cauchy-Green tensor (11, 22, 12) of the plane.
  std::array<double, 3> stress(const std::array<double, 3>& c) const;
  // Its derivative by the Green strain (E11, E22, 2 E12).
  std::array<std::array<double, 3>, 3> tangent(const std::array<double, 3>& c) const;
};

using Point2 = std::array<double, 2>;

// Nodes of an element: corners anticlockwise, then the middles of edges 01, 12, 23, 30, then the centre.
struct Q9Mesh {
  std::vector<Point2> nodes;
  std::vector<std::array<int, 9>> elements;
};

struct Q9Load {
  std::vector<bool> fixed;         // [2 nodes]: x and y of each node in turn
  std::vector<double> prescribed;  // [2 nodes] displacement of fixed ones
  struct Edge {
    std::array<int, 3> nodes;  // end, middle, end
    Point2 traction;           // force per unit of undeformed length and thickness
  };
  std::vector<Edge> edges;
  std::function<Point2(const Point2&)> body;  // force per unit of undeformed volume, or none
};

struct ElasticSolution {
  std::vector<double> displacement;  // [2 nodes]
  std::vector<double> residuals;     // norm of the unbalanced force at each Newton step of the last load step
  std::vector<double> reaction;      // [2 nodes] force on fixed nodes
  bool converged = false;
};

// Loads grow in `steps` equal steps; each is solved to `tolerance` times the norm of its forces, or to rounding.
ElasticSolution solve_hyperelastic(const Q9Mesh& mesh, const RivlinSaunders& material, const Q9Load& load,
                                   int steps = 1, double tolerance = 1e-10);

// The 3x3 Gauss points of every element, element by element: place in the undeformed body, and von Mises' equivalent of
// the Cauchy stress.
struct GaussValues {
  std::vector<Point2> places;
  std::vector<double> von_mises;
  std::vector<std::array<double, 3>> cauchy;  // 11, 22, 12
};
GaussValues gauss_values(const Q9Mesh& mesh, const RivlinSaunders& material, const std::vector<double>& displacement);

}  // namespace lano
