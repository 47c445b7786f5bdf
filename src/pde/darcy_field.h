// Random coefficients of the Darcy benchmark: a Gaussian field on the Neumann cosine basis of the unit square,
//   g(x) = sum_k xi_k tau^(alpha-1) (pi^2 |k|^2 + tau^2)^(-alpha/2) phi_k(x),   xi_k ~ N(0,1), k != 0,
// with phi_k orthonormal in L2, evaluated at cell centres (i+1/2)/n; then a = 12 where g >= 0, else 3, or, smooth, a =
// exp(g). xi_k is drawn shell by shell in max(k1,k2), so the same (seed, sample) gives the same field, truncated at k <
// n, at every resolution n. A sampler is shared by threads; each call uses its own buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace lano {

enum class DarcyMedium { two_values, lognormal };

struct DarcyFieldConfig {
  double alpha = 2, tau = 3;
  double high = 12, low = 3;  // the two values of the coefficient
  DarcyMedium medium = DarcyMedium::two_values;
};

class DarcyFieldSampler {
 public:
  DarcyFieldSampler(std::int64_t n, DarcyFieldConfig config);
  ~DarcyFieldSampler();

  // The Gaussian field g, [n, n].
  void gaussian(std::uint64_t seed, std::uint64_t sample, std::span<double> field) const;
  // The coefficient a, [n, n].
  void coefficient(std::uint64_t seed, std::uint64_t sample, std::span<double> a) const;

 private:
  struct Plan;
  std::int64_t n_;
  DarcyFieldConfig config_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace lano
