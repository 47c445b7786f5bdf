// Central differences: velocities live half a step behind positions. One point of integration per element means that
// the gradient of a field depends on its differences along the two diagonals only (corner 3 - 1 and 4 - 2), and that
// the pattern +-+- is unseen; the stiffness of Flanagan and Belytschko (1981) resists it. A step costs about 200 flops
// per element; a full-size sample takes 70,000 to 125,000 steps.
#include "pde/forging_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"

namespace lano {
namespace {

// The loop over elements is compiled twice and chosen at load time. Neither fuses multiplications, so both give the
// same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define LANO_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define LANO_WIDE
#endif

constexpr double kCollapsed = 0.01;        // an element thinner than this part of the first ones counts as inverted
constexpr std::int64_t kMeasureEvery = 8;  // steps; a stretch changes by less than 1e-3 meanwhile

const ForgingConfig& checked(const ForgingConfig& c) {
  if (c.cells_x < 1 || c.cells_y < 1 || !(c.width > 0) || !(c.height > 0) || !(c.thickness > 0)) {
    fail_usage("setting up the forging", "at least one cell per axis and positive sizes",
               fmt::format("{} x {} cells, {} x {} x {} m", c.cells_x, c.cells_y, c.width, c.height, c.thickness));
  }
  if (!(c.friction >= 0) || !(c.hourglass >= 0) || !(c.time_step > 0 && c.time_step <= 1) || !(c.speed >= 0)) {
    fail_usage("setting up the forging", "friction, hourglass and speed of at least 0, a time step in (0, 1]",
               fmt::format("{}, {}, {}, {}", c.friction, c.hourglass, c.speed, c.time_step));
  }
  return c;
}

}  // namespace

ForgingSolver::ForgingSolver(const ForgingConfig& config, DieProfile die)
    : config_(checked(config)),
      metal_(config.material),
      die_(std::move(die)),
      nx_(static_cast<std::size_t>(config.cells_x)),
      ny_(static_cast<std::size_t>(config.cells_y)),
      rows_(ny_ + 1),
      stride_(ny_ + 2) {
  const double dx = config.width / static_cast<double>(nx_), dy = config.height / static_cast<double>(ny_);
  const std::size_t nodes = (nx_ + 1) * rows_, elements = (nx_ + 2) * stride_;
  volume0_ = dx * dy * config.thickness;
  for (auto* v : {&x_, &y_, &vx_, &vy_, &inverse_mass_}) v->assign(nodes, 0.0);
  for (auto* v :
       {&sxx_, &syy_, &sxy_, &hx_, &hy_, &internal_, &viscous_, &hourglass_, &ax_, &ay_, &bx_, &by_, &qx_, &qy_}) {
    v->assign(elements, 0.0);
  }
  for (std::size_t i = 0; i <= nx_; ++i) {
    for (std::size_t j = 0; j <= ny_; ++j) {
      const std::size_t p = i * rows_ + j;
      x_[p] = config.right - dx * static_cast<double>(i);
      y_[p] = config.top - dy * static_cast<double>(j);
      const double corners = (i == 0 || i == nx_ ? 1 : 2) * (j == 0 || j == ny_ ? 1 : 2);
      inverse_mass_[p] = 4 / (config.material.density * volume0_ * corners);
      if (j == 0 || i == 0 || i == nx_) contact_.push_back(p);
    }
  }
  contact_vx_.resize(contact_.size());
  contact_vy_.resize(contact_.size());
}

std::size_t ForgingSolver::element(std::int64_t i, std::int64_t j) const {
  return (static_cast<std::size_t>(i) + 1) * stride_ + static_cast<std::size_t>(j) + 1;
}

bool ForgingSolver::advance_to(double time) {
  if (steps_ == 0) {
    if (!measure()) return false;
    first_ = energies().kinetic;
  }
  while (time_ < time) {
    if (steps_ % kMeasureEvery == 0 && !measure()) return false;
    // Equal steps to the goal, so that none is tiny.
    const double left = time - time_, count = std::ceil(left / stable_dt_);
    const double dt = left / count, kick = (dt + last_dt_) / 2;
    time_ = count == 1 ? time : time_ + dt;
    move_nodes(dt, kick);
    resolve_contact(dt);
    strain_elements(dt);
    last_dt_ = dt;
    ++steps_;
  }
  return measure();
}

bool ForgingSolver::measure() {
  // The fastest mode of an element has frequency 2 c / L with L = area / sqrt(largest eigenvalue of sum_I b_I b_I^T),
  // b_I the gradients of the corners' shape functions times the area: for a rectangle, its shorter side.
  double shortest2 = std::numeric_limits<double>::infinity();
  bool good = true;
  for (std::size_t i = 0; i < nx_; ++i) {
    for (std::size_t j = 0; j < ny_; ++j) {
      const std::size_t n1 = i * rows_ + j, n2 = n1 + rows_, n3 = n2 + 1, n4 = n1 + 1;
      const double x31 = x_[n3] - x_[n1], y31 = y_[n3] - y_[n1], x42 = x_[n4] - x_[n2], y42 = y_[n4] - y_[n2];
      const double area = (x31 * y42 - x42 * y31) / 2;
      const double xx = (y31 * y31 + y42 * y42) / 2, yy = (x31 * x31 + x42 * x42) / 2,
                   xy = -(x31 * y31 + x42 * y42) / 2;
      const double largest = (xx + yy) / 2 + std::sqrt((xx - yy) * (xx - yy) / 4 + xy * xy);
      good = good && area > 0;  // false for NaN too
      shortest2 = std::min(shortest2, area * area / largest);
    }
  }
  stable_dt_ = config_.time_step * std::sqrt(shortest2) / metal_.wave_speed();
  if (steps_ == 0) first_dt_ = stable_dt_;
  return good && stable_dt_ > kCollapsed * first_dt_;
}

void ForgingSolver::move_nodes(double dt, double kick) {
  for (std::size_t c = 0; c < contact_.size(); ++c) {
    contact_vx_[c] = vx_[contact_[c]];
    contact_vy_[c] = vy_[contact_[c]];
  }
  for (std::size_t i = 0; i <= nx_; ++i) {
    double *x = &x_[i * rows_], *y = &y_[i * rows_], *vx = &vx_[i * rows_], *vy = &vy_[i * rows_];
    const double* inverse = &inverse_mass_[i * rows_];
    // The padded columns of elements right of the nodes (here: i) and left of them; [j + 1] is below the node, [j]
    // above.
    const std::size_t here = (i + 1) * stride_, before = i * stride_;
    using Forces = std::vector<double>;
    const auto force = [&](const Forces& a, const Forces& b, const Forces& q, std::size_t j) {
      return a[here + j + 1] + q[here + j + 1] + b[before + j + 1] - q[before + j + 1] - a[before + j] + q[before + j] -
             b[here + j] - q[here + j];
    };
    for (std::size_t j = 0; j <= ny_; ++j) vx[j] += kick * inverse[j] * force(ax_, bx_, qx_, j);
    for (std::size_t j = 0; j <= ny_; ++j) vy[j] += kick * inverse[j] * force(ay_, by_, qy_, j);
    if (config_.roller) vy[ny_] = 0;
    for (std::size_t j = 0; j <= ny_; ++j) {
      x[j] += dt * vx[j];
      y[j] += dt * vy[j];
    }
  }
}

void ForgingSolver::resolve_contact(double dt) {
  // Nodes inside the die are put back on its surface along the normal; the impulse that takes is the contact impulse,
  // and friction takes at most `friction` times it from the sliding.
  const double travel = config_.speed * time_;
  for (std::size_t c = 0; c < contact_.size(); ++c) {
    const std::size_t p = contact_[c];
    DieProfile::Point die = die_.at(x_[p]);
    if (!(y_[p] > die.height - travel)) continue;
    const bool on_roller = config_.roller && p % rows_ == ny_;
    const double vx = vx_[p], vy = vy_[p];
    double depth = 0, nx = 0, ny = 0;  // the normal points into the block
    for (int k = 0; k < 2; ++k) {
      const double scale = 1 / std::sqrt(1 + die.slope * die.slope);
      const double more = (y_[p] - die.height + travel) * scale;
      nx = die.slope * scale;
      ny = -scale;
      x_[p] += more * nx;
      y_[p] += more * ny;
      depth += more;
      die = die_.at(x_[p]);
    }
    const double limit = config_.friction * depth;
    const double slid = ((vx_[p] * dt) * -ny + (vy_[p] + config_.speed) * dt * nx);
    const double held = std::clamp(slid, -limit, limit);
    x_[p] += held * ny;
    y_[p] -= held * nx;
    vx_[p] += (depth * nx + held * ny) / dt;
    vy_[p] += (depth * ny - held * nx) / dt;
    if (on_roller) {
      vy_[p] = 0;
      y_[p] = config_.top - config_.height;
    }
    external_ += ((vx_[p] - vx) * (vx_[p] + contact_vx_[c]) + (vy_[p] - vy) * (vy_[p] + contact_vy_[c])) /
                 (2 * inverse_mass_[p]);
  }
}

LANO_WIDE void ForgingSolver::strain_elements(double dt) {
  const PlanePlasticity metal = metal_;
  const std::size_t rows = ny_;
  const double density = config_.material.density, volume0 = volume0_;
  const double linear = density * config_.linear_viscosity * metal.wave_speed() / dt;
  const double quadratic = density * config_.quadratic_viscosity * config_.quadratic_viscosity / (dt * dt);
  const double stiffness = config_.hourglass * metal.plate_modulus();
  for (std::size_t i = 0; i < nx_; ++i) {
    const std::size_t node = i * rows_, next = node + rows_, e0 = (i + 1) * stride_ + 1;
    const double *x1 = &x_[node], *x2 = &x_[next], *y1 = &y_[node], *y2 = &y_[next];
    const double *u1 = &vx_[node], *u2 = &vx_[next], *w1 = &vy_[node], *w2 = &vy_[next];
    double *sxx = &sxx_[e0], *syy = &syy_[e0], *sxy = &sxy_[e0];
    double *hx = &hx_[e0], *hy = &hy_[e0];
    double *internal = &internal_[e0], *viscous = &viscous_[e0], *hourglass = &hourglass_[e0];
    double *ax = &ax_[e0], *ay = &ay_[e0], *bx = &bx_[e0], *by = &by_[e0];
    double *qx = &qx_[e0], *qy = &qy_[e0];
#if !defined(__clang__)
#pragma GCC ivdep  // the arrays are distinct
#endif
    for (std::size_t j = 0; j < rows; ++j) {
      // Diagonals at the end of the step, their change, and in the middle of the step, where the strain is taken.
      const double x31 = x2[j + 1] - x1[j], y31 = y2[j + 1] - y1[j], x42 = x1[j + 1] - x2[j], y42 = y1[j + 1] - y2[j];
      const double u31 = dt * (u2[j + 1] - u1[j]), w31 = dt * (w2[j + 1] - w1[j]);
      const double u42 = dt * (u1[j + 1] - u2[j]), w42 = dt * (w1[j + 1] - w2[j]);
      const double mx31 = x31 - u31 / 2, my31 = y31 - w31 / 2, mx42 = x42 - u42 / 2, my42 = y42 - w42 / 2;
      const double middle = (mx31 * my42 - mx42 * my31) / 2, half_inverse = 0.5 / middle;
      const double dxx = (u31 * my42 - u42 * my31) * half_inverse, dux_dy = (u42 * mx31 - u31 * mx42) * half_inverse;
      const double duy_dx = (w31 * my42 - w42 * my31) * half_inverse, dyy = (w42 * mx31 - w31 * mx42) * half_inverse;
      const double spin = (duy_dx - dux_dy) / 2, shear = duy_dx + dux_dy, trace = dxx + dyy;

      const PlaneStress old{sxx[j], syy[j], sxy[j]};
      const PlaneStress now = metal.update(old, dxx, dyy, shear, spin);
      sxx[j] = now.xx;
      syy[j] = now.yy;
      sxy[j] = now.xy;
      const double area = (x31 * y42 - x42 * y31) / 2, volume = volume0 * metal.volume_ratio(now);
      const double thickness = volume / area;
      internal[j] += volume / 2 * ((old.xx + now.xx) * dxx + (old.yy + now.yy) * dyy + (old.xy + now.xy) * shear);

      // Bulk viscosity: linear on every change of area, quadratic on compression.
      const double squeeze = trace < 0 ? trace : 0.0;
      const double bulk = linear * std::sqrt(area) * trace - quadratic * area * squeeze * squeeze;
      viscous[j] += volume * bulk * trace;
      const double txx = now.xx + bulk, tyy = now.yy + bulk, half = thickness / 2;
      double fax = half * (txx * y42 - now.xy * x42), fay = half * (now.xy * y42 - tyy * x42);
      double fbx = half * (now.xy * x31 - txx * y31), fby = half * (tyy * x31 - now.xy * y31);

      // Hourglass: the pattern +-+- of the motion, freed of its uniform part, drives forces that turn with the element.
      const double px = x1[j] - x2[j] + x2[j + 1] - x1[j + 1], py = y1[j] - y2[j] + y2[j + 1] - y1[j + 1];
      const double gx = ((u1[j] - u2[j] + u2[j + 1] - u1[j + 1]) * dt - dxx * px - dux_dy * py) / 4;
      const double gy = ((w1[j] - w2[j] + w2[j + 1] - w1[j + 1]) * dt - duy_dx * px - dyy * py) / 4;
      const double b2 = (x31 * x31 + y31 * y31 + x42 * x42 + y42 * y42) / 2;
      const double k = stiffness * thickness * b2 / area;
      const double hx_old = hx[j] - spin * hy[j], hy_old = hy[j] + spin * hx[j];
      const double hx_new = hx_old + k * gx, hy_new = hy_old + k * gy;
      hourglass[j] += ((hx_old + hx_new) * gx + (hy_old + hy_new) * gy) / 2;
      hx[j] = hx_new;
      hy[j] = hy_new;
      const double at_a = (x42 * py - y42 * px) / (8 * area), at_b = (y31 * px - x31 * py) / (8 * area);
      fax += hx_new * at_a;
      fay += hy_new * at_a;
      fbx += hx_new * at_b;
      fby += hy_new * at_b;
      ax[j] = fax;
      ay[j] = fay;
      bx[j] = fbx;
      by[j] = fby;
      qx[j] = -hx_new / 4;
      qy[j] = -hy_new / 4;
    }
  }
}

PlaneStress ForgingSolver::stress(std::int64_t i, std::int64_t j) const {
  const std::size_t e = element(i, j);
  return {sxx_[e], syy_[e], sxy_[e]};
}

double ForgingSolver::area(std::int64_t i, std::int64_t j) const {
  const std::size_t n1 = static_cast<std::size_t>(i) * rows_ + static_cast<std::size_t>(j), n2 = n1 + rows_;
  return ((x_[n2 + 1] - x_[n1]) * (y_[n1 + 1] - y_[n2]) - (x_[n1 + 1] - x_[n2]) * (y_[n2 + 1] - y_[n1])) / 2;
}

double ForgingSolver::thickness(std::int64_t i, std::int64_t j) const {
  return volume0_ * metal_.volume_ratio(stress(i, j)) / area(i, j);
}

double ForgingSolver::total_area() const {
  double sum = 0;
  for (std::int64_t i = 0; i < config_.cells_x; ++i) {
    for (std::int64_t j = 0; j < config_.cells_y; ++j) sum += area(i, j);
  }
  return sum;
}

ForgingEnergies ForgingSolver::energies() const {
  ForgingEnergies sum;
  for (std::size_t p = 0; p < x_.size(); ++p)
    sum.kinetic += (vx_[p] * vx_[p] + vy_[p] * vy_[p]) / (2 * inverse_mass_[p]);
  for (std::size_t e = 0; e < internal_.size(); ++e) {
    sum.internal += internal_[e];
    sum.viscous += viscous_[e];
    sum.hourglass += hourglass_[e];
  }
  sum.external = external_;
  sum.first = first_;
  return sum;
}

double ForgingSolver::penetration() const {
  double deepest = -std::numeric_limits<double>::infinity();
  for (const std::size_t p : contact_)
    deepest = std::max(deepest, y_[p] - die_.at(x_[p]).height + config_.speed * time_);
  return deepest;
}

}  // namespace lano
