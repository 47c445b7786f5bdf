// Weak form, for all test functions w (zero where the velocity is given) and q:
//   nu (grad u, grad w) + ((u . grad) u, w) - (p, div w) = (f, w),   -(q, div u) = 0.
// Newton's method on it; each step is a sparse LU factorisation by UMFPACK. Known values are eliminated from the
// system. The matrix has the same pattern for every flow on a mesh, so it is found, ordered and analysed once, at
// construction. A factorisation is by far the most expensive part and is reused for further steps as long as each of
// these gains a factor of ten.
#include "pde/taylor_hood.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "pde/umfpack_library.h"

namespace lano {
namespace {

constexpr int kVelocity = 9, kPressure = 4, kUnknowns = 2 * kVelocity + kPressure;  // of an element: u, v, p
constexpr double kKeepFactors = 0.1;  // a step that leaves less of the residual than this keeps the factorisation
constexpr int kMostHalvings = 6;      // of a Newton step that does not lower the residual

// Gauss points and weights on [0, 1], four per axis: exact for every term on parallelograms, (u . grad) u w being of
// degree six.
constexpr int kGauss = 4;
constexpr std::array<double, kGauss> kPoint{0.0694318442029737, 0.3300094782075719, 0.6699905217924281,
                                            0.9305681557970263};
constexpr std::array<double, kGauss> kWeight{0.1739274225687269, 0.3260725774312731, 0.3260725774312731,
                                             0.1739274225687269};

// Shape functions at the Gauss points, element nodes numbered like the mesh's: the last index fastest.
struct Shapes {
  struct At {
    double weight;
    std::array<double, kVelocity> n, n_xi, n_eta;
    std::array<double, kPressure> q;
  };
  std::array<At, kGauss * kGauss> at;

