// Every tile kernel in Google Highway, compiled once for each instruction set (foreach_target includes this file again
// and again). What was tried and what it gave is in docs/kernels.md.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_kernels.cpp"
// SVE's vectors have no size while compiling, so that no array of them can stay in registers.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include "kernels/simd_kernels.h"

#include <hwy/foreach_target.h>  // must come first
#include <hwy/highway.h>

#include <cmath>

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace lano::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Index = std::int64_t;
using D = hn::CappedTag<float, kPad>;
using V = hn::Vec<D>;
constexpr D d;
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));

// Accumulators of the micro-kernel: kRows(NV) x NV vectors. 32 registers with AVX-512 and NEON, else 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr Index kWidest = 4;
constexpr int rows_of(int vectors) { return vectors == 4 ? 6 : vectors == 3 ? 8 : 12; }
#else
constexpr Index kWidest = kPad / kLanes;
constexpr int rows_of(int vectors) { return 12 / vectors; }
#endif

// Vectors of the panel that begins with `left` vectors still to come: never a narrow rest where it can be shared.
Index panel_vectors(Index left) {
  if (left <= kWidest) return left;
  if (kWidest == 4 && left % 4 != 0 && (left % 3 == 0 || left == 5 || left == 7)) return left == 7 ? 4 : 3;
  return kWidest;
}

// R rows of NV vectors of the product, in registers. Four row pointers and two multiples of the stride address up to
// sixteen rows without a register each.
template <int R, int NV, bool kTransposed>
HWY_INLINE void micro(const Gemm& g, Index row, Index column, const float* HWY_RESTRICT b, Index b_stride) {
  const Index stride = g.a_stride, stride3 = 3 * stride;
  V sum[R][NV];
  if (g.plus != nullptr) {
    const float* const plus = g.plus + row * g.plus_stride + column;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) sum[r][v] = hn::LoadU(d, plus + r * g.plus_stride + v * kLanes);
    }
  } else {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) sum[r][v] = hn::Zero(d);
    }
  }
  if (g.column != nullptr) {
    V along[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) along[v] = hn::LoadU(d, g.column + column + v * kLanes);
    if (g.row != nullptr) {
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const V factor = hn::Set(d, g.row[row + r]);
#pragma GCC unroll 4
        for (int v = 0; v < NV; ++v) sum[r][v] = hn::MulAdd(factor, along[v], sum[r][v]);
      }
    } else {
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < NV; ++v) sum[r][v] = hn::Add(sum[r][v], along[v]);
      }
    }
  }
  const float* HWY_RESTRICT a0 = g.a + (kTransposed ? row : row * stride);
  const float* HWY_RESTRICT a4 = a0 + (R > 4 ? 4 * stride : 0);
  const float* HWY_RESTRICT a8 = a0 + (R > 8 ? 8 * stride : 0);
  const float* HWY_RESTRICT a12 = a0 + (R > 12 ? 12 * stride : 0);
  const Index depth = g.depth;
#pragma GCC unroll 2
  for (Index k = 0; k < depth; ++k) {
    V right[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) right[v] = hn::LoadU(d, b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const float* const base = r < 4 ? a0 : r < 8 ? a4 : r < 12 ? a8 : a12;
      const V left = hn::Set(d, kTransposed ? a0[r]
                                            : base[r % 4 == 0   ? 0
                                                   : r % 4 == 1 ? stride
                                                   : r % 4 == 2 ? 2 * stride
                                                                : stride3]);
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
    b += b_stride;
    a0 += kTransposed ? stride : 1;
    if (!kTransposed) {
      ++a4;
      ++a8;
      ++a12;
    }
  }
  float* const c = g.c + row * g.c_stride + column;
  if (g.scale != nullptr) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const V factor = hn::Set(d, g.scale[row + r]);
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) sum[r][v] = hn::Mul(factor, sum[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) hn::StoreU(sum[r][v], d, c + r * g.c_stride + v * kLanes);
  }
}

