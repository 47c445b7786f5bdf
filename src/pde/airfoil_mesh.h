// The shapes and meshes of the airfoil benchmark: a NACA-0012 with a closed trailing edge, deformed by a design box of
// eight vertical displacements, and the C-mesh around it. Pure functions.
#pragma once

#include <array>

#include "pde/quad_mesh.h"

namespace lano {

// Displacements of the box nodes: bottom left to right (x = -0.25, 0.25, 0.75, 1.25 at y = -0.1), then top right to
// left.
using DesignBox = std::array<double, 8>;

// Half thickness of the undeformed airfoil at 0 <= x <= 1, zero at both ends.
double naca0012(double x);

// How far the box moves the point (x, y) upwards: cubic Lagrange in x times linear in y.
double box_displacement(const DesignBox& box, double x, double y);

struct AirfoilMeshConfig {
  std::size_t wake_cells = 50;  // on each side of the cut
  std::size_t side_cells = 60;  // on each side of the airfoil
  std::size_t radial_cells = 50;
  double radius = 40;  // of the far field about (1, 0), and the length of the wake
};

// The mesh of (2 (wake + side) + 1) x (radial + 1) points: i from the upper wake outlet round the nose to the lower
// outlet, j from wall and wake cut outwards. The wake cut runs level from the trailing edge.
QuadMesh airfoil_mesh(const AirfoilMeshConfig& config, const DesignBox& box);

}  // namespace lano
