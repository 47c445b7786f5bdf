// Transport in the form of Basdevant ("Technical improvements for direct numerical simulation of homogeneous
// three-dimensional turbulence", J. Comput. Phys. 50, 1983): the curl of div (u u) gives
//   u . grad w = (d_xx - d_yy)(u v) + d_xy (v^2 - u^2),
// two inverse and two forward transforms of n x n, where u . grad w takes five. The products of modes |k| < n/3 alias
// into |k| > n/3 only, so after the cut this is the Galerkin truncation, which keeps energy and enstrophy. RK4 with
// integrating factor: with E(t) = exp(-nu |k|^2 t) it is applied to E^-1 w, so that stages at t, t+h/2, t+h/2, t+h
// carry factors E(h/2) and E(h).
#include "pde/navier_stokes_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "core/error.h"
#include "pde/fftw.h"

namespace lano {
namespace {

using Complex = std::complex<double>;
using Field = std::vector<Complex>;  // [n, n/2+1] coefficients

constexpr double kMostSteps = 1e7;  // of one call, far above what a flow takes that is resolved

}  // namespace

struct NavierStokesSolver::Spectral {
  Spectral(std::int64_t size, double viscosity_) : n(size), half(size / 2 + 1), viscosity(viscosity_), plans(size) {
    const auto modes = static_cast<std::size_t>(n * half);
    k1.resize(modes);
    k2.resize(modes);
    kept.resize(modes);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < half; ++j) {
        const auto p = static_cast<std::size_t>(i * half + j);
        const std::int64_t m = i <= n / 2 ? i : i - n;
        k1[p] = 2 * std::numbers::pi * static_cast<double>(m);
        k2[p] = 2 * std::numbers::pi * static_cast<double>(j);
        kept[p] = 3 * std::abs(m) < n && 3 * j < n && (m != 0 || j != 0) ? 1 : 0;  // the 2/3 rule; no mean
      }
    }
  }
  std::size_t modes() const { return k1.size(); }
  double k_squared(std::size_t p) const { return k1[p] * k1[p] + k2[p] * k2[p]; }

  std::int64_t n, half;
  double viscosity;
  RealComplexTransform plans;
  std::vector<double> k1, k2;
  std::vector<double> kept;  // 1 for the modes that are, else 0
  Field forcing;
};

// One flow on its way: its buffers, and the coefficients of its vorticity.
class NavierStokesSolver::Flow {
 public:
  explicit Flow(const Spectral& s)
      : s_(s),
        u_(make_fftw_buffer(s.n * s.n)),
        v_(make_fftw_buffer(s.n * s.n)),
        room_(make_fftw_buffer(2 * s.n * s.half)),
        c_(reinterpret_cast<fftw_complex*>(room_.get())) {}

  Field coefficients_of(std::span<const double> field) {
    std::copy(field.begin(), field.end(), u_.get());
    Field w(s_.modes());
    forward(u_.get(), [&](std::size_t p, Complex value) { w[p] = value; });
    return w;
  }

  void values_of(const Field& w, std::span<double> field) {
    backward(u_.get(), [&](std::size_t p) { return w[p]; });
    std::copy_n(u_.get(), field.size(), field.begin());
  }

  // u = psi_y and v = -psi_x at the points, with psi = w / |k|^2.
  void find_velocity(const Field& w) {
    const auto psi = [&](std::size_t p) { return s_.kept[p] > 0 ? w[p] / s_.k_squared(p) : Complex(0); };
    backward(u_.get(), [&](std::size_t p) { return Complex(0, s_.k2[p]) * psi(p); });
    backward(v_.get(), [&](std::size_t p) { return Complex(0, -s_.k1[p]) * psi(p); });
  }

  // The largest |u| + |v| of the velocity found last.
  double fastest() const {
    double most = 0;
    for (std::int64_t p = 0; p < s_.n * s_.n; ++p)
      most = std::max(most, std::abs(u_[static_cast<std::size_t>(p)]) + std::abs(v_[static_cast<std::size_t>(p)]));
    return most;
  }

  void copy_velocity(std::span<double> u, std::span<double> v) const {
    std::copy_n(u_.get(), u.size(), u.begin());
    std::copy_n(v_.get(), v.size(), v.begin());
  }

  // f - u . grad w, of the velocity found last, which it uses up.
  void transport(Field& to) {
    for (std::size_t p = 0; p < static_cast<std::size_t>(s_.n * s_.n); ++p) {
      const double u = u_[p], v = v_[p];
      u_[p] = u * v;
      v_[p] = v * v - u * u;
    }
    forward(u_.get(), [&](std::size_t p, Complex value) {
      to[p] = (s_.k1[p] * s_.k1[p] - s_.k2[p] * s_.k2[p]) * value + (s_.forcing.empty() ? 0 : s_.forcing[p]);
    });
    forward(v_.get(), [&](std::size_t p, Complex value) { to[p] += s_.k1[p] * s_.k2[p] * value; });
  }