template <int R, int NV, bool kTransposed>
HWY_NOINLINE void last_rows(const Gemm& g, Index row, Index column, const float* b, Index b_stride) {
  if constexpr (R > 0) {
    if (g.rows - row == R) {
      micro<R, NV, kTransposed>(g, row, column, b, b_stride);
    } else {
      last_rows<R - 1, NV, kTransposed>(g, row, column, b, b_stride);
    }
  }
}

template <int NV, bool kTransposed>
HWY_NOINLINE void panel(Gemm g, Index column, const float* b, Index b_stride) {  // g by value: stores cannot change it
  constexpr int R = rows_of(NV);
  Index row = 0;
  for (; row + R <= g.rows; row += R) micro<R, NV, kTransposed>(g, row, column, b, b_stride);
  if (row < g.rows) last_rows<R - 1, NV, kTransposed>(g, row, column, b, b_stride);
}

template <bool kTransposed>
void gemm_panels(const Gemm& g) {
  for (Index column = 0; column < g.columns;) {
    const Index vectors = panel_vectors((g.columns - column) / kLanes), width = vectors * kLanes;
    const float* b = g.b_stride > 0 ? g.b + column : g.b + column * g.depth;
    const Index stride = g.b_stride > 0 ? g.b_stride : width;
    switch (vectors) {
      case 1:
        panel<1, kTransposed>(g, column, b, stride);
        break;
      case 2:
        panel<2, kTransposed>(g, column, b, stride);
        break;
      case 3:
        panel<3, kTransposed>(g, column, b, stride);
        break;
      default:
        panel<4, kTransposed>(g, column, b, stride);
        break;
    }
    column += width;
  }
}

void gemm(const Gemm& g) {
  if (g.transposed) {
    gemm_panels<true>(g);
  } else {
    gemm_panels<false>(g);
  }
}

void pack(const Packing& p) {
  for (Index column = 0; column < p.columns;) {
    const Index width = panel_vectors((p.columns - column) / kLanes) * kLanes;
    const Index from = std::max(column, p.first), to = std::min(column + width, p.last);
    float* const panel = p.to + column * p.depth;
    if (from < to) {
      for (Index first = 0; first < p.depth;
           first += kPad) {  // a cache line of the source at a time, where it runs along k
        const Index last = std::min(first + kPad, p.depth);
        for (Index j = from; j < to; ++j) {
          const float* const source = p.from + j * p.stride;
          float* const target = panel + j - column;
          for (Index k = first; k < last; ++k) target[k * width] = j < p.real ? p.factor * source[k * p.step] : 0.0f;
        }
      }
    }
    column += width;
  }
}

// 2^x for x <= 0; below -126 it stays at 2^-126, which is negligible against a maximum of one. x = n + r with n the
// nearest whole number: adding 1.5 2^23 leaves n in the low bits, ready to be added to the exponent. 2^r on
// [-1/2, 1/2] is the polynomial of degree six whose largest relative error is least (Remez): 1.9e-9, and 2.6e-9 with a
// constant term of 1, where half a unit of float's last digit is 6e-8. tests/kernels/polynomials_test.py derives this
// polynomial and the next one again.
HWY_INLINE V exp2_below(V x) {
  const V y = hn::Max(hn::Set(d, -126.0f), x);
  const V shift = hn::Set(d, 12582912.0f);
  const V moved = hn::Add(y, shift);
  const V r = hn::Sub(y, hn::Sub(moved, shift));
  V p = hn::Set(d, 1.534581177e-04f);
  p = hn::MulAdd(p, r, hn::Set(d, 1.339993122e-03f));
  p = hn::MulAdd(p, r, hn::Set(d, 9.618488958e-03f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.550328777e-02f));
  p = hn::MulAdd(p, r, hn::Set(d, 2.402264689e-01f));
  p = hn::MulAdd(p, r, hn::Set(d, 6.931472057e-01f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, moved))));
}

