// h0_ij = 1/sqrt2 int phi_i(x/2) phi_j(x), h1_ij = 1/sqrt2 int phi_i((x+1)/2) phi_j(x) over [0,1]: k Gauss points are
// exact for degree 2k-2. They are the eigenvalues of the Jacobi matrix of Legendre's recursion (Golub, Welsch, 1969).
// The wavelets are what is left of sqrt2 phi_i(2x) on the left half when its parts along all phi_j and along psi_j, j <
// i, are taken out (Alpert, 1993): Gram-Schmidt among rows of [h0 h1].
#include "libtorch/multiwavelet_filters.h"

#include <cmath>
#include <vector>

namespace lano {
namespace {

// phi_i at the points x of [0,1]: [k,points].
torch::Tensor polynomials(std::int64_t k, const torch::Tensor& x) {
  const torch::Tensor y = 2 * x - 1;
  std::vector<torch::Tensor> legendre{torch::ones_like(y), y};
  for (std::int64_t i = 1; i + 1 < k; ++i) {
    const auto n = static_cast<double>(i);
    legendre.push_back(
        ((2 * n + 1) * y * legendre[static_cast<std::size_t>(i)] - n * legendre[static_cast<std::size_t>(i - 1)]) /
        (n + 1));
  }
  legendre.resize(static_cast<std::size_t>(k));
  return torch::stack(legendre) * (2 * torch::arange(k, y.options()) + 1).sqrt().unsqueeze(1);
}

}  // namespace

MultiwaveletFilters multiwavelet_filters(std::int64_t k) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor i = torch::arange(1, k, torch::kFloat64);  // CPU: a table made once
  const torch::Tensor beside = torch::diag(i / (4 * i * i - 1).sqrt(), 1);
  const auto [values, vectors] = torch::linalg_eigh(beside + beside.t());
  const torch::Tensor x = (values + 1) / 2, weights = vectors[0].square();  // on [0,1]
  const torch::Tensor weighted = (polynomials(k, x) * weights).t() / std::sqrt(2.0);
  const torch::Tensor h =
      torch::cat({polynomials(k, x / 2).matmul(weighted), polynomials(k, (x + 1) / 2).matmul(weighted)}, 1);
  torch::Tensor rows = h;
  for (std::int64_t j = 0; j < k; ++j) {
    torch::Tensor psi = torch::zeros({2 * k}, torch::kFloat64);  // CPU: a table made once
    psi[j] = 1;
    for (int twice = 0; twice < 2; ++twice)
      psi = psi - rows.t().matmul(rows.matmul(psi));  // the second time against rounding
    rows = torch::cat({rows, (psi / psi.norm()).unsqueeze(0)});
  }
  const torch::Tensor g = rows.narrow(0, k, k);
  return {h.narrow(1, 0, k), h.narrow(1, k, k), g.narrow(1, 0, k), g.narrow(1, k, k)};
}

}  // namespace lano
