// Elastic, perfectly plastic metal in plane stress (J2 flow, no hardening) at small strain increments and any rotation.
// The stress step is inline and free of branches, so that the loop over elements in forging_solver.cpp is vectorised.
//
// In s = xx + yy, d = xx - yy and t = xy both Hooke's law and the flow rule are diagonal (Simo and Taylor, 1986):
//   elastic    ds = E/(1-nu) de_s,   dd = E/(1+nu) de_d,   dt = G de_t
//   yield      s^2/4 + 3 d^2/4 + 3 t^2 = yield^2
//   return     s = s*/(1 + a z),  d = d*/(1 + z),  t = t*/(1 + z),  a = (1+nu)/(3(1-nu))
// and the multiplier z >= 0 is the root of one scalar equation.
#pragma once

#include <cmath>

namespace lano {

struct PlaneMaterial {  // SI units
  double young = 200e9;
  double poisson = 0.3;
  double yield = 70e6;
  double density = 7850;
};

struct PlaneStress {
  double xx = 0, yy = 0, xy = 0;
};

class PlanePlasticity {
 public:
  explicit PlanePlasticity(const PlaneMaterial& material);  // throws on moduli that are no material

  // The stress after a strain increment (xx, yy, engineering shear xy) and a turn by 2 atan(spin/2) counter-clockwise.
  // The turn is exact for a rigid rotation whose velocity gradient was taken in the middle of the step.
  PlaneStress update(PlaneStress old, double dxx, double dyy, double dxy, double spin) const {
    const double half = spin / 2, scale = 1 / (1 + half * half);
    const double c = (1 - half * half) * scale, n = 2 * half * scale;  // of the angle
    const double c2 = c * c - n * n, n2 = 2 * n * c;                   // of twice the angle
    const double s = old.xx + old.yy + sum_modulus_ * (dxx + dyy);
    const double d_old = old.xx - old.yy;
    const double d = d_old * c2 - 2 * old.xy * n2 + twice_shear_ * (dxx - dyy);
    const double t = old.xy * c2 + d_old * n2 / 2 + twice_shear_ / 2 * dxy;

    const double p = 0.25 * s * s * inverse_yield2_, q = (0.75 * d * d + 3 * t * t) * inverse_yield2_;
    // Newton on 1/sqrt(F(z)) - 1, F = p/(1+az)^2 + q/(1+z)^2: exact at once where only s, or only d and t, are there.
    double z = 0;
    for (int k = 0; k < kNewtonSteps; ++k) {
      const double both = 1 / ((1 + ratio_ * z) * (1 + z));  // one division for two
      const double u = (1 + z) * both, w = (1 + ratio_ * z) * both;
      const double fp = p * u * u, fq = q * w * w, f = fp + fq;
      z += f * (std::sqrt(f) - 1) / (ratio_ * fp * u + fq * w + kTiny);
    }
    z = p + q > 1 ? z : 0.0;
    const double s_new = s / (1 + ratio_ * z), w = 1 / (1 + z);
    return {(s_new + d * w) / 2, (s_new - d * w) / 2, t * w};
  }

  // Volume over first volume. Plastic flow keeps the volume, so the volume strain is the elastic one, (1-2nu)/E times
  // the change of xx + yy; thickness = first volume * this / area, which is the thickness strain summed in closed form.
  double volume_ratio(const PlaneStress& stress) const { return 1 + compliance_ * (stress.xx + stress.yy); }

  double von_mises(const PlaneStress& stress) const;
  double plate_modulus() const { return plate_modulus_; }  // E/(1-nu^2)
  double wave_speed() const;                               // of a plate, sqrt(E/(1-nu^2)/density)
  const PlaneMaterial& material() const { return material_; }

 private:
  static constexpr int kNewtonSteps =
      2;  // leave the yield stress 1e-5 off at worst, 3e-9 where the trial is 5 % above it
  static constexpr double kTiny = 1e-300;  // keeps 0/0 away at zero stress
  PlaneMaterial material_;
  double sum_modulus_, twice_shear_, ratio_, inverse_yield2_, compliance_, plate_modulus_;
};

}  // namespace lano