// Phi(x), the normal distribution, and exp(-x^2/2): Phi(-|x|) = exp(-y^2) erfcx(y) / 2 with y = |x|/sqrt 2. erfcx is
// the polynomial of degree twelve on [0, 4.3] for which the largest absolute error of Phi is least (Remez): 4.4e-9
// before rounding. Beyond 4.3, where Phi is below 6e-10, it keeps its last value.
HWY_INLINE V normal(V x, V& bell) {
  bell = exp2_below(hn::Mul(hn::Mul(x, hn::Set(d, -0.72134752f)), x));
  const V y = hn::Min(hn::Mul(hn::Abs(x), hn::Set(d, 0.70710678f)), hn::Set(d, 4.3f));
  V p = hn::Set(d, 7.492288562e-06f);
  p = hn::MulAdd(p, y, hn::Set(d, -1.451477104e-04f));
  p = hn::MulAdd(p, y, hn::Set(d, 1.273158942e-03f));
  p = hn::MulAdd(p, y, hn::Set(d, -6.778796300e-03f));
  p = hn::MulAdd(p, y, hn::Set(d, 2.494962776e-02f));
  p = hn::MulAdd(p, y, hn::Set(d, -6.913475908e-02f));
  p = hn::MulAdd(p, y, hn::Set(d, 1.545568396e-01f));
  p = hn::MulAdd(p, y, hn::Set(d, -2.949390565e-01f));
  p = hn::MulAdd(p, y, hn::Set(d, 4.980991063e-01f));
  p = hn::MulAdd(p, y, hn::Set(d, -7.518915159e-01f));
  p = hn::MulAdd(p, y, hn::Set(d, 9.999644088e-01f));
  p = hn::MulAdd(p, y, hn::Set(d, -1.128377794e+00f));
  p = hn::MulAdd(p, y, hn::Set(d, 9.999999912e-01f));
  const V tail = hn::Mul(hn::Mul(bell, hn::Set(d, 0.5f)), p);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
}

HWY_INLINE float sum_of(V v) { return hn::GetLane(hn::SumOfLanes(d, v)); }

void norm_stats(Index rows, Index width, const float* x, Index x_stride, float* stats) {
  const Index whole = width / kLanes * kLanes;
  const auto rest = hn::FirstN(d, static_cast<std::size_t>(width - whole));
  const float inverse = 1.0f / static_cast<float>(width);
  for (Index r = 0; r < rows; ++r) {
    const float* const from = x + r * x_stride;
    V sum = hn::Zero(d), squares = hn::Zero(d);
    for (Index j = 0; j < whole; j += kLanes) sum = hn::Add(sum, hn::LoadU(d, from + j));
    if (whole < width) sum = hn::Add(sum, hn::IfThenElseZero(rest, hn::LoadU(d, from + whole)));
    const float mean = sum_of(sum) * inverse;
    const V centre = hn::Set(d, mean);
    for (Index j = 0; j < whole; j += kLanes) {
      const V e = hn::Sub(hn::LoadU(d, from + j), centre);
      squares = hn::MulAdd(e, e, squares);
    }
    if (whole < width) {
      const V e = hn::IfThenElseZero(rest, hn::Sub(hn::LoadU(d, from + whole), centre));
      squares = hn::MulAdd(e, e, squares);
    }
    stats[2 * r] = mean;
    stats[2 * r + 1] = 1.0f / std::sqrt(sum_of(squares) * inverse + 1e-5f);
  }
}

void norm_apply(Index rows, Index columns, const float* x, Index x_stride, const float* stats, const float* gain,
                const float* shift, float* y, Index y_stride) {
  for (Index r = 0; r < rows; ++r) {
    const V mean = hn::Set(d, stats[2 * r]), rstd = hn::Set(d, stats[2 * r + 1]);
    for (Index j = 0; j < columns; j += kLanes) {
      const V hat = hn::Mul(hn::Sub(hn::LoadU(d, x + r * x_stride + j), mean), rstd);
      hn::StoreU(hn::MulAdd(hat, hn::LoadU(d, gain + j), hn::LoadU(d, shift + j)), d, y + r * y_stride + j);
    }
  }
}

