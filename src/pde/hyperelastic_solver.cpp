// With J = det C and T = tr C of the plane:  W = C1 (T + 1/J - 3) + C2 (J + T/J - 3), and with adj C = dJ/dC
//   S = 2 [ (C1 + C2/J) I + b adj C ],  b = -C1/J^2 + C2 (1 - T/J^2).
#include "pde/hyperelastic_solver.h"

#include <Eigen/SparseCholesky>
#include <cmath>

#include "core/error.h"

namespace lano {
namespace {

constexpr int kNewtonSteps = 30;

// One-dimensional quadratic shape functions at -1, 0, 1 and their slopes.
std::array<double, 3> shape(double t) { return {0.5 * t * (t - 1), 1 - t * t, 0.5 * t * (t + 1)}; }
std::array<double, 3> slope(double t) { return {t - 0.5, -2 * t, t + 0.5}; }

// Where node k of an element sits among the 3 x 3: (column, row).
constexpr std::array<std::array<int, 2>, 9> kPlace{
    {{0, 0}, {2, 0}, {2, 2}, {0, 2}, {1, 0}, {2, 1}, {1, 2}, {0, 1}, {1, 1}}};

constexpr std::array<double, 3> kWeight{5.0 / 9, 8.0 / 9, 5.0 / 9};
double gauss(int i) { return (i - 1) * std::sqrt(0.6); }

// An integration point: shape values, gradients in the undeformed body, and its share of the volume.
struct At {
  std::array<double, 9> value;
  std::array<Point2, 9> gradient;
  Point2 place{};
  double weight = 0;
};

At at_gauss(const Q9Mesh& mesh, const std::array<int, 9>& element, int i, int j) {
  const auto nx = shape(gauss(i)), ny = shape(gauss(j)), dx = slope(gauss(i)), dy = slope(gauss(j));
  At at;
  std::array<Point2, 9> local;
  double a[2][2] = {{0, 0}, {0, 0}};  // d place / d local
  for (std::size_t k = 0; k < 9; ++k) {
    const auto c = static_cast<std::size_t>(kPlace[k][0]), r = static_cast<std::size_t>(kPlace[k][1]);
    at.value[k] = nx[c] * ny[r];
    local[k] = {dx[c] * ny[r], nx[c] * dy[r]};
    const Point2& node = mesh.nodes[static_cast<std::size_t>(element[k])];
    for (std::size_t d = 0; d < 2; ++d) {
      at.place[d] += at.value[k] * node[d];
      for (std::size_t e = 0; e < 2; ++e) a[d][e] += local[k][e] * node[d];
    }
  }
  const double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
  if (!(det > 0)) fail_plainly("meshing an elastic body", "an element is folded over", "give the nodes in order");
  for (std::size_t k = 0; k < 9; ++k) {
    at.gradient[k] = {(a[1][1] * local[k][0] - a[1][0] * local[k][1]) / det,
                      (-a[0][1] * local[k][0] + a[0][0] * local[k][1]) / det};
  }
  at.weight = det * kWeight[static_cast<std::size_t>(i)] * kWeight[static_cast<std::size_t>(j)];
  return at;
}

using Gradient = std::array<double, 4>;  // F11, F12, F21, F22

Gradient deformation(const At& at, const std::array<int, 9>& element, const std::vector<double>& u) {
  Gradient f{1, 0, 0, 1};
  for (std::size_t k = 0; k < 9; ++k) {
    const auto node = static_cast<std::size_t>(element[k]);
    for (std::size_t d = 0; d < 2; ++d) {
      for (std::size_t e = 0; e < 2; ++e) f[2 * d + e] += u[2 * node + d] * at.gradient[k][e];
    }
  }
  return f;
}

std::array<double, 3> cauchy_green(const Gradient& f) {
  return {f[0] * f[0] + f[2] * f[2], f[1] * f[1] + f[3] * f[3], f[0] * f[1] + f[2] * f[3]};
}

std::vector<double> external_forces(const Q9Mesh& mesh, const Q9Load& load) {
  std::vector<double> force(2 * mesh.nodes.size(), 0.0);
  for (const Q9Load::Edge& edge : load.edges) {
    for (int i = 0; i < 3; ++i) {
      const auto n = shape(gauss(i)), s = slope(gauss(i));
      Point2 tangent{};
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t d = 0; d < 2; ++d) tangent[d] += s[k] * mesh.nodes[static_cast<std::size_t>(edge.nodes[k])][d];
      }
      const double length = std::hypot(tangent[0], tangent[1]) * kWeight[static_cast<std::size_t>(i)];
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t d = 0; d < 2; ++d)
          force[2 * static_cast<std::size_t>(edge.nodes[k]) + d] += n[k] * edge.traction[d] * length;
      }
    }
  }
  if (load.body) {
    for (const auto& element : mesh.elements) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          const At at = at_gauss(mesh, element, i, j);
          const Point2 b = load.body(at.place);
          for (std::size_t k = 0; k < 9; ++k) {
            for (std::size_t d = 0; d < 2; ++d)
              force[2 * static_cast<std::size_t>(element[k]) + d] += at.value[k] * b[d] * at.weight;
          }
        }
      }
    }
  }
  return force;
}

}  // namespace

