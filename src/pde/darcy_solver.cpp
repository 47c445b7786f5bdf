// The constant-coefficient operator with half-cell Dirichlet boundaries has ghost values u_{-1} = -u_0, so its
// eigenvectors along an axis are sin(pi (k+1) (i+1/2)/n) with eigenvalues n^2 (2 - 2 cos(pi (k+1)/n)). Its inverse
// takes sine transforms of the rows (FFTW's RODFT10, back by RODFT01, product 2n), which leave one tridiagonal system
// per mode along the columns, solved for all modes at once: half the transforms of a solve in both axes, and the
// benchmark's 421 is a prime, where transforms are slow. Cost of an iteration O(n^2 log n).
#include "pde/darcy_solver.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/error.h"
#include "pde/fftw.h"

namespace lano {
namespace {

constexpr int kMaxIterations = 500;

double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

double harmonic(double a, double b) { return 2 * a * b / (a + b); }

// Transmissibilities of the faces times 1/h^2: [n+1, n] across the first axis, [n, n+1] across the second. Boundary
// faces are half a cell away from the centre: 2a.
struct Faces {
  Faces(std::span<const double> a, std::size_t n) : first((n + 1) * n), second(n * (n + 1)) {
    const double h2 = static_cast<double>(n) * static_cast<double>(n);
    for (std::size_t i = 0; i <= n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t up = (i - 1) * n + j, down = i * n + j;
        first[i * n + j] = h2 * (i == 0 ? 2 * a[down] : i == n ? 2 * a[up] : harmonic(a[up], a[down]));
        const std::size_t left = j * n + i - 1, right = j * n + i;  // face i of row j
        second[j * (n + 1) + i] = h2 * (i == 0 ? 2 * a[right] : i == n ? 2 * a[left] : harmonic(a[left], a[right]));
      }
    }
  }
  std::vector<double> first, second;
};

// out = A u. Outside the domain u is 0 at the boundary face, which the doubled transmissibility accounts for.
void apply_faces(const Faces& faces, std::span<const double> u, std::span<double> out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double* const row = u.data() + i * n;
    const double* const up = faces.first.data() + i * n;
    const double* const down = up + n;
    const double* const side = faces.second.data() + i * (n + 1);
    double* const to = out.data() + i * n;
    for (std::size_t j = 0; j < n; ++j) to[j] = (up[j] + down[j] + side[j] + side[j + 1]) * row[j];
    for (std::size_t j = 1; j < n; ++j) {
      to[j] -= side[j] * row[j - 1];
      to[j - 1] -= side[j] * row[j];
    }
    if (i > 0) {
      for (std::size_t j = 0; j < n; ++j)
        to[j] -= up[j] * row[static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(n)];
    }
    if (i + 1 < n) {
      for (std::size_t j = 0; j < n; ++j) to[j] -= down[j] * row[j + n];
    }
  }
}

}  // namespace

// Inverse of the operator for a = 1. Along the columns, mode k: -x_{i-1} + (b_i + lambda_k) x_i - x_{i+1} = r_i / n^2
// with b_i = 2, and 3 at both ends; `pivot` holds 1/(b_i + lambda_k - pivot_{i-1}) of its elimination.
struct DarcySolver::Poisson {
  explicit Poisson(std::int64_t n)
      : analysis(n, FFTW_RODFT10, RealTransform::Axes::rows),
        synthesis(n, FFTW_RODFT01, RealTransform::Axes::rows),
        cells(static_cast<std::size_t>(n)),
        pivot(cells * cells) {
    for (std::size_t i = 0; i < cells; ++i) {
      const double ends = (i == 0 ? 1 : 0) + (i + 1 == cells ? 1 : 0);
      for (std::size_t k = 0; k < cells; ++k) {
        const double lambda =
            2 - 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) / static_cast<double>(cells));
        pivot[i * cells + k] = 1 / (2 + ends + lambda - (i > 0 ? pivot[(i - 1) * cells + k] : 0));
      }
    }
  }

  void solve(std::span<const double> r, std::span<double> z, double* buffer) const {
    const std::size_t n = cells;
    const double scale = 1 / (2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n));
    for (std::size_t i = 0; i < r.size(); ++i) buffer[i] = scale * r[i];
    analysis.run(buffer);
    for (std::size_t k = 0; k < n; ++k) buffer[k] *= pivot[k];
    for (std::size_t i = 1; i < n; ++i) {
      double* const row = buffer + i * n;
      const double* const above = row - n;
      for (std::size_t k = 0; k < n; ++k) row[k] = (row[k] + above[k]) * pivot[i * n + k];
    }
    for (std::size_t i = n - 1; i-- > 0;) {
      double* const row = buffer + i * n;
      for (std::size_t k = 0; k < n; ++k) row[k] += pivot[i * n + k] * row[k + n];
    }
    synthesis.run(buffer);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = buffer[i];
  }

  RealTransform analysis, synthesis;
  std::size_t cells;
  std::vector<double> pivot;  // [n, modes]
};

DarcySolver::DarcySolver(std::int64_t n) : n_(n) {
  if (n < 1 || n > 16384) fail_usage("making a Darcy solver", "between 1 and 16384 cells per axis", std::to_string(n));
  poisson_ = std::make_unique<Poisson>(n);
}

DarcySolver::~DarcySolver() = default;

void DarcySolver::apply(std::span<const double> a, std::span<const double> u, std::span<double> out) const {
  const auto n = static_cast<std::size_t>(n_);
  apply_faces(Faces(a, n), u, out, n);
}

DarcySolver::Report DarcySolver::solve(std::span<const double> a, std::span<const double> f, std::span<double> u,
                                       double tolerance) const {
  const auto size = static_cast<std::size_t>(n_ * n_);
  for (std::size_t i = 0; i < size; ++i) {
    if (!(a[i] > 0) || !std::isfinite(a[i]) || !std::isfinite(f[i])) {
      fail("solving Darcy flow", "a positive finite coefficient and a finite source",
           fmt::format("a = {}, f = {} in cell {}", a[i], f[i], i));
    }
  }
  const auto n = static_cast<std::size_t>(n_);
  const Faces faces(a, n);
  const FftwBuffer buffer = make_fftw_buffer(n_ * n_);
  std::vector<double> r(f.begin(), f.end()), z(size), p(size), q(size);
  std::fill(u.begin(), u.end(), 0.0);
  const double norm_f = std::sqrt(dot(f, f));
  Report report;
  if (norm_f == 0) return report;
  poisson_->solve(r, z, buffer.get());
  p = z;
  double rz = dot(r, z);
  while (std::sqrt(dot(r, r)) > tolerance * norm_f) {
    if (++report.iterations > kMaxIterations) {
      fail("solving Darcy flow", fmt::format("a residual of {} in {} iterations", tolerance, kMaxIterations),
           fmt::format("{}", std::sqrt(dot(r, r)) / norm_f), "the contrast of the coefficient may be too large");
    }
    apply_faces(faces, p, q, n);
    const double step = rz / dot(p, q);
    for (std::size_t i = 0; i < size; ++i) {
      u[i] += step * p[i];
      r[i] -= step * q[i];
    }
    poisson_->solve(r, z, buffer.get());
    const double rz_next = dot(r, z);
    for (std::size_t i = 0; i < size; ++i) p[i] = z[i] + rz_next / rz * p[i];
    rz = rz_next;
  }
  apply_faces(faces, u, q, n);
  for (std::size_t i = 0; i < size; ++i) q[i] -= f[i];
  report.residual = std::sqrt(dot(q, q)) / norm_f;
  return report;
}

}  // namespace lano