void norm_backward(Index rows, Index width, Index columns, const float* x, Index x_stride, const float* stats,
                   const float* gain, const float* dy, Index dy_stride, float* dx, Index dx_stride, float* dgain,
                   float* dshift) {
  // gain is zero beyond the width, so what lies there adds nothing to the sums; dy is zero there too.
  const float inverse = 1.0f / static_cast<float>(width);
  for (Index r = 0; r < rows; ++r) {
    const V mean = hn::Set(d, stats[2 * r]), rstd = hn::Set(d, stats[2 * r + 1]);
    V sum = hn::Zero(d), along = hn::Zero(d);
    for (Index j = 0; j < columns; j += kLanes) {
      const V hat = hn::Mul(hn::Sub(hn::LoadU(d, x + r * x_stride + j), mean), rstd);
      const V slope = hn::LoadU(d, dy + r * dy_stride + j), scaled = hn::Mul(slope, hn::LoadU(d, gain + j));
      sum = hn::Add(sum, scaled);
      along = hn::MulAdd(scaled, hat, along);
      hn::StoreU(hn::MulAdd(slope, hat, hn::LoadU(d, dgain + j)), d, dgain + j);
      hn::StoreU(hn::Add(slope, hn::LoadU(d, dshift + j)), d, dshift + j);
    }
    const V mean1 = hn::Set(d, sum_of(sum) * inverse), mean2 = hn::Set(d, sum_of(along) * inverse);
    for (Index j = 0; j < columns; j += kLanes) {
      const V hat = hn::Mul(hn::Sub(hn::LoadU(d, x + r * x_stride + j), mean), rstd);
      const V scaled = hn::Mul(hn::LoadU(d, dy + r * dy_stride + j), hn::LoadU(d, gain + j));
      const V inner = hn::NegMulAdd(hat, mean2, hn::Sub(scaled, mean1));
      float* const to = dx + r * dx_stride + j;
      const V next = hn::MulAdd(rstd, inner, hn::LoadU(d, to));
      // Columns beyond the width stay zero.
      hn::StoreU(j + kLanes <= width
                     ? next
                     : hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(std::max<Index>(0, width - j))), next),
                 d, to);
    }
  }
}

void gelu(Index rows, Index columns, const float* x, Index x_stride, float* y, Index y_stride) {
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; j += kLanes) {
      const V v = hn::LoadU(d, x + r * x_stride + j);
      V bell;
      hn::StoreU(hn::Mul(v, normal(v, bell)), d, y + r * y_stride + j);
    }
  }
}

void gelu_backward(Index rows, Index columns, const float* x, Index x_stride, float* y, Index y_stride, float* slope,
                   Index slope_stride) {
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; j += kLanes) {
      const V v = hn::LoadU(d, x + r * x_stride + j);
      V bell;
      const V below = normal(v, bell);
      hn::StoreU(hn::Mul(v, below), d, y + r * y_stride + j);
      float* const to = slope + r * slope_stride + j;
      const V derivative = hn::MulAdd(hn::Mul(v, hn::Set(d, 0.39894228f)), bell, below);
      hn::StoreU(hn::Mul(hn::LoadU(d, to), derivative), d, to);
    }
  }
}

// Several independent chains at once hide the latency of maxima and sums.
template <int NV>
HWY_INLINE void aggregate_columns(Index rows, Index columns, float* logits, float* maxima, float* sums, Index depth,
                                  float* y) {
  V before[NV], most[NV], factor[NV], sum[NV];
#pragma GCC unroll 4
  for (int v = 0; v < NV; ++v) most[v] = before[v] = hn::LoadU(d, maxima + v * kLanes);
  for (Index r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) most[v] = hn::Max(most[v], hn::LoadU(d, logits + r * columns + v * kLanes));
  }
#pragma GCC unroll 4
  for (int v = 0; v < NV; ++v) {
    factor[v] = exp2_below(hn::Sub(before[v], most[v]));
    sum[v] = hn::Mul(hn::LoadU(d, sums + v * kLanes), factor[v]);
  }
  for (Index r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      float* const at = logits + r * columns + v * kLanes;
      const V p = exp2_below(hn::Sub(hn::LoadU(d, at), most[v]));
      hn::StoreU(p, d, at);
      sum[v] = hn::Add(sum[v], p);
    }
  }
  for (Index k = 0; k < depth; ++k) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      float* const at = y + k * columns + v * kLanes;
      hn::StoreU(hn::Mul(hn::LoadU(d, at), factor[v]), d, at);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < NV; ++v) {
    hn::StoreU(most[v], d, maxima + v * kLanes);
    hn::StoreU(sum[v], d, sums + v * kLanes);
  }
}

