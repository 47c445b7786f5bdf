// Newton-Krylov with pseudo-time: each step solves (D/CFL + dR/dU) dU = -R(U), D the sum of the wave speeds over the
// faces of a dual cell, by GMRES. Products with dR/dU are differences of the second-order residual; the preconditioner
// is ILU(0) of the first-order Jacobian, whose nodes are numbered along the mesh lines that leave wall and wake cut so
// that the stiff coupling across thin cells is eliminated exactly. CFL grows while the residual falls: implicit Euler
// far from the steady state, Newton near it. A step costs one factorisation and one residual per GMRES iteration; all
// are linear in the points.
#include "pde/euler_solver.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "pde/block_ilu.h"

namespace lano {
namespace {

constexpr int kKrylov = 60;  // GMRES vectors, no restart
constexpr double kLinearTolerance = 0.05;
constexpr double kMaxCfl = 1e7;
constexpr double kMinCfl = 0.5;
constexpr double kLargestChange = 0.3;  // of density and pressure in a step, relative
constexpr double kSmooth = 1e-6;        // squared jumps below this are not limited
constexpr double kCentred = 2.0 / 3;    // weight of the centred difference without limiter: beta = 1/3

double dot(std::span<const Vec4> a, std::span<const Vec4> b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    for (std::size_t k = 0; k < 4; ++k) sum += a[n][k] * b[n][k];
  }
  return sum;
}

double norm(std::span<const Vec4> a) { return std::sqrt(dot(a, a)); }

// y += f x
void add(std::span<Vec4> y, double f, std::span<const Vec4> x) {
  for (std::size_t n = 0; n < y.size(); ++n) {
    for (std::size_t k = 0; k < 4; ++k) y[n][k] += f * x[n][k];
  }
}

void add(Mat4& to, double f, const Mat4& m) {
  for (std::size_t k = 0; k < 16; ++k) to[k] += f * m[k];
}

// The slope along an edge from its own difference and the difference one edge further upwind.
double limited(Limiter limiter, double centred, double upwind) {
  switch (limiter) {
    case Limiter::none:
      return kCentred * centred + (1 - kCentred) * upwind;
    case Limiter::minmod:
      if (centred * upwind <= 0) return 0;
      return std::abs(centred) < std::abs(upwind) ? centred : upwind;
    case Limiter::van_albada:
      break;
  }
  return (centred + upwind) * std::max(centred * upwind + kSmooth, 0.0) /
         (centred * centred + upwind * upwind + 2 * kSmooth);
}

Vec4 as_vector(const Flow& w) { return {w.rho, w.u, w.v, w.p}; }

// The state at the middle of an edge of direction (dx, dy) seen from `from`; unphysical values fall back to the node's.
Flow reconstructed(Limiter limiter, const Flow& from, const Flow& to, const std::array<double, 8>& gradient, double dx,
                   double dy) {
  const Vec4 w = as_vector(from), other = as_vector(to);
  Vec4 at;
  for (std::size_t k = 0; k < 4; ++k) {
    const double centred = other[k] - w[k];
    const double upwind = 2 * (gradient[2 * k] * dx + gradient[2 * k + 1] * dy) - centred;
    at[k] = w[k] + 0.5 * limited(limiter, centred, upwind);
  }
  if (at[0] <= 0.1 * w[0] || at[3] <= 0.1 * w[3]) return from;
  return {at[0], at[1], at[2], at[3]};
}

bool physical(const Vec4& c) { return c[0] > 0 && c[3] - 0.5 * (c[1] * c[1] + c[2] * c[2]) / c[0] > 0; }

}  // namespace

struct EulerSolver::Work {
  Work(std::size_t nodes, std::span<const std::pair<std::size_t, std::size_t>> pattern)
      : flow(nodes), gradient(nodes), ilu(nodes, pattern), shift(nodes), probe(nodes), direction(nodes), image(nodes) {}
  std::vector<Flow> flow;
  std::vector<std::array<double, 8>> gradient;  // d/dx, d/dy of rho, u, v, p
  BlockIlu ilu;
  std::vector<double> shift;  // D / CFL
  std::vector<Vec4> probe, direction, image;
  std::vector<std::vector<Vec4>> basis;
};