std::array<double, 3> RivlinSaunders::stress(const std::array<double, 3>& c) const {
  const double j = c[0] * c[1] - c[2] * c[2], t = c[0] + c[1];
  const double a = c1 + c2 / j, b = -c1 / (j * j) + c2 * (1 - t / (j * j));
  return {2 * (a + b * c[1]), 2 * (a + b * c[0]), -2 * b * c[2]};
}

std::array<std::array<double, 3>, 3> RivlinSaunders::tangent(const std::array<double, 3>& c) const {
  const double j = c[0] * c[1] - c[2] * c[2], t = c[0] + c[1];
  const double b = -c1 / (j * j) + c2 * (1 - t / (j * j)), cross = -c2 / (j * j),
               square = 2 * (c1 + c2 * t) / (j * j * j);
  const std::array<double, 3> one{1, 1, 0}, adj{c[1], c[0], -c[2]};
  std::array<std::array<double, 3>, 3> d{};
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t n = 0; n < 3; ++n)
      d[m][n] = 4 * (cross * (one[m] * adj[n] + adj[m] * one[n]) + square * adj[m] * adj[n]);
  }
  d[0][1] += 4 * b;
  d[1][0] += 4 * b;
  d[2][2] -= 2 * b;
  return d;
}

ElasticSolution solve_hyperelastic(const Q9Mesh& mesh, const RivlinSaunders& material, const Q9Load& load, int steps,
                                   double tolerance) {
  const std::size_t size = 2 * mesh.nodes.size();
  const std::vector<double> full = external_forces(mesh, load);
  std::vector<int> unknown(size, -1);
  int unknowns = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!load.fixed[i]) unknown[i] = unknowns++;
  }
  std::vector<At> points;
  for (const auto& element : mesh.elements) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) points.push_back(at_gauss(mesh, element, i, j));
    }
  }
  ElasticSolution solution;
  solution.displacement.assign(size, 0.0);
  std::vector<double>& u = solution.displacement;
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors;
  bool analysed = false;
  for (int step = 1; step <= steps; ++step) {
    const double share = static_cast<double>(step) / steps;
    for (std::size_t i = 0; i < size; ++i) {
      if (load.fixed[i]) u[i] = share * load.prescribed[i];
    }
    solution.residuals.clear();
    solution.converged = false;
    for (int newton = 0; newton < kNewtonSteps; ++newton) {
      std::vector<double> inner(size, 0.0);
      std::vector<Eigen::Triplet<double>> entries;
      entries.reserve(mesh.elements.size() * 18 * 18);
      double internal = 0;
      for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
        const auto& element = mesh.elements[e];
        Eigen::Matrix<double, 18, 18> k = Eigen::Matrix<double, 18, 18>::Zero();
        for (std::size_t g = 0; g < 9; ++g) {
          const At& at = points[9 * e + g];
          const Gradient f = deformation(at, element, u);
          const auto c = cauchy_green(f);
          if (!(c[0] * c[1] - c[2] * c[2] > 0)) return solution;  // folded: not converged
          const auto s = material.stress(c);
          const auto d = material.tangent(c);
          // Rows of the variation of (E11, E22, 2 E12) by the displacements.
          Eigen::Matrix<double, 3, 18> strain;
          for (std::size_t n = 0; n < 9; ++n) {
            for (std::size_t m = 0; m < 2; ++m) {
              const auto column = static_cast<Eigen::Index>(2 * n + m);
              const Point2& q = at.gradient[n];
              strain(0, column) = f[2 * m] * q[0];
              strain(1, column) = f[2 * m + 1] * q[1];
              strain(2, column) = f[2 * m] * q[1] + f[2 * m + 1] * q[0];
            }
          }
          Eigen::Matrix3d law;
          for (int m = 0; m < 3; ++m) {
            for (int n = 0; n < 3; ++n) law(m, n) = d[static_cast<std::size_t>(m)][static_cast<std::size_t>(n)];
          }
          const Eigen::Vector3d stress(s[0], s[1], s[2]);
          k += at.weight * strain.transpose() * law * strain;
          const Eigen::Matrix<double, 18, 1> force = at.weight * strain.transpose() * stress;
          for (std::size_t n = 0; n < 9; ++n) {
            for (std::size_t m = 0; m < 2; ++m)
              inner[2 * static_cast<std::size_t>(element[n]) + m] += force(static_cast<Eigen::Index>(2 * n + m));
            for (std::size_t o = 0; o < 9; ++o) {
              const Point2 &p = at.gradient[n], &q = at.gradient[o];
              const double initial =
                  at.weight * (s[0] * p[0] * q[0] + s[1] * p[1] * q[1] + s[2] * (p[0] * q[1] + p[1] * q[0]));
              for (std::size_t m = 0; m < 2; ++m)
                k(static_cast<Eigen::Index>(2 * n + m), static_cast<Eigen::Index>(2 * o + m)) += initial;
            }
          }
          internal += force.squaredNorm();
        }
        for (std::size_t a = 0; a < 18; ++a) {
          const int row = unknown[2 * static_cast<std::size_t>(element[a / 2]) + a % 2];
          for (std::size_t b = 0; row >= 0 && b < 18; ++b) {
            const int column = unknown[2 * static_cast<std::size_t>(element[b / 2]) + b % 2];
            if (column >= 0)
              entries.emplace_back(row, column, k(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)));
          }
        }
      }
      Eigen::VectorXd right(unknowns);
      solution.reaction.assign(size, 0.0);
      double scale = internal;
      for (std::size_t i = 0; i < size; ++i) {
        const double out = share * full[i];
        scale += out * out;
        if (unknown[i] >= 0) {
          right(unknown[i]) = out - inner[i];
        } else {
          solution.reaction[i] = inner[i] - out;
        }
      }
      const double residual = right.norm();
      if (!std::isfinite(residual)) return solution;
      // Near the undeformed state stresses are small differences of the constants: there rounding may end the descent
      // earlier.
      const bool at_rounding = !solution.residuals.empty() && residual > 0.1 * solution.residuals.back() &&
                               residual <= 1e-7 * std::sqrt(scale);
      solution.residuals.push_back(residual);
      if (residual <= tolerance * std::sqrt(scale) + 1e-300 || at_rounding) {
        solution.converged = true;
        break;
      }
      Eigen::SparseMatrix<double> matrix(unknowns, unknowns);
      matrix.setFromTriplets(entries.begin(), entries.end());
      if (!analysed) factors.analyzePattern(matrix);
      analysed = true;
      factors.factorize(matrix);
      if (factors.info() != Eigen::Success) return solution;
      const Eigen::VectorXd change = factors.solve(right);
      for (std::size_t i = 0; i < size; ++i) {
        if (unknown[i] >= 0) u[i] += change(unknown[i]);
      }
    }
    if (!solution.converged) return solution;
  }
  return solution;
}

GaussValues gauss_values(const Q9Mesh& mesh, const RivlinSaunders& material, const std::vector<double>& displacement) {
  GaussValues values;
  for (const auto& element : mesh.elements) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const At at = at_gauss(mesh, element, i, j);
        const Gradient f = deformation(at, element, displacement);
        const auto s = material.stress(cauchy_green(f));
        // Cauchy = F S F^T: the volume does not change.
        const auto part = [&](std::size_t a, std::size_t b) {
          return f[2 * a] * (s[0] * f[2 * b] + s[2] * f[2 * b + 1]) +
                 f[2 * a + 1] * (s[2] * f[2 * b] + s[1] * f[2 * b + 1]);
        };
        const double xx = part(0, 0), yy = part(1, 1), xy = part(0, 1);
        values.places.push_back(at.place);
        values.cauchy.push_back({xx, yy, xy});
        values.von_mises.push_back(std::sqrt(xx * xx - xx * yy + yy * yy + 3 * xy * xy));
      }
    }
  }
  return values;
}

}  // namespace lano