void aggregate(Index rows, Index columns, float* logits, float* maxima, float* sums, Index depth, float* y) {
  constexpr Index kStep = 4 * kLanes;
  Index m = 0;
  for (; m + kStep <= columns; m += kStep)
    aggregate_columns<4>(rows, columns, logits + m, maxima + m, sums + m, depth, y + m);
  for (; m < columns; m += kLanes) aggregate_columns<1>(rows, columns, logits + m, maxima + m, sums + m, depth, y + m);
}

// R rows at once, for the same reason.
template <int R>
HWY_INLINE void broadcast_rows(Index agents, Index columns, float* logits, float* maxima, float* inverse) {
  const Index whole = agents / kLanes * kLanes;
  const auto rest = hn::FirstN(d, static_cast<std::size_t>(agents - whole));
  const V least = hn::Set(d, -std::numeric_limits<float>::infinity());
  V most[R], sum[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    most[r] = least;
    sum[r] = hn::Zero(d);
  }
  for (Index m = 0; m < whole; m += kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) most[r] = hn::Max(most[r], hn::LoadU(d, logits + r * columns + m));
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    if (whole < agents)
      most[r] = hn::Max(most[r], hn::IfThenElse(rest, hn::LoadU(d, logits + r * columns + whole), least));
    most[r] = hn::MaxOfLanes(d, most[r]);
  }
  for (Index m = 0; m < whole; m += kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      float* const at = logits + r * columns + m;
      const V e = exp2_below(hn::Sub(hn::LoadU(d, at), most[r]));
      hn::StoreU(e, d, at);
      sum[r] = hn::Add(sum[r], e);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    if (whole < agents) {
      float* const at = logits + r * columns + whole;
      const V e = hn::IfThenElseZero(rest, exp2_below(hn::Sub(hn::LoadU(d, at), most[r])));
      hn::StoreU(e, d, at);
      sum[r] = hn::Add(sum[r], e);
    }
    maxima[r] = hn::GetLane(most[r]);
    inverse[r] = 1.0f / sum_of(sum[r]);
  }
}

void broadcast(Index rows, Index agents, Index columns, float* logits, float* maxima, float* inverse) {
  Index r = 0;
  for (; r + 4 <= rows; r += 4) broadcast_rows<4>(agents, columns, logits + r * columns, maxima + r, inverse + r);
  for (; r < rows; ++r) broadcast_rows<1>(agents, columns, logits + r * columns, maxima + r, inverse + r);
}

void aggregate_backward(Index rows, Index columns, float* logits, float* p_slopes, const float* maxima,
                        const float* inverse, const float* delta, const float* column, float* drow) {
  for (Index r = 0; r < rows; ++r) {
    V sum = hn::Zero(d);
    for (Index m = 0; m < columns; m += kLanes) {
      float* const at = logits + r * columns + m;
      float* const slope = p_slopes + r * columns + m;
      const V p = hn::Mul(exp2_below(hn::Sub(hn::LoadU(d, at), hn::LoadU(d, maxima + m))), hn::LoadU(d, inverse + m));
      hn::StoreU(p, d, at);
      const V ds = hn::Mul(p, hn::Sub(hn::LoadU(d, slope), hn::LoadU(d, delta + m)));
      hn::StoreU(ds, d, slope);
      if (column != nullptr) sum = hn::MulAdd(ds, hn::LoadU(d, column + m), sum);
    }
    if (column != nullptr) drow[r] += sum_of(sum);
  }
}

