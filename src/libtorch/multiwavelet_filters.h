// The filters of Legendre multiwavelets: how k polynomials on an interval split into k on each half and k wavelets, and
// come together again.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace lano {

// With phi_i the orthonormal polynomials of degree i < k on [0,1] and psi_i the wavelets, both in the basis sqrt2
// phi_j(2x), sqrt2 phi_j(2x-1) of the halves: phi_i has the coefficients h0, h1 (row i), psi_i has g0, g1. [k,k] each,
// double; [h0 h1; g0 g1] is orthogonal.
struct MultiwaveletFilters {
  torch::Tensor h0, h1, g0, g1;
};

MultiwaveletFilters multiwavelet_filters(std::int64_t k);

}  // namespace lano
