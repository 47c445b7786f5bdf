// A structured mesh of quadrilaterals, plain or folded into a C around an airfoil. Point (i, j) is at i * nj + j.
#pragma once

#include <cstddef>
#include <vector>

namespace lano {

struct QuadMesh {
  std::size_t ni = 0, nj = 0;  // points per axis
  // A C-mesh has wake > 0 cells on each side of its cut: points (i, 0) and (ni-1-i, 0) coincide for i <= wake. 0:
  // plain.
  std::size_t wake = 0;
  std::vector<double> x, y;  // [ni * nj]

  std::size_t at(std::size_t i, std::size_t j) const { return i * nj + j; }
  std::size_t points() const { return ni * nj; }
};

// Twice the signed area of cell (i, j) is the cross product of its diagonals; positive when (i, j) turn anticlockwise.
inline double signed_area(const QuadMesh& m, std::size_t i, std::size_t j) {
  const std::size_t a = m.at(i, j), b = m.at(i + 1, j), c = m.at(i + 1, j + 1), d = m.at(i, j + 1);
  return 0.5 * ((m.x[c] - m.x[a]) * (m.y[d] - m.y[b]) - (m.x[d] - m.x[b]) * (m.y[c] - m.y[a]));
}

}  // namespace lano