template <int R>
HWY_INLINE void broadcast_backward_rows(Index agents, Index columns, float* logits, float* p_slopes,
                                        const float* maxima, const float* inverse, const float* column, float* drow) {
  const Index whole = agents / kLanes * kLanes;
  const auto rest = hn::FirstN(d, static_cast<std::size_t>(agents - whole));
  V most[R], share[R], along[R], sum[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    most[r] = hn::Set(d, maxima[r]);
    share[r] = hn::Set(d, inverse[r]);
    along[r] = sum[r] = hn::Zero(d);
  }
  for (Index m = 0; m < agents; m += kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      float* const at = logits + r * columns + m;
      V e = hn::Mul(exp2_below(hn::Sub(hn::LoadU(d, at), most[r])), share[r]);
      if (m == whole) e = hn::IfThenElseZero(rest, e);
      hn::StoreU(e, d, at);
      along[r] = hn::MulAdd(e, hn::LoadU(d, p_slopes + r * columns + m), along[r]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) along[r] = hn::SumOfLanes(d, along[r]);
  for (Index m = 0; m < agents; m += kLanes) {
    const V beside = column != nullptr ? hn::LoadU(d, column + m) : hn::Zero(d);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      float* const slope = p_slopes + r * columns + m;
      const V ds = hn::Mul(hn::LoadU(d, logits + r * columns + m), hn::Sub(hn::LoadU(d, slope), along[r]));
      hn::StoreU(ds, d, slope);
      sum[r] = hn::MulAdd(ds, beside, sum[r]);
    }
  }
  if (column == nullptr) return;
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) drow[r] += sum_of(sum[r]);
}

void broadcast_backward(Index rows, Index agents, Index columns, float* logits, float* p_slopes, const float* maxima,
                        const float* inverse, const float* column, float* drow) {
  Index r = 0;
  for (; r + 4 <= rows; r += 4) {
    broadcast_backward_rows<4>(agents, columns, logits + r * columns, p_slopes + r * columns, maxima + r, inverse + r,
                               column, drow + r);
  }
  for (; r < rows; ++r) {
    broadcast_backward_rows<1>(agents, columns, logits + r * columns, p_slopes + r * columns, maxima + r, inverse + r,
                               column, drow + r);
  }
}

void stencil(Index count, const float* const* sources, const float* const* filters, const float* weights, Index columns,
             float* out) {
  // Four vectors at a time: independent sums hide the latency of the multiply-add.
  Index j = 0;
  for (; j + 4 * kLanes <= columns; j += 4 * kLanes) {
    V s0 = hn::LoadU(d, out + j), s1 = hn::LoadU(d, out + j + kLanes), s2 = hn::LoadU(d, out + j + 2 * kLanes),
      s3 = hn::LoadU(d, out + j + 3 * kLanes);
    for (Index e = 0; e < count; ++e) {
      const V w = hn::Set(d, weights[e]);
      const float* const f = filters[e] + j;
      const float* const x = sources[e] + j;
      s0 = hn::MulAdd(hn::Mul(w, hn::LoadU(d, f)), hn::LoadU(d, x), s0);
      s1 = hn::MulAdd(hn::Mul(w, hn::LoadU(d, f + kLanes)), hn::LoadU(d, x + kLanes), s1);
      s2 = hn::MulAdd(hn::Mul(w, hn::LoadU(d, f + 2 * kLanes)), hn::LoadU(d, x + 2 * kLanes), s2);
      s3 = hn::MulAdd(hn::Mul(w, hn::LoadU(d, f + 3 * kLanes)), hn::LoadU(d, x + 3 * kLanes), s3);
    }
    hn::StoreU(s0, d, out + j);
    hn::StoreU(s1, d, out + j + kLanes);
    hn::StoreU(s2, d, out + j + 2 * kLanes);
    hn::StoreU(s3, d, out + j + 3 * kLanes);
  }
  for (; j < columns; j += kLanes) {
    V sum = hn::LoadU(d, out + j);
    for (Index e = 0; e < count; ++e) {
      sum =
          hn::MulAdd(hn::Mul(hn::Set(d, weights[e]), hn::LoadU(d, filters[e] + j)), hn::LoadU(d, sources[e] + j), sum);
    }
    hn::StoreU(sum, d, out + j);
  }
}

