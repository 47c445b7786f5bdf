// The C-mesh joins each point of wall or wake cut to a point of the outer boundary by a straight line with the same
// stretched spacing on every line; nothing is smoothed, so a mesh costs one pass over its points.
#include "pde/airfoil_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/error.h"

namespace lano {
namespace {

constexpr std::array<double, 4> kBoxX = {-0.25, 0.25, 0.75, 1.25};
constexpr double kBoxY = 0.1;
constexpr double kGentleRatio = 1.02;  // of neighbouring cells near the airfoil, on 50 cells

// Distances 0 = s_0 < ... < s_cells = length: cells start at `first` and grow by the gentle ratio over three quarters
// of their number, then by the ratio that closes the sum, found by bisection. The gentle ratio is rooted with
// refinement so that meshes of other sizes sample the same mapping.
std::vector<double> stretched(std::size_t cells, double first, double length) {
  const double gentle = std::pow(kGentleRatio, 50.0 / static_cast<double>(cells));
  const std::size_t near = cells * 3 / 4;
  const auto spaced = [&](double ratio) {
    std::vector<double> s = {0};
    double step = first;
    for (std::size_t k = 0; k < cells; ++k) {
      if (k > 0) step *= k < near ? gentle : ratio;
      s.push_back(s.back() + step);
    }
    return s;
  };
  double low = 1, high = 100;
  for (int bisection = 0; bisection < 200; ++bisection) {
    const double middle = (low + high) / 2;
    (spaced(middle).back() < length ? low : high) = middle;
  }
  std::vector<double> s = spaced(low);
  for (double& at : s) at *= length / s.back();  // rounding only
  return s;
}

// x along one side of the airfoil, nose to trailing edge: 0, h/4, h, 2h, ..., 1.
std::vector<double> side_points(std::size_t cells) {
  const double h = 1 / static_cast<double>(cells - 1);
  std::vector<double> x = {0, h / 4};
  for (std::size_t k = 1; k < cells - 1; ++k) x.push_back(static_cast<double>(k) * h);
  x.push_back(1);
  return x;
}

}  // namespace

double naca0012(double x) {
  return 0.6 * (0.2969 * std::sqrt(x) - 0.1260 * x - 0.3516 * x * x + 0.2843 * x * x * x - 0.1036 * x * x * x * x);
}

double box_displacement(const DesignBox& box, double x, double y) {
  const double top = (y + kBoxY) / (2 * kBoxY);
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    double lagrange = 1;
    for (std::size_t m = 0; m < 4; ++m) {
      if (m != k) lagrange *= (x - kBoxX[m]) / (kBoxX[k] - kBoxX[m]);
    }
    sum += lagrange * ((1 - top) * box[k] + top * box[7 - k]);
  }
  return sum;
}

QuadMesh airfoil_mesh(const AirfoilMeshConfig& config, const DesignBox& box) {
  if (config.wake_cells < 4 || config.side_cells < 4 || config.radial_cells < 4 || config.radius < 5) {
    fail_usage("meshing an airfoil", "at least 4 cells along wake, side and radius, and a radius of at least 5",
               fmt::format("{}, {}, {} cells, radius {}", config.wake_cells, config.side_cells, config.radial_cells,
                           config.radius));
  }
  const std::size_t wake = config.wake_cells, side = config.side_cells;
  QuadMesh mesh;
  mesh.ni = 2 * (wake + side) + 1;
  mesh.nj = config.radial_cells + 1;
  mesh.wake = wake;
  mesh.x.resize(mesh.points());
  mesh.y.resize(mesh.points());
  const double first = 1 / static_cast<double>(side);
  const std::vector<double> radial = stretched(config.radial_cells, first, config.radius);
  const std::vector<double> along = stretched(wake, first, config.radius);
  const std::vector<double> on_side = side_points(side);
  for (std::size_t i = 0; i < mesh.ni; ++i) {
    // Mirrored index: outlet 0, trailing edge `wake`, nose wake + side; the lower half differs by its sign alone.
    const std::size_t m = std::min(i, mesh.ni - 1 - i);
    const double sign = i <= wake + side ? 1 : -1;
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    if (m < wake) {
      x0 = x1 = 1 + along[wake - m];
      y0 = box_displacement(box, 1, 0);
      y1 = sign * config.radius;
    } else {
      const std::size_t from_edge = m - wake;
      x0 = on_side[side - from_edge];
      y0 = from_edge == 0 || from_edge == side ? 0 : sign * naca0012(x0);
      y0 += box_displacement(box, x0, y0);
      const double angle = std::numbers::pi / 2 * (1 + static_cast<double>(from_edge) / static_cast<double>(side));
      x1 = 1 + config.radius * std::cos(angle);
      y1 = sign * config.radius * std::sin(angle);
    }
    for (std::size_t j = 0; j < mesh.nj; ++j) {
      const double s = radial[j] / config.radius;
      mesh.x[mesh.at(i, j)] = (1 - s) * x0 + s * x1;
      mesh.y[mesh.at(i, j)] = (1 - s) * y0 + s * y1;
    }
  }
  return mesh;
}

}  // namespace lano