  Shapes() {
    for (int g = 0; g < kGauss * kGauss; ++g) {
      const double xi = kPoint[static_cast<std::size_t>(g / kGauss)],
                   eta = kPoint[static_cast<std::size_t>(g % kGauss)];
      At& to = at[static_cast<std::size_t>(g)];
      to.weight = kWeight[static_cast<std::size_t>(g / kGauss)] * kWeight[static_cast<std::size_t>(g % kGauss)];
      const auto a = quadratic(xi), b = quadratic(eta), da = quadratic_slope(xi), db = quadratic_slope(eta);
      for (std::size_t k = 0; k < kVelocity; ++k) {
        to.n[k] = a[k / 3] * b[k % 3];
        to.n_xi[k] = da[k / 3] * b[k % 3];
        to.n_eta[k] = a[k / 3] * db[k % 3];
      }
      to.q = {(1 - xi) * (1 - eta), (1 - xi) * eta, xi * (1 - eta), xi * eta};
    }
  }
  static std::array<double, 3> quadratic(double t) { return {(1 - t) * (1 - 2 * t), 4 * t * (1 - t), t * (2 * t - 1)}; }
  static std::array<double, 3> quadratic_slope(double t) { return {4 * t - 3, 4 - 8 * t, 4 * t - 1}; }
};

// What an element sees and gives.
struct Element {
  std::array<double, kVelocity> x, y, u, v;
  std::array<double, kPressure> p;
  std::array<double, kUnknowns> residual;
  std::array<std::array<double, kUnknowns>, kUnknowns> jacobian;  // [equation][unknown]
};

enum class Convection { off, on };

struct Terms {
  double viscosity;
  Convection convection;
  const std::function<std::array<double, 2>(double, double)>& force;
};

// False where the map from the unit square turns over at a Gauss point.
template <bool with_jacobian>
bool integrate(const Shapes& shapes, const Terms& terms, Element& e) {
  e.residual.fill(0);
  if constexpr (with_jacobian) e.jacobian.fill({});
  constexpr std::size_t V = kVelocity, P = 2 * kVelocity;
  const double c = terms.convection == Convection::on ? 1 : 0;
  for (const Shapes::At& s : shapes.at) {
    double x = 0, y = 0, x_xi = 0, x_eta = 0, y_xi = 0, y_eta = 0;
    for (std::size_t k = 0; k < V; ++k) {
      x += s.n[k] * e.x[k];
      y += s.n[k] * e.y[k];
      x_xi += s.n_xi[k] * e.x[k];
      x_eta += s.n_eta[k] * e.x[k];
      y_xi += s.n_xi[k] * e.y[k];
      y_eta += s.n_eta[k] * e.y[k];
    }
    const double det = x_xi * y_eta - x_eta * y_xi;
    if (!(det > 0)) return false;
    const double w = s.weight * det;

    std::array<double, V> nx, ny;  // dN/dx, dN/dy
    double u = 0, v = 0, p = 0, ux = 0, uy = 0, vx = 0, vy = 0;
    for (std::size_t k = 0; k < V; ++k) {
      nx[k] = (s.n_xi[k] * y_eta - s.n_eta[k] * y_xi) / det;
      ny[k] = (s.n_eta[k] * x_xi - s.n_xi[k] * x_eta) / det;
      u += s.n[k] * e.u[k];
      v += s.n[k] * e.v[k];
      ux += nx[k] * e.u[k];
      uy += ny[k] * e.u[k];
      vx += nx[k] * e.v[k];
      vy += ny[k] * e.v[k];
    }
    for (std::size_t k = 0; k < kPressure; ++k) p += s.q[k] * e.p[k];
    const std::array<double, 2> f = terms.force ? terms.force(x, y) : std::array<double, 2>{0, 0};

    const double nu = terms.viscosity, along_u = c * (u * ux + v * uy) - f[0], along_v = c * (u * vx + v * vy) - f[1];
    for (std::size_t a = 0; a < V; ++a) {
      e.residual[a] += w * (nu * (ux * nx[a] + uy * ny[a]) + along_u * s.n[a] - p * nx[a]);
      e.residual[V + a] += w * (nu * (vx * nx[a] + vy * ny[a]) + along_v * s.n[a] - p * ny[a]);
    }
    for (std::size_t k = 0; k < kPressure; ++k) e.residual[P + k] -= w * s.q[k] * (ux + vy);

    if constexpr (with_jacobian) {
      for (std::size_t a = 0; a < V; ++a) {
        const double wn = c * w * s.n[a];
        for (std::size_t b = 0; b < V; ++b) {
          const double same = w * nu * (nx[a] * nx[b] + ny[a] * ny[b]) + wn * (u * nx[b] + v * ny[b]);
          e.jacobian[a][b] += same + wn * s.n[b] * ux;
          e.jacobian[a][V + b] += wn * s.n[b] * uy;
          e.jacobian[V + a][b] += wn * s.n[b] * vx;
          e.jacobian[V + a][V + b] += same + wn * s.n[b] * vy;
        }
        for (std::size_t k = 0; k < kPressure; ++k) {
          const double gx = w * s.q[k] * nx[a], gy = w * s.q[k] * ny[a];
          e.jacobian[a][P + k] -= gx;
          e.jacobian[P + k][a] -= gx;
          e.jacobian[V + a][P + k] -= gy;
          e.jacobian[P + k][V + a] -= gy;
        }
      }
    }
  }
  return true;
}

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

// UMFPACK calls the BLAS, which would share a product among all threads where no other parallel region runs: slower at
// these sizes, and with other roundings. The count is the calling thread's own, so this affects no other thread.
class OneBlasThread {
 public:
  OneBlasThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneBlasThread() { omp_set_num_threads(before_); }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int before_;
};

[[noreturn]] void fail_umfpack(const char* doing, int status) {
  fail(fmt::format("solving a flow, {}", doing), "success", fmt::format("UMFPACK status {}", status),
       status == UMFPACK_ERROR_out_of_memory ? "it is out of memory" : "");
}

FlowMesh checked(FlowMesh mesh) {
  if (mesh.nx < 1 || mesh.ny < 1 || static_cast<std::int64_t>(mesh.prescribed.size()) != mesh.nodes()) {
    fail("solving a flow", "at least one element per axis and a mark for each node",
         fmt::format("{} x {} elements, {} marks", mesh.nx, mesh.ny, mesh.prescribed.size()));
  }
  if (mesh.pinned && (*mesh.pinned < 0 || *mesh.pinned >= (mesh.nx + 1) * (mesh.ny + 1))) {
    fail("solving a flow", "a pinned pressure on the mesh", fmt::format("node {}", *mesh.pinned));
  }
  bool closed = true;
  for (std::int64_t i = 0; i < mesh.rows(); ++i) {
    for (std::int64_t j = 0; j < mesh.columns(); ++j) {
      const bool boundary = i == 0 || j == 0 || i + 1 == mesh.rows() || j + 1 == mesh.columns();
      if (boundary && !mesh.prescribed[static_cast<std::size_t>(mesh.node(i, j))]) closed = false;
    }
  }
  if (closed != mesh.pinned.has_value()) {
    fail_plainly("solving a flow", closed ? "all boundary velocities are prescribed, but no pressure is pinned"
                                          : "a pressure is pinned, but the boundary is free in part");
  }
  return mesh;
}

}  // namespace

// The places of the matrix. A state is [u, v, p] over all nodes; `equation` numbers its unknown entries, -1 where
// known.
struct TaylorHoodSolver::Pattern {
  explicit Pattern(const FlowMesh& mesh);
  ~Pattern() { umfpack().free_symbolic(&symbolic); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // The residual and, where wanted, its derivative at `state`. Fails on a folded mesh.
  void assemble(const FlowCase& flow, Convection convection, const std::vector<double>& state,
                std::vector<double>& residual, std::vector<double>* matrix) const;

  std::size_t nodes;
  std::vector<std::array<int, kUnknowns>> entry;              // of each element: its entries of the state
  std::vector<int> equation;                                  // [state]
  std::vector<int> unknown;                                   // the entry of each equation
  std::vector<int> columns, rows;                             // compressed columns
  std::vector<std::array<int, kUnknowns * kUnknowns>> place;  // of each element's matrix, -1 where known
  std::array<double, UMFPACK_CONTROL> control;
  void* symbolic = nullptr;
  Shapes shapes;

 private:
  void number_elements(const FlowMesh& mesh);
  void number_unknowns(const FlowMesh& mesh);
  void find_places();
  void analyse();
};

TaylorHoodSolver::Pattern::Pattern(const FlowMesh& mesh) : nodes(static_cast<std::size_t>(mesh.nodes())) {
  number_elements(mesh);
  number_unknowns(mesh);
  find_places();
  analyse();
}

void TaylorHoodSolver::Pattern::number_elements(const FlowMesh& mesh) {
  const int count = static_cast<int>(nodes);
  for (std::int64_t i = 0; i < mesh.nx; ++i) {
    for (std::int64_t j = 0; j < mesh.ny; ++j) {
      auto& e = entry.emplace_back();
      for (int k = 0; k < kVelocity; ++k) {
        const int node = static_cast<int>(mesh.node(2 * i + k / 3, 2 * j + k % 3));
        e[static_cast<std::size_t>(k)] = node;
        e[static_cast<std::size_t>(kVelocity + k)] = count + node;
      }
      for (int k = 0; k < kPressure; ++k) {
        e[static_cast<std::size_t>(2 * kVelocity + k)] =
            2 * count + static_cast<int>((i + k / 2) * (mesh.ny + 1) + j + k % 2);
      }
    }
  }
}

void TaylorHoodSolver::Pattern::number_unknowns(const FlowMesh& mesh) {
  equation.assign(2 * nodes + static_cast<std::size_t>((mesh.nx + 1) * (mesh.ny + 1)), -1);
  const auto number = [&](std::size_t at) {
    equation[at] = static_cast<int>(unknown.size());
    unknown.push_back(static_cast<int>(at));
  };
  for (std::int64_t i = 0; i < mesh.rows(); ++i) {
    for (std::int64_t j = 0; j < mesh.columns(); ++j) {
      const auto node = static_cast<std::size_t>(mesh.node(i, j));
      if (!mesh.prescribed[node]) {
        number(node);
        number(nodes + node);
      }
      const std::int64_t q = i / 2 * (mesh.ny + 1) + j / 2;
      if (i % 2 == 0 && j % 2 == 0 && mesh.pinned != q) number(2 * nodes + static_cast<std::size_t>(q));
    }
  }
}

void TaylorHoodSolver::Pattern::find_places() {
  // Calls each(element, place in its matrix, row, column) for all couplings; there is none of a pressure with a
  // pressure.
  const auto for_couplings = [&](auto&& each) {
    for (std::size_t k = 0; k < entry.size(); ++k) {
      for (std::size_t a = 0; a < kUnknowns; ++a) {
        for (std::size_t b = 0; b < kUnknowns; ++b) {
          const int row = equation[static_cast<std::size_t>(entry[k][a])];
          const int column = equation[static_cast<std::size_t>(entry[k][b])];
          const bool coupled = a < 2 * kVelocity || b < 2 * kVelocity;
          if (row >= 0 && column >= 0 && coupled) each(k, a * kUnknowns + b, row, static_cast<std::size_t>(column));
        }
      }
    }
  };
  std::vector<std::vector<int>> rows_of(unknown.size());
  for_couplings([&](std::size_t, std::size_t, int row, std::size_t column) { rows_of[column].push_back(row); });
  columns.push_back(0);
  for (auto& c : rows_of) {
    std::sort(c.begin(), c.end());
    c.erase(std::unique(c.begin(), c.end()), c.end());
    rows.insert(rows.end(), c.begin(), c.end());
    columns.push_back(static_cast<int>(rows.size()));
  }
  place.resize(entry.size());
  for (auto& p : place) p.fill(-1);
  for_couplings([&](std::size_t k, std::size_t in_element, int row, std::size_t column) {
    const auto first = rows.begin() + columns[column], last = rows.begin() + columns[column + 1];
    place[k][in_element] = static_cast<int>(std::lower_bound(first, last, row) - rows.begin());
  });
}

void TaylorHoodSolver::Pattern::analyse() {
  umfpack().defaults(control.data());
  control[UMFPACK_IRSTEP] = 0;  // Newton's next step corrects what refinement would
  // The places are symmetric but UMFPACK, seeing zeros for the pressures on the diagonal, would treat them as if they
  // were not: twice the time. Its threshold pivoting still steps off the diagonal where it must.
  control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
  control[UMFPACK_ORDERING] = UMFPACK_ORDERING_AMD;
  const int n = static_cast<int>(unknown.size());
  const int status = umfpack().symbolic(n, n, columns.data(), rows.data(), nullptr, &symbolic, control.data(), nullptr);
  if (status != UMFPACK_OK) fail_umfpack("analysing the matrix", status);
}

void TaylorHoodSolver::Pattern::assemble(const FlowCase& flow, Convection convection, const std::vector<double>& state,
                                         std::vector<double>& residual, std::vector<double>* matrix) const {
  const Terms terms{flow.viscosity, convection, flow.force};
  residual.assign(unknown.size(), 0);
  if (matrix != nullptr) matrix->assign(rows.size(), 0);
  Element e;
  for (std::size_t k = 0; k < entry.size(); ++k) {
    const auto& at = entry[k];
    for (std::size_t a = 0; a < kVelocity; ++a) {
      const auto node = static_cast<std::size_t>(at[a]);
      e.x[a] = flow.x[node];
      e.y[a] = flow.y[node];
      e.u[a] = state[node];
      e.v[a] = state[nodes + node];
    }
    for (std::size_t a = 0; a < kPressure; ++a) e.p[a] = state[static_cast<std::size_t>(at[2 * kVelocity + a])];
    if (!(matrix != nullptr ? integrate<true>(shapes, terms, e) : integrate<false>(shapes, terms, e))) {
      fail("solving a flow", "elements whose Jacobian is positive", fmt::format("a folded element, number {}", k),
           "check the order of the nodes");
    }
    for (std::size_t a = 0; a < kUnknowns; ++a) {
      const int row = equation[static_cast<std::size_t>(at[a])];
      if (row >= 0) residual[static_cast<std::size_t>(row)] += e.residual[a];
    }
    if (matrix == nullptr) continue;
    for (std::size_t a = 0; a < kUnknowns * kUnknowns; ++a) {
      const int to = place[k][a];
      if (to >= 0) (*matrix)[static_cast<std::size_t>(to)] += e.jacobian[a / kUnknowns][a % kUnknowns];
    }
  }
}

// The iteration of one solve.
struct TaylorHoodSolver::Newton {
  Newton(const Pattern& pattern, const FlowCase& of) : m(pattern), flow(of), step(pattern.unknown.size()) {}
  ~Newton() { umfpack().free_numeric(&numeric); }
  Newton(const Newton&) = delete;
  Newton& operator=(const Newton&) = delete;