EulerSolver::EulerSolver(QuadMesh mesh, EulerBoundary boundary) : mesh_(std::move(mesh)) {
  if (mesh_.ni < 3 || mesh_.nj < 3 || mesh_.x.size() != mesh_.points() || mesh_.y.size() != mesh_.points() ||
      2 * mesh_.wake + 2 > mesh_.ni || !boundary.outer) {
    fail_plainly("setting up an Euler solver", "it needs a mesh of at least 3 x 3 points and an outer state");
  }
  number_nodes();
  build_metrics(boundary);
  weigh_gradients();
}

// Lines of constant i in order; a line of the upper wake together with the lower line that meets it at the cut.
void EulerSolver::number_nodes() {
  const std::size_t ni = mesh_.ni, nj = mesh_.nj;
  node_of_.resize(mesh_.points());
  const auto number = [&](std::size_t point) {
    node_of_[point] = nodes_++;
    x_.push_back(mesh_.x[point]);
    y_.push_back(mesh_.y[point]);
  };
  const bool folded = mesh_.wake > 0;
  for (std::size_t i = 0; i < ni; ++i) {
    if (folded && i >= ni - 1 - mesh_.wake) break;
    if (folded && i <= mesh_.wake) {
      for (std::size_t j = nj - 1; j > 0; --j) number(mesh_.at(ni - 1 - i, j));
    }
    for (std::size_t j = 0; j < nj; ++j) number(mesh_.at(i, j));
    if (folded && i <= mesh_.wake) node_of_[mesh_.at(ni - 1 - i, 0)] = node_of_[mesh_.at(i, 0)];
  }
}

// Each cell adds to the dual face of each of its edges the segment from the edge's middle to the cell's centre, and
// half of a boundary edge to each of its ends; so every dual cell closes and a uniform flow is preserved to rounding.
void EulerSolver::build_metrics(const EulerBoundary& boundary) {
  const std::size_t ni = mesh_.ni, nj = mesh_.nj;
  double area = 0;
  for (std::size_t i = 0; i + 1 < ni; ++i) {
    for (std::size_t j = 0; j + 1 < nj; ++j) area += signed_area(mesh_, i, j);
  }
  const double turn = area > 0 ? 1 : -1;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  for (std::size_t i = 0; i + 1 < ni; ++i) {
    for (std::size_t j = 0; j + 1 < nj; ++j) {
      const std::array<std::size_t, 4> corner = {mesh_.at(i, j), mesh_.at(i + 1, j), mesh_.at(i + 1, j + 1),
                                                 mesh_.at(i, j + 1)};
      double cx = 0, cy = 0;
      for (const std::size_t c : corner) {
        cx += mesh_.x[c] / 4;
        cy += mesh_.y[c] / 4;
      }
      const bool airfoil = mesh_.wake == 0 || (i >= mesh_.wake && i + 1 < ni - mesh_.wake);
      const std::array<bool, 4> on_boundary = {j == 0 && airfoil, i + 2 == ni, j + 2 == nj, i == 0};
      for (std::size_t side = 0; side < 4; ++side) {
        const std::size_t p = corner[side], q = corner[(side + 1) % 4];
        const std::size_t a = node_of_[p], b = node_of_[q];
        const double dx = mesh_.x[q] - mesh_.x[p], dy = mesh_.y[q] - mesh_.y[p];
        const double sx = cx - (mesh_.x[p] + mesh_.x[q]) / 2, sy = cy - (mesh_.y[p] + mesh_.y[q]) / 2;
        const auto [at, fresh] = known.try_emplace(std::minmax(a, b), edges_.size());
        if (fresh) {
          const double sign = a < b ? 1 : -1;
          edges_.push_back({std::min(a, b), std::max(a, b), 0, 0, sign * dx, sign * dy, 0, 0, 0, 0});
        }
        Edge& edge = edges_[at->second];
        const double sign = edge.a == a ? turn : -turn;
        edge.nx += sign * sy;
        edge.ny -= sign * sx;
        if (!on_boundary[side]) continue;
        const bool wall = (side == 0 && boundary.wall_inner) || (side == 2 && boundary.wall_outer);
        for (const std::size_t end : {p, q}) {
          faces_.push_back({node_of_[end], turn * dy / 2, -turn * dx / 2, wall, side == 0,
                            boundary.outer(mesh_.x[end], mesh_.y[end])});
        }
      }
    }
  }
  for (std::size_t n = 0; n < nodes_; ++n) outer_.push_back(boundary.outer(x_[n], y_[n]));
}

