// Row-wise (IKJ) block elimination restricted to the pattern: time and memory are linear in the number of edges.
#include "pde/block_ilu.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lano {
namespace {

// c -= a b
void subtract_product(Mat4& c, const Mat4& a, const Mat4& b) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      const double f = a[4 * i + k];
      for (std::size_t j = 0; j < 4; ++j) c[4 * i + j] -= f * b[4 * k + j];
    }
  }
}

// y -= a x
void subtract_product(Vec4& y, const Mat4& a, const Vec4& x) {
  for (std::size_t i = 0; i < 4; ++i) {
    y[i] -= a[4 * i] * x[0] + a[4 * i + 1] * x[1] + a[4 * i + 2] * x[2] + a[4 * i + 3] * x[3];
  }
}

// Gauss-Jordan with row pivots.
Mat4 inverse(Mat4 a) {
  Mat4 inv{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  for (std::size_t k = 0; k < 4; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < 4; ++i) {
      if (std::abs(a[4 * i + k]) > std::abs(a[4 * pivot + k])) pivot = i;
    }
    for (std::size_t j = 0; j < 4 && pivot != k; ++j) {
      std::swap(a[4 * k + j], a[4 * pivot + j]);
      std::swap(inv[4 * k + j], inv[4 * pivot + j]);
    }
    const double scale = 1 / a[4 * k + k];
    for (std::size_t j = 0; j < 4; ++j) {
      a[4 * k + j] *= scale;
      inv[4 * k + j] *= scale;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == k) continue;
      const double f = a[4 * i + k];
      for (std::size_t j = 0; j < 4; ++j) {
        a[4 * i + j] -= f * a[4 * k + j];
        inv[4 * i + j] -= f * inv[4 * k + j];
      }
    }
  }
  return inv;
}

}  // namespace

BlockIlu::BlockIlu(std::size_t nodes, std::span<const std::pair<std::size_t, std::size_t>> edges) : nodes_(nodes) {
  std::vector<std::vector<std::size_t>> pattern(nodes);
  for (std::size_t n = 0; n < nodes; ++n) pattern[n].push_back(n);
  for (const auto& [a, b] : edges) {
    pattern[a].push_back(b);
    pattern[b].push_back(a);
  }
  rows_.push_back(0);
  for (std::size_t n = 0; n < nodes; ++n) {
    std::sort(pattern[n].begin(), pattern[n].end());
    for (const std::size_t column : pattern[n]) {
      if (column == n) diagonal_.push_back(columns_.size());
      columns_.push_back(column);
    }
    rows_.push_back(columns_.size());
  }
  values_.resize(columns_.size());
}

void BlockIlu::clear() { std::fill(values_.begin(), values_.end(), Mat4{}); }

std::size_t BlockIlu::find(std::size_t row, std::size_t column) const {
  for (std::size_t k = rows_[row]; k < rows_[row + 1]; ++k) {
    if (columns_[k] == column) return k;
  }
  return columns_.size();
}

Mat4& BlockIlu::block(std::size_t row, std::size_t column) {
  const std::size_t k = find(row, column);
  if (k == columns_.size())
    fail("filling a block matrix", "a block of its pattern", "a row and column that share no edge");
  return values_[k];
}

void BlockIlu::factorise() {
  for (std::size_t i = 0; i < nodes_; ++i) {
    for (std::size_t k = rows_[i]; k < diagonal_[i]; ++k) {
      const std::size_t pivot = columns_[k];
      Mat4 lower{};
      subtract_product(lower, values_[k], values_[diagonal_[pivot]]);
      for (double& value : lower) value = -value;
      values_[k] = lower;
      for (std::size_t m = diagonal_[pivot] + 1; m < rows_[pivot + 1]; ++m) {
        const std::size_t target = find(i, columns_[m]);
        if (target < columns_.size()) subtract_product(values_[target], lower, values_[m]);
      }
    }
    values_[diagonal_[i]] = inverse(values_[diagonal_[i]]);
  }
}

void BlockIlu::solve(std::span<const Vec4> right, std::span<Vec4> x) const {
  for (std::size_t i = 0; i < nodes_; ++i) {
    Vec4 sum = right[i];
    for (std::size_t k = rows_[i]; k < diagonal_[i]; ++k) subtract_product(sum, values_[k], x[columns_[k]]);
    x[i] = sum;
  }
  for (std::size_t i = nodes_; i-- > 0;) {
    Vec4 sum = x[i], result{};
    for (std::size_t k = diagonal_[i] + 1; k < rows_[i + 1]; ++k) subtract_product(sum, values_[k], x[columns_[k]]);
    subtract_product(result, values_[diagonal_[i]], sum);
    for (std::size_t c = 0; c < 4; ++c) x[i][c] = -result[c];
  }
}

}  // namespace lano