  // Factorises the derivative at `state`; false where it is singular.
  bool factorise(Convection convection) {
    m.assemble(flow, convection, state, residual, &matrix);
    umfpack().free_numeric(&numeric);
    ++factorisations;
    const int status = umfpack().numeric(m.columns.data(), m.rows.data(), matrix.data(), m.symbolic, &numeric,
                                         m.control.data(), nullptr);
    if (status != UMFPACK_OK && status != UMFPACK_WARNING_singular_matrix) fail_umfpack("factorising", status);
    return status == UMFPACK_OK;
  }

  void find_step() {
    const int status = umfpack().solve(UMFPACK_A, m.columns.data(), m.rows.data(), matrix.data(), step.data(),
                                       residual.data(), numeric, m.control.data(), nullptr);
    if (status != UMFPACK_OK) fail_umfpack("substituting", status);
  }

  // The norm of the residual at `state` less `length` steps. What was tried takes the place of the state by accept().
  double attempt(double length) {
    tried = state;
    for (std::size_t k = 0; k < step.size(); ++k) tried[static_cast<std::size_t>(m.unknown[k])] -= length * step[k];
    m.assemble(flow, Convection::on, tried, tried_residual, nullptr);
    return norm(tried_residual);
  }
  void accept() {
    state.swap(tried);
    residual.swap(tried_residual);
  }

