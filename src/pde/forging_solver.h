// A block of metal under a die that moves down at constant speed: explicit dynamics on a structured mesh of four-node
// quadrilaterals. PlasticityProblem draws the dies and keeps frames of the motion.
//
//   density * acceleration = div stress      plane stress, PlanePlasticity, large deformation (updated Lagrangian)
//   bottom row: u_y = 0, free along x        top row and both side columns: contact with the die, Coulomb friction
//
// Nodes [nx+1, ny+1]: i runs against x, j from the top down, j fastest. Elements [nx, ny] likewise. SI units. A solver
// holds the state of one block, belongs to one thread and gives the same bits every time; make one for each sample.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pde/die_profile.h"
#include "pde/plane_plasticity.h"

namespace lano {

struct ForgingConfig {
  std::int64_t cells_x = 100, cells_y = 30;
  double right = 0.35e-3, top = 14.9e-3;  // where node (0, 0) is
  double width = 50e-3, height = 15e-3, thickness = 1e-3;
  PlaneMaterial material;
  double speed = 3;  // of the die, downwards
  double friction = 0.15;
  bool roller = true;        // under the bottom row; false: free, for tests
  double hourglass = 0.002;  // stiffness against the zero-energy modes, about this part of the true one
  double linear_viscosity = 0.06, quadratic_viscosity = 1.2;
  double time_step = 0.7;  // of the time a wave needs through the thinnest element
};

struct ForgingEnergies {  // joule, since the start
  double internal = 0;    // elastic and plastic work of the stresses
  double kinetic = 0;
  double hourglass = 0;
  double viscous = 0;   // taken by the bulk viscosity
  double external = 0;  // work of the die on the block, less what friction takes
  double first = 0;     // kinetic energy the block was given before the first step

  double imbalance() const { return internal + kinetic + hourglass + viscous - external - first; }
};

class ForgingSolver {
 public:
  ForgingSolver(const ForgingConfig& config, DieProfile die);  // die: where it is at time 0

  // Runs to `time` and stops there exactly. False when an element collapsed or turned inside out or the state is not
  // finite; the state is then of no use.
  bool advance_to(double time);

  double time() const { return time_; }
  std::int64_t steps() const { return steps_; }
  std::span<const double> x() const { return x_; }
  std::span<const double> y() const { return y_; }
  std::span<double> vx() { return vx_; }  // half a step behind the positions; to be set before the first step only
  std::span<double> vy() { return vy_; }
  PlaneStress stress(std::int64_t i, std::int64_t j) const;
  double area(std::int64_t i, std::int64_t j) const;
  double thickness(std::int64_t i, std::int64_t j) const;
  double total_area() const;
  ForgingEnergies energies() const;
  double penetration() const;  // the deepest of the contact nodes, measured along y; negative: clear of the die

 private:
  std::size_t element(std::int64_t i, std::int64_t j) const;
  bool measure();                           // the stable time step; false on an inverted element
  void move_nodes(double dt, double kick);  // velocities by `kick` = mean of the last and this step, positions by dt
  void resolve_contact(double dt);
  void strain_elements(double dt);

  ForgingConfig config_;
  PlanePlasticity metal_;
  DieProfile die_;
  std::size_t nx_, ny_, rows_, stride_;  // cells; nodes per column; padded elements per column
  double time_ = 0, last_dt_ = 0, stable_dt_ = 0, first_dt_ = 0, volume0_, external_ = 0, first_ = 0;
  std::int64_t steps_ = 0;
  std::vector<double> x_, y_, vx_, vy_, inverse_mass_;  // nodes
  std::vector<std::size_t> contact_;                    // nodes that may touch the die
  std::vector<double> contact_vx_, contact_vy_;         // their velocities before the step
  // Elements, with a border of empty ones so that every node has four. Stress, hourglass forces, energies, and the
  // forces on the corners 1..4 = (i,j), (i+1,j), (i+1,j+1), (i,j+1): a + q, b - q, -a + q, -b - q.
  std::vector<double> sxx_, syy_, sxy_, hx_, hy_, internal_, viscous_, hourglass_;
  std::vector<double> ax_, ay_, bx_, by_, qx_, qy_;
};

}  // namespace lano
