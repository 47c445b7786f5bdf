#include "pde/die_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace lano {

DieProfile::DieProfile(double first, double spacing, std::vector<double> heights)
    : first_(first), spacing_(spacing), heights_(std::move(heights)), curvatures_(heights_.size(), 0.0) {
  const std::size_t n = heights_.size();
  if (n < 2 || !(spacing > 0)) {
    fail_usage("making a die", "at least two knots at a positive spacing", fmt::format("{} knots, {}", n, spacing));
  }
  // m[k-1] + 4 m[k] + m[k+1] = 6 (h[k-1] - 2 h[k] + h[k+1]) / spacing^2 with m = 0 at the ends: eliminate, substitute
  // back.
  std::vector<double> upper(n, 0.0);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const double right = 6 * (heights_[k - 1] - 2 * heights_[k] + heights_[k + 1]) / (spacing_ * spacing_);
    const double pivot = 4 - upper[k - 1];
    upper[k] = 1 / pivot;
    curvatures_[k] = (right - curvatures_[k - 1]) / pivot;
  }
  for (std::size_t k = n - 1; k-- > 1;) curvatures_[k] -= upper[k] * curvatures_[k + 1];
}

DieProfile::Point DieProfile::at(double x) const {
  const double last = static_cast<double>(heights_.size() - 1), along = (x - first_) / spacing_;
  const double inside = std::clamp(along, 0.0, last);
  const double segment = std::min(std::floor(inside), last - 1), b = inside - segment, a = 1 - b;
  const auto k = static_cast<std::size_t>(segment);
  const double h0 = heights_[k], h1 = heights_[k + 1], m0 = curvatures_[k], m1 = curvatures_[k + 1];
  const double height = a * h0 + b * h1 + ((a * a * a - a) * m0 + (b * b * b - b) * m1) * spacing_ * spacing_ / 6;
  const double slope = (h1 - h0) / spacing_ + ((3 * b * b - 1) * m1 - (3 * a * a - 1) * m0) * spacing_ / 6;
  return {height + slope * (along - inside) * spacing_, slope};
}

double DieProfile::lowest() const {
  double low = *std::min_element(heights_.begin(), heights_.end());
  for (std::size_t k = 0; k + 1 < heights_.size(); ++k) {
    // In b = 0..1 the slope is A b^2 + B b + C; its roots inside the segment are the candidates.
    const double m0 = curvatures_[k], m1 = curvatures_[k + 1];
    const double qa = (m1 - m0) * spacing_ / 2, qb = m0 * spacing_;
    const double qc = (heights_[k + 1] - heights_[k]) / spacing_ - (2 * m0 + m1) * spacing_ / 6;
    const double inner = qb * qb - 4 * qa * qc;
    if (inner < 0) continue;
    const double q = -(qb + std::copysign(std::sqrt(inner), qb)) / 2;
    for (const double b : {qa != 0 ? q / qa : -1.0, q != 0 ? qc / q : -1.0}) {
      if (b > 0 && b < 1) low = std::min(low, at(first_ + (static_cast<double>(k) + b) * spacing_).height);
    }
  }
  return low;
}

DieProfile DieProfile::raised(double by) const {
  DieProfile die = *this;
  for (double& h : die.heights_) h += by;
  return die;
}

}  // namespace lano
