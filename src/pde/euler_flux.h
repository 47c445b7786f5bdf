// The Roe flux of the 2-D Euler equations (gamma 1.4) and the matrices of its linearisation, one face at a time.
// P. L. Roe, "Approximate Riemann solvers, parameter vectors, and difference schemes", J. Comput. Phys. 43 (1981);
// entropy fix after A. Harten, J. Comput. Phys. 49 (1983). Inline: the solver spends its time here.
#pragma once

#include <array>
#include <cmath>

namespace lano {

inline constexpr double kGamma = 1.4;

struct Flow {  // primitive variables
  double rho = 1, u = 0, v = 0, p = 1;
};

using Vec4 = std::array<double, 4>;   // rho, rho u, rho v, E and their fluxes
using Mat4 = std::array<double, 16>;  // row-major

inline double sound_speed(const Flow& w) { return std::sqrt(kGamma * w.p / w.rho); }
inline double mach_number(const Flow& w) { return std::hypot(w.u, w.v) / sound_speed(w); }

inline Vec4 conserved(const Flow& w) {
  return {w.rho, w.rho * w.u, w.rho * w.v, w.p / (kGamma - 1) + 0.5 * w.rho * (w.u * w.u + w.v * w.v)};
}

inline Flow primitive(const Vec4& c) {
  const double u = c[1] / c[0], v = c[2] / c[0];
  return {c[0], u, v, (kGamma - 1) * (c[3] - 0.5 * c[0] * (u * u + v * v))};
}

// F . n of one state, n of any length.
inline Vec4 normal_flux(const Flow& w, double nx, double ny) {
  const double mass = w.rho * (w.u * nx + w.v * ny);
  const double enthalpy = kGamma / (kGamma - 1) * w.p / w.rho + 0.5 * (w.u * w.u + w.v * w.v);
  return {mass, mass * w.u + w.p * nx, mass * w.v + w.p * ny, mass * enthalpy};
}

// d(F . n)/dU of one state.
inline Mat4 flux_jacobian(const Flow& w, double nx, double ny) {
  constexpr double g = kGamma - 1;
  const double un = w.u * nx + w.v * ny, q = 0.5 * g * (w.u * w.u + w.v * w.v);
  const double enthalpy = kGamma / g * w.p / w.rho + 0.5 * (w.u * w.u + w.v * w.v);
  return {0,
          nx,
          ny,
          0,
          q * nx - w.u * un,
          un + (1 - g) * w.u * nx,
          w.u * ny - g * w.v * nx,
          g * nx,
          q * ny - w.v * un,
          w.v * nx - g * w.u * ny,
          un + (1 - g) * w.v * ny,
          g * ny,
          (q - enthalpy) * un,
          enthalpy * nx - g * w.u * un,
          enthalpy * ny - g * w.v * un,
          kGamma * un};
}

// |A| at the Roe average of two states across a face: the upwind dissipation.
class RoeDissipation {
 public:
  RoeDissipation(const Flow& l, const Flow& r, double nx, double ny) : length_(std::hypot(nx, ny)) {
    nx_ = nx / length_;
    ny_ = ny / length_;
    const double sl = std::sqrt(l.rho), sr = std::sqrt(r.rho), share = sl / (sl + sr);
    const auto enthalpy = [](const Flow& w) {
      return kGamma / (kGamma - 1) * w.p / w.rho + 0.5 * (w.u * w.u + w.v * w.v);
    };
    u_ = share * l.u + (1 - share) * r.u;
    v_ = share * l.v + (1 - share) * r.v;
    h_ = share * enthalpy(l) + (1 - share) * enthalpy(r);
    q_ = 0.5 * (u_ * u_ + v_ * v_);
    a_ = std::sqrt((kGamma - 1) * (h_ - q_));
    un_ = u_ * nx_ + v_ * ny_;
    ut_ = v_ * nx_ - u_ * ny_;
    const double delta = kEntropyFix * a_;
    const auto smooth_abs = [delta](double lambda) {
      const double size = std::abs(lambda);
      return size < delta ? (size * size + delta * delta) / (2 * delta) : size;
    };
    slow_ = length_ * smooth_abs(un_ - a_);
    carried_ = length_ * smooth_abs(un_);
    fast_ = length_ * smooth_abs(un_ + a_);
  }

  // |A| times a difference of conserved variables, split into the waves un - a, un (entropy and shear), un + a.
  Vec4 operator()(const Vec4& d) const {
    const double dp = (kGamma - 1) * (q_ * d[0] - u_ * d[1] - v_ * d[2] + d[3]);
    const double mn = d[1] * nx_ + d[2] * ny_ - un_ * d[0], mt = d[2] * nx_ - d[1] * ny_ - ut_ * d[0];
    const double w1 = slow_ * (dp - a_ * mn) / (2 * a_ * a_), w4 = fast_ * (dp + a_ * mn) / (2 * a_ * a_);
    const double w2 = carried_ * (d[0] - dp / (a_ * a_)), w3 = carried_ * mt;
    return {w1 + w2 + w4, w1 * (u_ - a_ * nx_) + w2 * u_ - w3 * ny_ + w4 * (u_ + a_ * nx_),
            w1 * (v_ - a_ * ny_) + w2 * v_ + w3 * nx_ + w4 * (v_ + a_ * ny_),
            w1 * (h_ - a_ * un_) + w2 * q_ + w3 * ut_ + w4 * (h_ + a_ * un_)};
  }

  Mat4 matrix() const {
    Mat4 m{};
    for (std::size_t column = 0; column < 4; ++column) {
      Vec4 unit{};
      unit[column] = 1;
      const Vec4 image = (*this)(unit);
      for (std::size_t row = 0; row < 4; ++row) m[4 * row + column] = image[row];
    }
    return m;
  }

  double spectral_radius() const { return length_ * (std::abs(un_) + a_); }

 private:
  static constexpr double kEntropyFix = 0.05;  // of the speed of sound
  double length_, nx_, ny_, u_, v_, h_, q_, a_, un_, ut_, slow_, carried_, fast_;
};

inline Vec4 roe_flux(const Flow& l, const Flow& r, double nx, double ny) {
  const Vec4 fl = normal_flux(l, nx, ny), fr = normal_flux(r, nx, ny), ul = conserved(l), ur = conserved(r);
  const Vec4 d = RoeDissipation(l, r, nx, ny)({ur[0] - ul[0], ur[1] - ul[1], ur[2] - ul[2], ur[3] - ul[3]});
  Vec4 f;
  for (std::size_t k = 0; k < 4; ++k) f[k] = 0.5 * (fl[k] + fr[k] - d[k]);
  return f;
}

}  // namespace lano
