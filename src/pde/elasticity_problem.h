// The Elasticity benchmark: a unit square with a random cavity, clamped at the bottom and pulled at the top; point
// cloud -> von Mises stress. The 972 points are the Gauss points of 36 x 3 nine-node elements around the cavity, in a
// fixed order.
#pragma once

#include "pde/hyperelastic_solver.h"
#include "pde/problem.h"

namespace lano {

struct ElasticityConfig {
  std::int64_t around = 36, across = 3;  // elements around the cavity (a multiple of 4) and from it to the square
  double traction = 100;                 // on the upper edge, upwards
  RivlinSaunders material;
  std::uint64_t seed = 0;
};

// r(phi) = 0.2 + 0.2 / (1 + exp(g(phi))), g a random trigonometric sum of five waves.
class Cavity {
 public:
  Cavity(std::uint64_t seed, std::int64_t sample, std::int64_t attempt);
  double radius(double phi) const;

 private:
  std::array<double, 10> waves_;
};

// The mesh of square minus cavity: that of square minus circle of radius 0.3, moved radially within 0.5 of the centre.
Q9Mesh cavity_mesh(std::int64_t around, std::int64_t across, const std::function<double(double)>& radius);

// The solution around one cavity, at the points of a sample.
struct CavityStress {
  GaussValues values;
  bool converged = false;
};

class ElasticityProblem final : public Problem {
 public:
  explicit ElasticityProblem(ElasticityConfig config);
  SetDescription describe() const override;
  bool make(std::int64_t sample, std::int64_t attempt, const SampleArrays& to) const override;
  CavityStress stress_around(const std::function<double(double)>& radius) const;

 private:
  ElasticityConfig config_;
};

}  // namespace lano