// Least squares over the neighbours, weighted by the inverse squared distance: g = M^-1 sum w d (W_b - W_a).
void EulerSolver::weigh_gradients() {
  std::vector<std::array<double, 3>> moments(nodes_);
  for (const Edge& e : edges_) {
    const double w = 1 / (e.dx * e.dx + e.dy * e.dy);
    for (const std::size_t n : {e.a, e.b}) {
      moments[n][0] += w * e.dx * e.dx;
      moments[n][1] += w * e.dx * e.dy;
      moments[n][2] += w * e.dy * e.dy;
    }
  }
  const auto weights = [&](std::size_t n, const Edge& e, double& gx, double& gy) {
    const auto& [xx, xy, yy] = moments[n];
    const double w = 1 / ((e.dx * e.dx + e.dy * e.dy) * (xx * yy - xy * xy));
    gx = w * (yy * e.dx - xy * e.dy);
    gy = w * (xx * e.dy - xy * e.dx);
  };
  for (Edge& e : edges_) {
    weights(e.a, e, e.ax, e.ay);
    weights(e.b, e, e.bx, e.by);
  }
}

std::vector<Flow> EulerSolver::outer_flow() const {
  std::vector<Flow> flow(mesh_.points());
  for (std::size_t p = 0; p < flow.size(); ++p) flow[p] = outer_[node_of_[p]];
  return flow;
}

std::vector<Vec4> EulerSolver::gather(std::span<const Flow> flow) const {
  if (flow.size() != mesh_.points())
    fail_plainly("solving the Euler equations", "the number of states is not that of the mesh points");
  std::vector<Vec4> state(nodes_);
  for (std::size_t p = 0; p < flow.size(); ++p) state[node_of_[p]] = conserved(flow[p]);
  return state;
}

void EulerSolver::evaluate(std::span<const Vec4> state, Limiter limiter, bool first_order, Work& work,
                           std::span<Vec4> out) const {
  for (std::size_t n = 0; n < nodes_; ++n) work.flow[n] = primitive(state[n]);
  std::fill(out.begin(), out.end(), Vec4{});
  if (!first_order) {
    std::fill(work.gradient.begin(), work.gradient.end(), std::array<double, 8>{});
    for (const Edge& e : edges_) {
      const Vec4 a = as_vector(work.flow[e.a]), b = as_vector(work.flow[e.b]);
      for (std::size_t k = 0; k < 4; ++k) {
        const double d = b[k] - a[k];
        work.gradient[e.a][2 * k] += e.ax * d;
        work.gradient[e.a][2 * k + 1] += e.ay * d;
        work.gradient[e.b][2 * k] += e.bx * d;
        work.gradient[e.b][2 * k + 1] += e.by * d;
      }
    }
  }
  for (const Edge& e : edges_) {
    Flow l = work.flow[e.a], r = work.flow[e.b];
    if (!first_order) {
      l = reconstructed(limiter, work.flow[e.a], work.flow[e.b], work.gradient[e.a], e.dx, e.dy);
      r = reconstructed(limiter, work.flow[e.b], work.flow[e.a], work.gradient[e.b], -e.dx, -e.dy);
    }
    const Vec4 flux = roe_flux(l, r, e.nx, e.ny);
    for (std::size_t k = 0; k < 4; ++k) {
      out[e.a][k] += flux[k];
      out[e.b][k] -= flux[k];
    }
  }
  for (const Face& f : faces_) {
    const Flow& w = work.flow[f.node];
    const Vec4 flux = f.wall ? Vec4{0, w.p * f.nx, w.p * f.ny, 0} : roe_flux(w, f.outer, f.nx, f.ny);
    for (std::size_t k = 0; k < 4; ++k) out[f.node][k] += flux[k];
  }
}

