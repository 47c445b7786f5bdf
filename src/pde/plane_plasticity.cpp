#include "pde/plane_plasticity.h"

#include <fmt/format.h>

#include "core/error.h"

namespace lano {

PlanePlasticity::PlanePlasticity(const PlaneMaterial& material)
    : material_(material),
      sum_modulus_(material.young / (1 - material.poisson)),
      twice_shear_(material.young / (1 + material.poisson)),
      ratio_((1 + material.poisson) / (3 * (1 - material.poisson))),
      inverse_yield2_(1 / (material.yield * material.yield)),
      compliance_((1 - 2 * material.poisson) / material.young),
      plate_modulus_(material.young / (1 - material.poisson * material.poisson)) {
  const auto& m = material;
  if (!(m.young > 0) || !(m.poisson >= 0 && m.poisson <= 0.5) || !(m.yield > 0) || !(m.density > 0)) {
    fail_usage("setting up the metal", "positive modulus, yield stress and density and a Poisson ratio in [0, 0.5]",
               fmt::format("{}, {}, {} and {}", m.young, m.yield, m.density, m.poisson));
  }
}

double PlanePlasticity::von_mises(const PlaneStress& t) const {
  return std::sqrt(t.xx * t.xx - t.xx * t.yy + t.yy * t.yy + 3 * t.xy * t.xy);
}

double PlanePlasticity::wave_speed() const { return std::sqrt(plate_modulus_ / material_.density); }

}  // namespace lano