  const Pattern& m;
  const FlowCase& flow;
  std::vector<double> state, residual, tried, tried_residual, matrix, step;
  void* numeric = nullptr;
  int factorisations = 0;
};

TaylorHoodSolver::TaylorHoodSolver(FlowMesh mesh)
    : mesh_(checked(std::move(mesh))), pattern_(std::make_unique<Pattern>(mesh_)) {}
TaylorHoodSolver::~TaylorHoodSolver() = default;

FlowSolution TaylorHoodSolver::solve(const FlowCase& flow, double tolerance, int most_iterations) const {
  const std::size_t nodes = pattern_->nodes;
  for (const auto* field : {&flow.x, &flow.y, &flow.u, &flow.v}) {
    if (field->size() != nodes) {
      fail("solving a flow", fmt::format("{} values of x, y, u and v", nodes), fmt::format("{}", field->size()));
    }
  }
  if (!(flow.viscosity > 0)) fail("solving a flow", "a positive viscosity", fmt::format("{}", flow.viscosity));

  const OneBlasThread guard;
  Newton newton(*pattern_, flow);
  newton.state.resize(pattern_->equation.size());
  for (std::size_t k = 0; k < nodes; ++k) {
    if (!mesh_.prescribed[k]) continue;
    newton.state[k] = flow.u[k];
    newton.state[nodes + k] = flow.v[k];
  }
  if (mesh_.pinned) newton.state[2 * nodes + static_cast<std::size_t>(*mesh_.pinned)] = flow.pinned_pressure;

  FlowSolution result;
  bool sound = newton.factorise(Convection::off);  // the Stokes flow: linear, one step
  const double start = norm(newton.residual), scale = start > 0 ? start : 1;
  double now = start;
  if (sound) {
    newton.find_step();
    now = newton.attempt(1);
    newton.accept();
  }
  bool keep = false;  // the factors, from a Newton matrix near by
  while (sound && now > tolerance * scale && result.iterations < most_iterations) {
    if (!keep && !(sound = newton.factorise(Convection::on))) break;
    newton.find_step();
    ++result.iterations;
    double length = 1, then = newton.attempt(length);
    if (keep && !(then < now / 2)) {  // old factors that no longer serve: drop the step
      keep = false;
      continue;
    }
    // Halve a step that does not lower the residual: the Stokes flow may be far off.
    for (int k = 0; k < kMostHalvings && !(then < (1 - length / 4) * now); ++k) then = newton.attempt(length /= 2);
    if (!(then < now)) break;
    newton.accept();
    keep = length == 1 && then < kKeepFactors * now;
    now = then;
  }
  result.factorisations = newton.factorisations;
  result.residual = now / scale;
  result.converged = sound && now <= tolerance * scale;

  const auto first = newton.state.begin(), second = first + static_cast<std::ptrdiff_t>(nodes),
             third = second + (second - first);
  result.u.assign(first, second);
  result.v.assign(second, third);
  result.p.resize(nodes);
  for (std::int64_t i = 0; i < mesh_.rows(); ++i) {
    for (std::int64_t j = 0; j < mesh_.columns(); ++j) {
      const auto at = [&](std::int64_t a, std::int64_t b) { return third[a * (mesh_.ny + 1) + b]; };
      const std::int64_t a = i / 2, b = j / 2, c = (i + 1) / 2, d = (j + 1) / 2;
      result.p[static_cast<std::size_t>(mesh_.node(i, j))] = (at(a, b) + at(a, d) + at(c, b) + at(c, d)) / 4;
    }
  }
  return result;
}

}  // namespace lano