// First-order Jacobian with the Roe matrix held fixed: dF/dU_l = (A_l + |A|)/2, dF/dU_r = (A_r - |A|)/2.
void EulerSolver::assemble(std::span<const Vec4> state, double cfl, Work& work) const {
  for (std::size_t n = 0; n < nodes_; ++n) work.flow[n] = primitive(state[n]);
  std::fill(work.shift.begin(), work.shift.end(), 0.0);
  BlockIlu& m = work.ilu;
  m.clear();
  for (const Edge& e : edges_) {
    const Flow &l = work.flow[e.a], &r = work.flow[e.b];
    const RoeDissipation roe(l, r, e.nx, e.ny);
    Mat4 left = flux_jacobian(l, e.nx, e.ny), right = flux_jacobian(r, e.nx, e.ny);
    const Mat4 size = roe.matrix();
    add(left, 1, size);
    add(right, -1, size);
    add(m.diagonal(e.a), 0.5, left);
    add(m.block(e.a, e.b), 0.5, right);
    add(m.diagonal(e.b), -0.5, right);
    add(m.block(e.b, e.a), -0.5, left);
    work.shift[e.a] += roe.spectral_radius();
    work.shift[e.b] += roe.spectral_radius();
  }
  for (const Face& f : faces_) {
    const Flow& w = work.flow[f.node];
    Mat4& diagonal = m.diagonal(f.node);
    if (f.wall) {
      const Vec4 dp = {0.5 * (w.u * w.u + w.v * w.v), -w.u, -w.v, 1};
      for (std::size_t k = 0; k < 4; ++k) {
        diagonal[4 + k] += (kGamma - 1) * f.nx * dp[k];
        diagonal[8 + k] += (kGamma - 1) * f.ny * dp[k];
      }
      work.shift[f.node] += std::hypot(f.nx, f.ny) * (std::hypot(w.u, w.v) + sound_speed(w));
    } else {
      const RoeDissipation roe(w, f.outer, f.nx, f.ny);
      add(diagonal, 0.5, flux_jacobian(w, f.nx, f.ny));
      add(diagonal, 0.5, roe.matrix());
      work.shift[f.node] += roe.spectral_radius();
    }
  }
  for (std::size_t n = 0; n < nodes_; ++n) {
    work.shift[n] /= cfl;
    for (std::size_t k = 0; k < 4; ++k) m.diagonal(n)[5 * k] += work.shift[n];
  }
  m.factorise();
}

// GMRES, right preconditioned, Givens rotations; the step starts from zero.
int EulerSolver::solve_linear(std::span<const Vec4> state, std::span<const Vec4> residual, const EulerOptions& options,
                              Work& work, std::span<Vec4> step) const {
  std::vector<std::vector<double>> h;  // columns of the rotated Hessenberg matrix
  std::vector<double> cosine, sine, g = {norm(residual)};
  auto& basis = work.basis;
  basis.resize(1);
  basis[0].assign(residual.begin(), residual.end());
  for (Vec4& v : basis[0]) {
    for (double& value : v) value /= -g[0];
  }
  const double target = kLinearTolerance * g[0], state_size = norm(state);
  std::size_t used = 0;
  while (used < kKrylov && std::abs(g[used]) > target) {
    work.ilu.solve(basis[used], work.direction);
    // A difference of residuals; the step balances rounding against curvature.
    const double epsilon = 1e-8 * state_size / std::max(norm(work.direction), 1e-300);
    std::copy(state.begin(), state.end(), work.probe.begin());
    add(work.probe, epsilon, work.direction);
    std::vector<Vec4> next(nodes_);
    evaluate(work.probe, options.limiter, options.first_order, work, next);
    for (std::size_t n = 0; n < nodes_; ++n) {
      for (std::size_t k = 0; k < 4; ++k) {
        next[n][k] = (next[n][k] - residual[n][k]) / epsilon + work.shift[n] * work.direction[n][k];
      }
    }
    std::vector<double> column(used + 2);
    for (std::size_t k = 0; k <= used; ++k) {
      column[k] = dot(next, basis[k]);
      add(next, -column[k], basis[k]);
    }
    column[used + 1] = norm(next);
    if (!std::isfinite(column[used + 1])) break;
    for (Vec4& v : next) {
      for (double& value : v) value /= std::max(column[used + 1], 1e-300);
    }
    for (std::size_t k = 0; k < used; ++k) {
      const double top = column[k];
      column[k] = cosine[k] * top + sine[k] * column[k + 1];
      column[k + 1] = -sine[k] * top + cosine[k] * column[k + 1];
    }
    const double radius = std::hypot(column[used], column[used + 1]);
    cosine.push_back(column[used] / radius);
    sine.push_back(column[used + 1] / radius);
    column[used] = radius;
    g.push_back(-sine[used] * g[used]);
    g[used] *= cosine[used];
    h.push_back(std::move(column));
    basis.push_back(std::move(next));
    ++used;
  }
  std::fill(work.image.begin(), work.image.end(), Vec4{});
  std::vector<double> y(used);
  for (std::size_t k = used; k-- > 0;) {
    y[k] = g[k];
    for (std::size_t m = k + 1; m < used; ++m) y[k] -= h[m][k] * y[m];
    y[k] /= h[k][k];
    add(work.image, y[k], basis[k]);
  }
  work.ilu.solve(work.image, step);
  return static_cast<int>(used);
}

