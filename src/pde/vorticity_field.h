// Random initial vorticities of the Navier-Stokes benchmark: a periodic Gaussian field on the unit square with mean
// zero and covariance s (-lap + 49)^(-5/2),
//   w(x) = sum_{k != 0} sqrt(lambda_k) xi_k phi_k(x),   lambda_k = s (4 pi^2 |k|^2 + 49)^(-5/2),  xi_k ~ N(0, 1),
// with phi_k the pairs sqrt 2 cos(2 pi k.x), sqrt 2 sin(2 pi k.x), orthonormal in L2, at the points (i/n, j/n). xi_k is
// drawn shell by shell in max(|k1|, |k2|), so the same (seed, sample) gives the same field, cut at |k_i| < n/2, at
// every resolution n. A sampler is shared by threads; each call uses its own buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace lano {

// s: 7^(3/2) as the benchmark is printed (Li et al., "Fourier neural operator for parametric partial differential
// equations", ICLR 2021), or 7^3, which its published program draws: there 7^(3/2) multiplies the field.
enum class VorticityScale { printed, program };

class VorticityFieldSampler {
 public:
  explicit VorticityFieldSampler(std::int64_t n, VorticityScale scale = VorticityScale::printed);
  ~VorticityFieldSampler();

  void sample(std::uint64_t seed, std::uint64_t sample, std::span<double> field) const;  // [n, n]

 private:
  struct Plan;
  std::int64_t n_;
  double scale_;  // s
  std::unique_ptr<Plan> plan_;
};

}  // namespace lano
