// X_0 = X / |X|_F;  X_{k+1} = a X_k + b (X_k X_k') X_k + c (X_k X_k')^2 X_k with Jordan's coefficients, which send
// singular values from (0, 1] to about one as fast as five odd polynomials of degree five can.
// Cost for n <= m: 5 (4 n^2 m + 2 n^3) operations. With Y = X' (tall: m x n) all products run along rows:
// G = Y'Y, P = a + b G + c G^2, Y <- Y P.
#include "train/muon.h"

#include <algorithm>
#include <cmath>

#include "kernels/partition.h"
#include "kernels/tile_kernels.h"

namespace lano {
namespace {

using kernels::Gemm;
using kernels::Kernels;
using kernels::padded;

constexpr int kSteps = 5;
constexpr float kA = 3.4445f, kB = -4.7750f, kC = 2.0315f;
constexpr double kPace = 0.2;

// What a thread needs for the largest of its matrices.
struct Scratch {
  std::vector<float> tall, next, gram, polynomial, scale;

  void reserve(std::int64_t rows, std::int64_t columns) {
    const std::int64_t m = std::max(rows, columns), n = padded(std::min(rows, columns));
    const auto grow = [](std::vector<float>& v, std::int64_t size) {
      if (static_cast<std::int64_t>(v.size()) < size) v.resize(static_cast<std::size_t>(size));
    };
    grow(tall, m * n);
    grow(next, m * n);
    grow(gram, n * n);
    grow(polynomial, n * n);
    grow(scale, n);
  }
};

// tall: [m, n padded], divided by its norm; becomes its polar factor. The result is in s.tall.
void iterate(const Kernels& k, std::int64_t m, std::int64_t n, Scratch& s) {
  std::fill_n(s.scale.begin(), n, kC);
  for (int step = 0; step < kSteps; ++step) {
    Gemm gram{.rows = n, .depth = m, .columns = n};  // G = Y'Y
    gram.a = s.tall.data();
    gram.a_stride = n;
    gram.transposed = true;
    gram.b = s.tall.data();
    gram.b_stride = n;
    gram.c = s.gram.data();
    gram.c_stride = n;
    k.gemm(gram);
    for (std::int64_t i = 0; i < n * n; ++i)
      s.polynomial[static_cast<std::size_t>(i)] = kB / kC * s.gram[static_cast<std::size_t>(i)];
    Gemm square{.rows = n, .depth = n, .columns = n};  // P = c (b/c G + G^2) + a
    square.a = s.gram.data();
    square.a_stride = n;
    square.b = s.gram.data();
    square.b_stride = n;
    square.c = s.polynomial.data();
    square.c_stride = n;
    square.plus = s.polynomial.data();
    square.plus_stride = n;
    square.scale = s.scale.data();
    k.gemm(square);
    for (std::int64_t i = 0; i < n; ++i) s.polynomial[static_cast<std::size_t>(i * n + i)] += kA;
    Gemm product{.rows = m, .depth = n, .columns = n};  // Y <- Y P
    product.a = s.tall.data();
    product.a_stride = n;
    product.b = s.polynomial.data();
    product.b_stride = n;
    product.c = s.next.data();
    product.c_stride = n;
    k.gemm(product);
    std::swap(s.tall, s.next);
  }
}

// Calls f(i, j, value) for each entry of tall, [m, n padded], by the place (i, j) that it has in the matrix itself.
template <class F>
void each_entry(std::int64_t rows, std::int64_t columns, std::vector<float>& tall, F&& f) {
  const std::int64_t n = padded(std::min(rows, columns));
  const bool turned = columns > rows;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) f(i, j, tall[static_cast<std::size_t>(turned ? j * n + i : i * n + j)]);
  }
}

// s.tall holds the direction, zero in the padding; `square` its squared norm.
bool orthogonalise(const Kernels& k, std::int64_t rows, std::int64_t columns, double square, Scratch& s) {
  if (!(square > 0)) return false;
  const std::int64_t m = std::max(rows, columns), n = padded(std::min(rows, columns));
  const auto by = static_cast<float>(1 / std::sqrt(square));
  for (std::int64_t i = 0; i < m * n; ++i) s.tall[static_cast<std::size_t>(i)] *= by;
  iterate(k, m, n, s);
  return true;
}

void fill(std::int64_t rows, std::int64_t columns, Scratch& s) {
  s.reserve(rows, columns);
  std::fill_n(s.tall.begin(), std::max(rows, columns) * padded(std::min(rows, columns)), 0.0f);
}

void step_one(const Kernels& k, const MuonStep& step, const Matrix& matrix, float* p, const float* g, float* moment,
              Scratch& s) {
  const auto keep = static_cast<float>(step.momentum), rest = static_cast<float>(1 - step.momentum);
  fill(matrix.rows, matrix.columns, s);
  double square = 0;
  each_entry(matrix.rows, matrix.columns, s.tall, [&](std::int64_t i, std::int64_t j, float& value) {
    const std::int64_t at = i * matrix.columns + j;
    moment[at] = keep * moment[at] + rest * g[at];
    value = rest * g[at] + keep * moment[at];
    square += static_cast<double>(value) * value;
  });
  const auto shrink = matrix.decays ? static_cast<float>(1 - step.rate * step.weight_decay) : 1.0f;
  const bool moves = orthogonalise(k, matrix.rows, matrix.columns, square, s);
  const auto larger = static_cast<double>(std::max(matrix.rows, matrix.columns));
  const auto by = static_cast<float>(step.rate * kPace * std::sqrt(larger));
  each_entry(matrix.rows, matrix.columns, s.tall, [&](std::int64_t i, std::int64_t j, float& value) {
    const std::int64_t at = i * matrix.columns + j;
    p[at] = shrink * p[at] - (moves ? by * value : 0.0f);
  });
}

}  // namespace

void muon_step(const MuonStep& step, std::span<const Matrix> matrices, std::span<float> parameters,
               std::span<const float> gradients, std::span<float> momentum) {
  const Kernels& k = kernels::kernels();  // before the threads: it may fail
  std::vector<Scratch> scratch(static_cast<std::size_t>(thread_count()));
  for (const Matrix& matrix : matrices) {
    for (Scratch& s : scratch) s.reserve(matrix.rows, matrix.columns);
  }
  kernels::parallel_for(static_cast<std::int64_t>(matrices.size()), [&](std::int64_t i, int thread) {
    const Matrix& matrix = matrices[static_cast<std::size_t>(i)];
    step_one(k, step, matrix, parameters.data() + matrix.first, gradients.data() + matrix.first,
             momentum.data() + matrix.first, scratch[static_cast<std::size_t>(thread)]);
  });
}

void polar_factor(std::int64_t rows, std::int64_t columns, float* x) {
  Scratch s;
  fill(rows, columns, s);
  double square = 0;
  each_entry(rows, columns, s.tall, [&](std::int64_t i, std::int64_t j, float& value) {
    value = x[i * columns + j];
    square += static_cast<double>(value) * value;
  });
  if (!orthogonalise(kernels::kernels(), rows, columns, square, s)) return;
  each_entry(rows, columns, s.tall, [&](std::int64_t i, std::int64_t j, float& value) { x[i * columns + j] = value; });
}

}  // namespace lano
