// phi_k(x) = c_k1 c_k2 cos(pi k1 x1) cos(pi k2 x2) with c_0 = 1, c_k = sqrt 2. At cell centres the sum over k is FFTW's
// REDFT01: Y_j = X_0 + 2 sum_{k>0} X_k cos(pi k (j+1/2)/n), so X_k = coefficient * c_k / 2 for k > 0 in each axis.
// Cost O(n^2 log n).
#include "pde/darcy_field.h"

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/random.h"
#include "pde/fftw.h"

namespace lano {

struct DarcyFieldSampler::Plan {
  explicit Plan(std::int64_t n) : synthesis(n, FFTW_REDFT01, RealTransform::Axes::both) {}
  RealTransform synthesis;
};

DarcyFieldSampler::DarcyFieldSampler(std::int64_t n, DarcyFieldConfig config)
    : n_(n), config_(config), plan_(std::make_unique<Plan>(n)) {}

DarcyFieldSampler::~DarcyFieldSampler() = default;

void DarcyFieldSampler::gaussian(std::uint64_t seed, std::uint64_t sample, std::span<double> field) const {
  const FftwBuffer buffer = make_fftw_buffer(n_ * n_);
  RandomStream stream(seed, Purpose::darcy_field, 0, sample);
  const auto draw = [&](std::int64_t k1, std::int64_t k2) {
    const double xi = stream.normal();
    const auto k_squared = static_cast<double>(k1 * k1 + k2 * k2);
    const double amplitude =
        std::pow(config_.tau, config_.alpha - 1) *
        std::pow(std::numbers::pi * std::numbers::pi * k_squared + config_.tau * config_.tau, -config_.alpha / 2);
    const double half_basis = (k1 > 0 ? std::numbers::sqrt2 / 2 : 1) * (k2 > 0 ? std::numbers::sqrt2 / 2 : 1);
    buffer[static_cast<std::size_t>(k1 * n_ + k2)] = k_squared == 0 ? 0 : xi * amplitude * half_basis;
  };
  for (std::int64_t shell = 0; shell < n_; ++shell) {
    for (std::int64_t k = 0; k < shell; ++k) {
      draw(shell, k);
      draw(k, shell);
    }
    draw(shell, shell);
  }
  plan_->synthesis.run(buffer.get());
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = buffer[i];
}

void DarcyFieldSampler::coefficient(std::uint64_t seed, std::uint64_t sample, std::span<double> a) const {
  gaussian(seed, sample, a);
  const bool smooth = config_.medium == DarcyMedium::lognormal;
  for (double& value : a) value = smooth ? std::exp(value) : value >= 0 ? config_.high : config_.low;
}

}  // namespace lano
