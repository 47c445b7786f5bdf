// With w the Fourier coefficients and E(t) = exp(-nu |k|^2 t), RK4 is applied to E^-1 w: stages at t, t+h/2, t+h/2, t+h
// carry factors E(h/2) and E(h). Cost of a stage: six inverse and two forward transforms of n x n.
#include "pde/burgers_solver.h"

#include <fftw3.h>

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

struct State {
  Field u, v;
};

}  // namespace

struct BurgersSolver::Spectral {
  Spectral(std::int64_t size, double viscosity_) : n(size), half(size / 2 + 1), viscosity(viscosity_), plans(size) {}

  std::size_t modes() const { return static_cast<std::size_t>(n * half); }
  double k1(std::int64_t i) const { return 2 * std::numbers::pi * static_cast<double>(i <= n / 2 ? i : i - n); }
  double k2(std::int64_t j) const { return 2 * std::numbers::pi * static_cast<double>(j); }
  bool kept(std::int64_t i, std::int64_t j) const {  // the 2/3 rule
    const std::int64_t m = i <= n / 2 ? i : n - i;
    return 3 * m < n && 3 * j < n;
  }

  // The physical field of coefficients times (i k1)^a (i k2)^b.
  std::vector<double> physical(const Field& w, int a, int b, FftwBuffer& real, fftw_complex* coefficients) const {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < half; ++j) {
        const auto p = static_cast<std::size_t>(i * half + j);
        Complex value = w[p];
        if (a == 1) value *= Complex(0, k1(i));
        if (b == 1) value *= Complex(0, k2(j));
        coefficients[p][0] = value.real();
        coefficients[p][1] = value.imag();
      }
    }
    plans.backward(coefficients, real.get());
    return {real.get(), real.get() + n * n};
  }

  Field coefficients_of(std::span<const double> field, FftwBuffer& real, fftw_complex* coefficients) const {
    for (std::size_t p = 0; p < field.size(); ++p) real[p] = field[p];
    plans.forward(real.get(), coefficients);
    Field w(modes());
    const double scale = 1 / static_cast<double>(n * n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < half; ++j) {
        const auto p = static_cast<std::size_t>(i * half + j);
        w[p] = kept(i, j) ? scale * Complex(coefficients[p][0], coefficients[p][1]) : 0;
      }
    }
    return w;
  }

  // -(u . grad) u and -(u . grad) v
  State transport(const State& w, FftwBuffer& real, fftw_complex* c) const {
    const auto u = physical(w.u, 0, 0, real, c), v = physical(w.v, 0, 0, real, c);
    const auto term = [&](const Field& f) {
      auto fx = physical(f, 1, 0, real, c);
      const auto fy = physical(f, 0, 1, real, c);
      for (std::size_t p = 0; p < fx.size(); ++p) fx[p] = -(u[p] * fx[p] + v[p] * fy[p]);
      return coefficients_of(fx, real, c);
    };
    return {term(w.u), term(w.v)};
  }

  std::vector<double> decay(double time) const {
    std::vector<double> factor(modes());
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < half; ++j) {
        factor[static_cast<std::size_t>(i * half + j)] = std::exp(-viscosity * (k1(i) * k1(i) + k2(j) * k2(j)) * time);
      }
    }
    return factor;
  }

  std::int64_t n, half;
  double viscosity;
  RealComplexTransform plans;
};

BurgersSolver::BurgersSolver(std::int64_t n, double viscosity) {
  if (n < 4 || n > 4096 || !(viscosity > 0)) {
    fail_usage("making a Burgers solver", "between 4 and 4096 points per axis and a viscosity above 0",
               std::to_string(n) + " and " + std::to_string(viscosity));
  }
  spectral_ = std::make_unique<Spectral>(n, viscosity);
}

BurgersSolver::~BurgersSolver() = default;

void BurgersSolver::advance(std::span<double> u, std::span<double> v, double time, std::int64_t steps) const {
  const Spectral& s = *spectral_;
  FftwBuffer real = make_fftw_buffer(s.n * s.n);
  const FftwBuffer room = make_fftw_buffer(2 * s.n * s.half);
  auto* const c = reinterpret_cast<fftw_complex*>(room.get());
  State w{s.coefficients_of(u, real, c), s.coefficients_of(v, real, c)};
  const double h = time / static_cast<double>(steps);
  const std::vector<double> to_half = s.decay(h / 2), to_end = s.decay(h);
  // a E_a + b E_b for both components, with E per mode (empty: 1).
  const auto combine = [&](const State& a, const std::vector<double>& ea, double b, const State& k,
                           const std::vector<double>& ek) {
    State out{Field(s.modes()), Field(s.modes())};
    for (std::size_t p = 0; p < s.modes(); ++p) {
      const double fa = ea.empty() ? 1 : ea[p], fk = b * (ek.empty() ? 1 : ek[p]);
      out.u[p] = fa * a.u[p] + fk * k.u[p];
      out.v[p] = fa * a.v[p] + fk * k.v[p];
    }
    return out;
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    const State first = s.transport(w, real, c);
    const State second = s.transport(combine(w, to_half, h / 2, first, to_half), real, c);
    const State third = s.transport(combine(w, to_half, h / 2, second, {}), real, c);
    const State fourth = s.transport(combine(w, to_end, h, third, to_half), real, c);
    for (std::size_t p = 0; p < s.modes(); ++p) {
      const auto next = [&](const Complex& at, const Complex& a, const Complex& b, const Complex& d, const Complex& e) {
        return to_end[p] * at + h / 6 * (to_end[p] * a + 2.0 * to_half[p] * (b + d) + e);
      };
      w.u[p] = next(w.u[p], first.u[p], second.u[p], third.u[p], fourth.u[p]);
      w.v[p] = next(w.v[p], first.v[p], second.v[p], third.v[p], fourth.v[p]);
    }
  }
  const auto end_u = s.physical(w.u, 0, 0, real, c), end_v = s.physical(w.v, 0, 0, real, c);
  for (std::size_t p = 0; p < u.size(); ++p) {
    if (!std::isfinite(end_u[p]) || !std::isfinite(end_v[p])) {
      fail("solving Burgers flow", "finite velocities", "overflow", "take more steps or more viscosity");
    }
    u[p] = end_u[p];
    v[p] = end_v[p];
  }
}

}  // namespace lano
