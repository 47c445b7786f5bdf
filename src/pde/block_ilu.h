// A sparse matrix of 4 x 4 blocks and its incomplete factorisation without fill, ILU(0): the preconditioner of the
// Euler solver. One thread owns one.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "pde/euler_flux.h"

namespace lano {

class BlockIlu {
 public:
  // The pattern: the diagonal, and (a, b) and (b, a) for each edge.
  BlockIlu(std::size_t nodes, std::span<const std::pair<std::size_t, std::size_t>> edges);

  void clear();
  Mat4& block(std::size_t row, std::size_t column);  // must be in the pattern
  Mat4& diagonal(std::size_t row) { return values_[diagonal_[row]]; }
  void factorise();  // in place; clear() before the next fill
  void solve(std::span<const Vec4> right, std::span<Vec4> x) const;

 private:
  std::size_t find(std::size_t row, std::size_t column) const;  // columns_.size() where there is none
  std::size_t nodes_;
  std::vector<std::size_t> rows_, columns_, diagonal_;
  std::vector<Mat4> values_;  // after factorise: L below (unit diagonal), U above, inverses on the diagonal
};

}  // namespace lano
