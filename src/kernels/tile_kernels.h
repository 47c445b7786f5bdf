// The inner loops of the fused engine, each over a tile of points that stays in cache. One table of functions for every
// instruction set: `plain` is the reference version in ordinary loops, the others are one Highway source compiled for
// SSE4, AVX2, AVX-512 and NEON. The same table gives the same bits for any thread count.
//
// Rows are points (or agents), columns channels (or agents). All widths named `columns` are multiples of kPad floats;
// buffers reach to the end of the last vector, so no kernel needs a tail there. Columns beyond the real width hold
// zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/tap_table.h"

namespace lano::kernels {

constexpr std::int64_t kPad = 16;  // floats of the widest vector
constexpr std::int64_t padded(std::int64_t width) { return (width + kPad - 1) / kPad * kPad; }

// c[r][j] = scale[r] ( plus[r][j] + row[r] column[j] + sum_k a(r,k) b(k,j) ),  r < rows, k < depth, j < columns.
// a(r,k) = a[r a_stride + k], or a[k a_stride + r] where transposed. b is packed by Kernels::pack, or (b_stride > 0)
// rows of b_stride floats. plus (which may be c), row, column and scale may be null: row and scale count as ones then,
// the others as zeros.
struct Gemm {
  std::int64_t rows = 0, depth = 0, columns = 0;
  const float* a = nullptr;
  std::int64_t a_stride = 0;
  bool transposed = false;
  const float* b = nullptr;
  std::int64_t b_stride = 0;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  const float* plus = nullptr;
  std::int64_t plus_stride = 0;
  const float* row = nullptr;
  const float* column = nullptr;
  const float* scale = nullptr;
};

// Packs b(k,j) = factor * from[k step + j stride] for the columns first .. last-1 of `columns`; columns at and beyond
// `real` become zero. `to` holds depth * columns floats. first is a multiple of kPad, last too, or it is `columns`.
struct Packing {
  std::int64_t depth = 0, columns = 0, real = 0, first = 0, last = 0;
  const float* from = nullptr;
  std::int64_t step = 0, stride = 0;
  float factor = 1;
  float* to = nullptr;
};

struct AdamwStep {
  float keep = 1, beta1 = 0, rest1 = 1, beta2 = 0, rest2 = 1, rate = 0, root = 1, epsilon = 0;  // rest = 1 - beta
};

// Points of a stencil's table, and the values it reads.
struct StencilRuns {
  std::int64_t rows = 0, taps = 0;
  const std::uint32_t* first = nullptr;
  const TapEntry* entries = nullptr;
  const float* values = nullptr;
  std::int64_t stride = 0, columns = 0;
};

struct Kernels {
  std::string_view name;  // as LANO_SIMD spells it

  void (*gemm)(const Gemm&);
  void (*pack)(const Packing&);

  // stats[2r], stats[2r+1]: mean and 1/sqrt(variance + 1e-5) of the first `width` values of row r.
  void (*norm_stats)(std::int64_t rows, std::int64_t width, const float* x, std::int64_t x_stride, float* stats);
  // y = (x - mean) rstd gain + shift
  void (*norm_apply)(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t x_stride, const float* stats,
                     const float* gain, const float* shift, float* y, std::int64_t y_stride);
  // dx += the derivative of norm_apply (stats included) at dy; dgain and dshift grow by theirs.
  void (*norm_backward)(std::int64_t rows, std::int64_t width, std::int64_t columns, const float* x,
                        std::int64_t x_stride, const float* stats, const float* gain, const float* dy,
                        std::int64_t dy_stride, float* dx, std::int64_t dx_stride, float* dgain, float* dshift);
  // y = x Phi(x), the exact GELU
  void (*gelu)(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t x_stride, float* y,
               std::int64_t y_stride);
  // y = gelu(x); d *= gelu'(x)
  void (*gelu_backward)(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t x_stride, float* y,
                        std::int64_t y_stride, float* d, std::int64_t d_stride);

  // Logits are to the base two: those of the model times log2(e).
  // One tile of the aggregation of a head: logits [rows, columns = agents] become 2^(logit - maximum), with the running
  // maxima and sums of each agent carried on, and what was gathered before, y [depth, columns], scaled to the new
  // maxima.
  void (*aggregate)(std::int64_t rows, std::int64_t columns, float* logits, float* maxima, float* sums,
                    std::int64_t depth, float* y);
  // logits [rows, agents of columns] become 2^(logit - row maximum); inverse[r] = 1 / row sum.
  void (*broadcast)(std::int64_t rows, std::int64_t agents, std::int64_t columns, float* logits, float* maxima,
                    float* inverse);
  // p = 2^(logits - maxima[m]) inverse[m] replaces logits; p_slopes, those of p, become p (p_slopes - delta[m]), those
  // of the model's own logits;
  // drow[r] += sum_m dlogits column[m], where column is given.
  void (*aggregate_backward)(std::int64_t rows, std::int64_t columns, float* logits, float* p_slopes,
                             const float* maxima, const float* inverse, const float* delta, const float* column,
                             float* drow);
  // The same for rows: p = 2^(logits - maxima[r]) inverse[r], delta[r] = sum_m p p_slopes.
  void (*broadcast_backward)(std::int64_t rows, std::int64_t agents, std::int64_t columns, float* logits,
                             float* p_slopes, const float* maxima, const float* inverse, const float* column,
                             float* drow);

  // out += sum_e weight[e] filter[e] * source[e], vectors of `columns`
  void (*stencil)(std::int64_t count, const float* const* sources, const float* const* filters, const float* weights,
                  std::int64_t columns, float* out);
  // The same from a table (kernels/tap_table.h), for `rows` points whose runs begin at first[0]: row i of the values is
  // values + i stride, filter [taps, columns]; out and dout in rows of their stride. Backward: the filter's gradient.
  void (*stencil_runs)(const StencilRuns& runs, const float* filter, float* out, std::int64_t out_stride);
  void (*stencil_runs_backward)(const StencilRuns& runs, const float* dout, std::int64_t dout_stride, float* dfilter);

  // out += the sum of the rows
  void (*column_sums)(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t x_stride, float* out);
  // y += factor x; any count
  void (*add)(std::int64_t count, float factor, const float* x, float* y);
  // One AdamW update; any count
  void (*adamw)(std::int64_t count, const AdamwStep& step, float* p, const float* g, float* m, float* v);
  // sum of (x - y)^2, or of x^2 where y is null, in double; any count
  double (*square_sum)(std::int64_t count, const float* x, const float* y);
};

enum class Simd { plain, sse4, avx2, avx512, neon };

// The instruction sets of this build that this processor has, plain first, best last.
std::vector<Simd> available_simd();
const Kernels& kernels(Simd simd);
// The best one, or the one that the environment variable LANO_SIMD names (as simd_name spells it); read once.
const Kernels& kernels();
std::string simd_name(Simd simd);

}  // namespace lano::kernels
