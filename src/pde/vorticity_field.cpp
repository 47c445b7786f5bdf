// sqrt(2 lambda) (a cos t + b sin t) with t = 2 pi k.x is c e^{it} and its conjugate, c = sqrt(lambda/2) (a - ib): half
// of the wave vectors, k2 > 0 or k2 = 0 < k1, carry all draws. FFTW's coefficients [n, n/2+1] hold k2 >= 0, so that -k
// is written where k2 = 0 only. Cost O(n^2 log n).
#include "pde/vorticity_field.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.h"
#include "pde/fftw.h"

namespace lano {

struct VorticityFieldSampler::Plan {
  explicit Plan(std::int64_t n) : transform(n) {}
  RealComplexTransform transform;
};

VorticityFieldSampler::VorticityFieldSampler(std::int64_t n, VorticityScale scale)
    : n_(n), scale_(std::pow(7.0, scale == VorticityScale::printed ? 1.5 : 3.0)), plan_(std::make_unique<Plan>(n)) {}

VorticityFieldSampler::~VorticityFieldSampler() = default;

void VorticityFieldSampler::sample(std::uint64_t seed, std::uint64_t sample, std::span<double> field) const {
  const std::int64_t half = n_ / 2 + 1;
  const FftwBuffer values = make_fftw_buffer(n_ * n_), room = make_fftw_buffer(2 * n_ * half);
  std::fill_n(room.get(), 2 * n_ * half, 0.0);
  auto* const coefficients = reinterpret_cast<fftw_complex*>(room.get());
  RandomStream stream(seed, Purpose::navier_stokes, 0, sample);
  const auto draw = [&](std::int64_t k1, std::int64_t k2) {
    const double k = 2 * std::numbers::pi * std::hypot(static_cast<double>(k1), static_cast<double>(k2));
    const double deviation = std::sqrt(scale_ * std::pow(k * k + 49, -2.5) / 2);
    const double a = deviation * stream.normal(), b = deviation * stream.normal();
    auto& at = coefficients[(k1 >= 0 ? k1 : k1 + n_) * half + k2];
    at[0] = a;
    at[1] = -b;
    if (k2 > 0) return;
    auto& mirrored = coefficients[(n_ - k1) * half];
    mirrored[0] = a;
    mirrored[1] = b;
  };
  for (std::int64_t shell = 1; 2 * shell < n_; ++shell) {
    for (std::int64_t k1 = -shell; k1 <= shell; ++k1) draw(k1, shell);
    for (std::int64_t k2 = shell - 1; k2 > 0; --k2) {
      draw(-shell, k2);
      draw(shell, k2);
    }
    draw(shell, 0);
  }
  plan_->transform.backward(coefficients, values.get());
  std::copy_n(values.get(), field.size(), field.begin());
}

}  // namespace lano