EulerReport EulerSolver::solve(std::span<Flow> flow, const EulerOptions& options) const {
  std::vector<std::pair<std::size_t, std::size_t>> pattern;
  for (const Edge& e : edges_) pattern.emplace_back(e.a, e.b);
  Work work(nodes_, pattern);
  EulerReport report;
  std::vector<Vec4> state(nodes_), now(nodes_), trial(nodes_), trial_residual(nodes_), step(nodes_);
  for (std::size_t n = 0; n < nodes_; ++n) state[n] = conserved(outer_[n]);
  evaluate(state, options.limiter, options.first_order, work, now);
  report.reference = norm(now);
  state = gather(flow);
  evaluate(state, options.limiter, options.first_order, work, now);
  double size = norm(now) / report.reference, cfl = options.first_cfl;
  report.residuals = {size};
  while (size > options.tolerance && report.steps() < options.max_steps && cfl >= kMinCfl) {
    assemble(state, cfl, work);
    report.linear_iterations += solve_linear(state, now, options, work, step);
    // Shorten the step where it would change density or pressure by too much.
    double share = 1;
    for (std::size_t n = 0; n < nodes_; ++n) {
      const Flow w = primitive(state[n]);
      const double dp = (kGamma - 1) *
                        (0.5 * (w.u * w.u + w.v * w.v) * step[n][0] - w.u * step[n][1] - w.v * step[n][2] + step[n][3]);
      share = std::min({share, kLargestChange * w.rho / std::abs(step[n][0]), kLargestChange * w.p / std::abs(dp)});
    }
    trial = state;
    add(trial, share, step);
    bool good = std::isfinite(share) && share > 0.02 && std::all_of(trial.begin(), trial.end(), physical);
    double trial_size = 0;
    if (good) {
      evaluate(trial, options.limiter, options.first_order, work, trial_residual);
      trial_size = norm(trial_residual) / report.reference;
      good = std::isfinite(trial_size) && trial_size < 1.5 * size;
    }
    if (!good) {
      cfl /= 5;
      report.residuals.push_back(size);
      continue;
    }
    const double gain = size / trial_size;
    cfl = std::clamp(cfl * (share < 0.5 ? 0.7 : std::clamp(1.3 * gain, 0.5, 4.0)), kMinCfl, kMaxCfl);
    std::swap(state, trial);
    std::swap(now, trial_residual);
    size = trial_size;
    report.residuals.push_back(size);
  }
  report.converged = size <= options.tolerance;
  for (std::size_t p = 0; p < flow.size(); ++p) flow[p] = primitive(state[node_of_[p]]);
  return report;
}

std::vector<Vec4> EulerSolver::residual(std::span<const Flow> flow, Limiter limiter) const {
  Work work(nodes_, {});
  std::vector<Vec4> at_nodes(nodes_), out(mesh_.points());
  evaluate(gather(flow), limiter, false, work, at_nodes);
  for (std::size_t p = 0; p < out.size(); ++p) out[p] = at_nodes[node_of_[p]];
  return out;
}

std::pair<double, double> EulerSolver::wall_force(std::span<const Flow> flow) const {
  const std::vector<Vec4> state = gather(flow);
  std::pair<double, double> force;
  for (const Face& f : faces_) {
    if (!f.wall || !f.inner) continue;
    const double p = primitive(state[f.node]).p;
    force.first += p * f.nx;
    force.second += p * f.ny;
  }
  return force;
}

}  // namespace lano