// NV vectors of channels at a time: the sum over a run stays in registers.
template <int NV, bool kBackward>
HWY_INLINE void run_columns(const StencilRuns& s, Index j, const float* HWY_RESTRICT filter, float* HWY_RESTRICT to,
                            const float* HWY_RESTRICT dout, Index out_stride) {
  for (Index r = 0; r < s.rows; ++r) {
    V out[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) out[v] = hn::LoadU(d, (kBackward ? dout : to) + r * out_stride + j + v * kLanes);
    const std::uint32_t* HWY_RESTRICT run = s.first + r * s.taps;
    for (Index t = 0; t < s.taps; ++t) {
      std::uint32_t e = run[t];
      const std::uint32_t end = run[t + 1];
      if (e == end) continue;
      V sum[NV];
      const float* x = s.values + s.entries[e].row * s.stride + j;
      V weight = hn::Set(d, s.entries[e].weight);
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) sum[v] = hn::Mul(weight, hn::LoadU(d, x + v * kLanes));
      for (++e; e < end; ++e) {
        x = s.values + s.entries[e].row * s.stride + j;
        weight = hn::Set(d, s.entries[e].weight);
#pragma GCC unroll 4
        for (int v = 0; v < NV; ++v) sum[v] = hn::MulAdd(weight, hn::LoadU(d, x + v * kLanes), sum[v]);
      }
      if constexpr (kBackward) {
        float* const slope = to + t * s.columns + j;
#pragma GCC unroll 4
        for (int v = 0; v < NV; ++v)
          hn::StoreU(hn::MulAdd(out[v], sum[v], hn::LoadU(d, slope + v * kLanes)), d, slope + v * kLanes);
      } else {
        const float* const f = filter + t * s.columns + j;
#pragma GCC unroll 4
        for (int v = 0; v < NV; ++v) out[v] = hn::MulAdd(hn::LoadU(d, f + v * kLanes), sum[v], out[v]);
      }
    }
    if constexpr (!kBackward) {
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) hn::StoreU(out[v], d, to + r * out_stride + j + v * kLanes);
    }
  }
}

template <bool kBackward>
void all_columns(const StencilRuns& s, const float* filter, float* to, const float* dout, Index out_stride) {
  Index j = 0;
  for (; j + 4 * kLanes <= s.columns; j += 4 * kLanes) run_columns<4, kBackward>(s, j, filter, to, dout, out_stride);
  for (; j + 2 * kLanes <= s.columns; j += 2 * kLanes) run_columns<2, kBackward>(s, j, filter, to, dout, out_stride);
  for (; j < s.columns; j += kLanes) run_columns<1, kBackward>(s, j, filter, to, dout, out_stride);
}

void stencil_runs(const StencilRuns& s, const float* filter, float* out, Index out_stride) {
  all_columns<false>(s, filter, out, nullptr, out_stride);
}

void stencil_runs_backward(const StencilRuns& s, const float* dout, Index dout_stride, float* dfilter) {
  all_columns<true>(s, nullptr, dfilter, dout, dout_stride);
}

void column_sums(Index rows, Index columns, const float* x, Index x_stride, float* out) {
  for (Index j = 0; j < columns; j += kLanes) {
    V sum = hn::LoadU(d, out + j);
    for (Index r = 0; r < rows; ++r) sum = hn::Add(sum, hn::LoadU(d, x + r * x_stride + j));
    hn::StoreU(sum, d, out + j);
  }
}

void add(Index count, float factor, const float* x, float* y) {
  const V f = hn::Set(d, factor);
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes)
    hn::StoreU(hn::MulAdd(f, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < count; ++i) y[i] += factor * x[i];
}