  // One step of h; the velocity of w has been found.
  void step(Field& w, double h) {
    decay_over(h);
    const std::size_t modes = s_.modes();
    if (slope_.empty()) {
      slope_.resize(modes);
      stage_.resize(modes);
      sum_.resize(modes);
    }
    transport(slope_);
    for (std::size_t p = 0; p < modes; ++p) {
      const double e = half_[p];
      stage_[p] = e * (w[p] + h / 2 * slope_[p]);
      sum_[p] = e * e * (w[p] + h / 6 * slope_[p]);
    }
    find_velocity(stage_);
    transport(slope_);
    for (std::size_t p = 0; p < modes; ++p) {
      stage_[p] = half_[p] * w[p] + h / 2 * slope_[p];
      sum_[p] += h / 3 * half_[p] * slope_[p];
    }
    find_velocity(stage_);
    transport(slope_);
    for (std::size_t p = 0; p < modes; ++p) {
      stage_[p] = half_[p] * (half_[p] * w[p] + h * slope_[p]);
      sum_[p] += h / 3 * half_[p] * slope_[p];
    }
    find_velocity(stage_);
    transport(slope_);
    for (std::size_t p = 0; p < modes; ++p) w[p] = sum_[p] + h / 6 * slope_[p];
  }

 private:
  // E(h/2) of each mode.
  void decay_over(double h) {
    if (h == decay_time_) return;
    decay_time_ = h;
    half_.resize(s_.modes());
    for (std::size_t p = 0; p < s_.modes(); ++p) half_[p] = std::exp(-s_.viscosity * s_.k_squared(p) * h / 2);
  }

  // take(mode, coefficient) for the transform of the values, cut to the modes that are kept.
  template <class Take>
  void forward(double* values, const Take& take) {
    s_.plans.forward(values, c_);
    const double scale = 1 / static_cast<double>(s_.n * s_.n);
    for (std::size_t p = 0; p < s_.modes(); ++p) take(p, s_.kept[p] * scale * Complex(c_[p][0], c_[p][1]));
  }

  template <class Give>
  void backward(double* values, const Give& give) {
    for (std::size_t p = 0; p < s_.modes(); ++p) {
      const Complex value = give(p);
      c_[p][0] = value.real();
      c_[p][1] = value.imag();
    }
    s_.plans.backward(c_, values);
  }

  const Spectral& s_;
  FftwBuffer u_, v_, room_;
  fftw_complex* c_;
  Field slope_, stage_, sum_;
  std::vector<double> half_;
  double decay_time_ = -1;
};

namespace {

void check_field(std::span<const double> field, std::int64_t n, const char* what) {
  double sum = 0, largest = 0;
  for (const double value : field) {
    sum += value;
    largest = std::max(largest, std::abs(value));
  }
  const auto points = static_cast<std::size_t>(n * n);
  // Rounding of a field with mean zero leaves 1e-16 of its largest value.
  if (field.size() != points || !(std::abs(sum) <= 1e-9 * static_cast<double>(points) * largest)) {
    fail("solving a periodic flow", fmt::format("{} at {} points, its mean zero", what, points),
         fmt::format("{} values with the mean {:g}", field.size(), sum / static_cast<double>(points)));
  }
}

void finish(std::span<const double> vorticity) {
  if (!std::all_of(vorticity.begin(), vorticity.end(), [](double w) { return std::isfinite(w); }))
    fail("solving a periodic flow", "a finite vorticity", "overflow", "take shorter steps or more viscosity");
}

}  // namespace

NavierStokesSolver::NavierStokesSolver(std::int64_t n, double viscosity, std::span<const double> forcing) {
  if (n < 4 || n > 4096 || !(viscosity >= 0) || !std::isfinite(viscosity)) {
    fail_usage("making a Navier-Stokes solver", "between 4 and 4096 points per axis and a viscosity of at least 0",
               fmt::format("{} and {:g}", n, viscosity));
  }
  spectral_ = std::make_unique<Spectral>(n, viscosity);
  if (forcing.empty()) return;
  check_field(forcing, n, "a forcing");
  spectral_->forcing = Flow(*spectral_).coefficients_of(forcing);
}

NavierStokesSolver::~NavierStokesSolver() = default;

void NavierStokesSolver::advance(std::span<double> vorticity, double time, std::int64_t steps) const {
  check_field(vorticity, spectral_->n, "a vorticity");
  Flow flow(*spectral_);
  Field w = flow.coefficients_of(vorticity);
  for (std::int64_t step = 0; step < steps; ++step) {
    flow.find_velocity(w);
    flow.step(w, time / static_cast<double>(steps));
  }
  flow.values_of(w, vorticity);
  finish(vorticity);
}

std::int64_t NavierStokesSolver::advance(std::span<double> vorticity, double time, const StepRule& rule) const {
  check_field(vorticity, spectral_->n, "a vorticity");
  Flow flow(*spectral_);
  Field w = flow.coefficients_of(vorticity);
  std::int64_t steps = 0;
  for (double left = time; left > 0; ++steps) {
    flow.find_velocity(w);
    const double most = std::min(rule.longest, rule.courant / (static_cast<double>(spectral_->n) * flow.fastest()));
    const double needed = std::max(1.0, std::ceil(left / most));  // what is left, in equal steps
    if (!(needed < kMostSteps))
      fail("solving a periodic flow", "a velocity that steps can follow", fmt::format("{:g} steps to go", needed),
           "take more viscosity");
    flow.step(w, left / needed);
    left = needed == 1 ? 0 : left - left / needed;
  }
  flow.values_of(w, vorticity);
  finish(vorticity);
  return steps;
}

void NavierStokesSolver::velocity(std::span<const double> vorticity, std::span<double> u, std::span<double> v) const {
  check_field(vorticity, spectral_->n, "a vorticity");
  Flow flow(*spectral_);
  flow.find_velocity(flow.coefficients_of(vorticity));
  flow.copy_velocity(u, v);
}

}  // namespace lano
