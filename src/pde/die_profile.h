// The lower face of a die: a natural cubic spline through equally spaced knots, continued by straight lines. The die is
// what lies above. Immutable, shared by threads.
#pragma once

#include <vector>

namespace lano {

class DieProfile {
 public:
  struct Point {
    double height, slope;
  };
  DieProfile(double first, double spacing, std::vector<double> heights);  // at least two knots
  static DieProfile flat(double height) { return DieProfile(0, 1, {height, height}); }
  Point at(double x) const;
  double lowest() const;  // over the knots' range
  DieProfile raised(double by) const;
  const std::vector<double>& heights() const { return heights_; }

 private:
  double first_, spacing_;
  std::vector<double> heights_, curvatures_;  // at the knots; curvature 0 at both ends
};

}  // namespace lano