void adamw(Index count, const AdamwStep& s, float* p, const float* g, float* m, float* v) {
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V slope = hn::LoadU(d, g + i);
    const V first = hn::MulAdd(hn::Set(d, s.beta1), hn::LoadU(d, m + i), hn::Mul(hn::Set(d, s.rest1), slope));
    const V second =
        hn::MulAdd(hn::Set(d, s.beta2), hn::LoadU(d, v + i), hn::Mul(hn::Mul(hn::Set(d, s.rest2), slope), slope));
    hn::StoreU(first, d, m + i);
    hn::StoreU(second, d, v + i);
    const V below = hn::MulAdd(hn::Sqrt(second), hn::Set(d, s.root), hn::Set(d, s.epsilon));
    const V way = hn::Div(hn::Mul(hn::Set(d, s.rate), first), below);
    hn::StoreU(hn::Sub(hn::Mul(hn::LoadU(d, p + i), hn::Set(d, s.keep)), way), d, p + i);
  }
  for (; i < count; ++i) {
    m[i] = s.beta1 * m[i] + s.rest1 * g[i];
    v[i] = s.beta2 * v[i] + s.rest2 * g[i] * g[i];
    p[i] = p[i] * s.keep - s.rate * m[i] / (std::sqrt(v[i]) * s.root + s.epsilon);
  }
}

double square_sum(Index count, const float* x, const float* y) {
  Index i = 0;
  double sum = 0;
#if !HWY_ARCH_WASM  // which has no vectors of doubles here, and does not train
  const hn::CappedTag<double, kPad / 2> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const auto lanes = static_cast<Index>(hn::Lanes(dd));
  auto sum0 = hn::Zero(dd), sum1 = hn::Zero(dd);
  const auto difference = [&](Index at) HWY_ATTR {
    const auto value = hn::PromoteTo(dd, hn::LoadU(df, x + at));
    return y != nullptr ? hn::Sub(value, hn::PromoteTo(dd, hn::LoadU(df, y + at))) : value;
  };
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto e0 = difference(i), e1 = difference(i + lanes);
    sum0 = hn::MulAdd(e0, e0, sum0);
    sum1 = hn::MulAdd(e1, e1, sum1);
  }
  sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(sum0, sum1)));
#endif
  for (; i < count; ++i) {
    const double e = static_cast<double>(x[i]) - (y != nullptr ? static_cast<double>(y[i]) : 0.0);
    sum += e * e;
  }
  return sum;
}

Kernels table(std::string_view name) {
  return {.name = name,
          .gemm = gemm,
          .pack = pack,
          .norm_stats = norm_stats,
          .norm_apply = norm_apply,
          .norm_backward = norm_backward,
          .gelu = gelu,
          .gelu_backward = gelu_backward,
          .aggregate = aggregate,
          .broadcast = broadcast,
          .aggregate_backward = aggregate_backward,
          .broadcast_backward = broadcast_backward,
          .stencil = stencil,
          .stencil_runs = stencil_runs,
          .stencil_runs_backward = stencil_runs_backward,
          .column_sums = column_sums,
          .add = add,
          .adamw = adamw,
          .square_sum = square_sum};
}

}  // namespace lano::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR

#if HWY_ONCE
namespace lano::kernels {

bool simd_kernels(Simd simd, Kernels& out) {
#if HWY_ARCH_X86
  const auto has = [](std::int64_t target) { return (hwy::SupportedTargets() & target) != 0; };
#endif
#if HWY_TARGETS & HWY_SSE4
  if (simd == Simd::sse4 && has(HWY_SSE4)) {
    out = N_SSE4::table("sse4");
    return true;
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  if (simd == Simd::avx2 && has(HWY_AVX2)) {
    out = N_AVX2::table("avx2");
    return true;
  }
#endif
#if HWY_TARGETS & HWY_AVX3
  if (simd == Simd::avx512 && has(HWY_AVX3)) {
    out = N_AVX3::table("avx512");
    return true;
  }
#endif
#if HWY_TARGETS & HWY_NEON
  // Part of every aarch64 processor. Highway asks for AES too, which no kernel uses (tests/arm/arm_test.sh).
  if (simd == Simd::neon) {
    out = N_NEON::table("neon");
    return true;
  }
#endif
#if HWY_TARGETS & HWY_WASM
  if (simd == Simd::sse4) {  // vectors of the same width; a module has one target
    out = N_WASM::table("wasm");
    return true;
  }
#endif
  return false;
}

}  // namespace lano::kernels
#endif  // HWY_ONCE
