// The reference version of every tile kernel: ordinary loops over any floating type. In double it is the reference for
// the others; in float it is the table `plain`, for processors without SSE4 and for LANO_SIMD=plain. Contracts:
// tile_kernels.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/tile_kernels.h"

namespace lano::kernels::plain {

using Index = std::int64_t;
using std::erfc;  // not std::erfc(x) below: a type may bring its own
using std::exp;
using std::exp2;
using std::sqrt;

template <class T>
void gemm(Index rows, Index depth, Index columns, const T* a, Index a_stride, bool transposed, const T* b,
          Index b_stride, T* c, Index c_stride, const T* plus, Index plus_stride, const T* row, const T* column,
          const T* scale) {
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; ++j) {
      T sum = plus ? plus[r * plus_stride + j] : T{0};
      if (column) sum += (row ? row[r] : T{1}) * column[j];
      for (Index k = 0; k < depth; ++k)
        sum += (transposed ? a[k * a_stride + r] : a[r * a_stride + k]) * b[k * b_stride + j];
      c[r * c_stride + j] = scale ? scale[r] * sum : sum;
    }
  }
}

template <class T>
void norm_stats(Index rows, Index width, const T* x, Index x_stride, T* stats) {
  for (Index r = 0; r < rows; ++r) {
    T mean{0}, variance{0};
    for (Index j = 0; j < width; ++j) mean += x[r * x_stride + j];
    mean /= static_cast<T>(width);
    for (Index j = 0; j < width; ++j) variance += (x[r * x_stride + j] - mean) * (x[r * x_stride + j] - mean);
    stats[2 * r] = mean;
    stats[2 * r + 1] = T{1} / sqrt(variance / static_cast<T>(width) + T(1e-5));
  }
}

template <class T>
void norm_apply(Index rows, Index columns, const T* x, Index x_stride, const T* stats, const T* gain, const T* shift,
                T* y, Index y_stride) {
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; ++j) {
      y[r * y_stride + j] = (x[r * x_stride + j] - stats[2 * r]) * stats[2 * r + 1] * gain[j] + shift[j];
    }
  }
}

template <class T>
void norm_backward(Index rows, Index width, Index, const T* x, Index x_stride, const T* stats, const T* gain,
                   const T* dy, Index dy_stride, T* dx, Index dx_stride, T* dgain, T* dshift) {
  for (Index r = 0; r < rows; ++r) {
    const T mean = stats[2 * r], rstd = stats[2 * r + 1];
    T sum{0}, along{0};
    for (Index j = 0; j < width; ++j) {
      const T hat = (x[r * x_stride + j] - mean) * rstd, d = dy[r * dy_stride + j];
      sum += d * gain[j];
      along += d * gain[j] * hat;
      dgain[j] += d * hat;
      dshift[j] += d;
    }
    sum /= static_cast<T>(width);
    along /= static_cast<T>(width);
    for (Index j = 0; j < width; ++j) {
      const T hat = (x[r * x_stride + j] - mean) * rstd;
      dx[r * dx_stride + j] += rstd * (dy[r * dy_stride + j] * gain[j] - sum - hat * along);
    }
  }
}

template <class T>
void gelu(Index rows, Index columns, const T* x, Index x_stride, T* y, Index y_stride) {
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; ++j) {
      const T v = x[r * x_stride + j];
      y[r * y_stride + j] = v * T(0.5) * erfc(-v * T(0.70710678118654752440));
    }
  }
}

template <class T>
void gelu_backward(Index rows, Index columns, const T* x, Index x_stride, T* y, Index y_stride, T* d, Index d_stride) {
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; ++j) {
      const T v = x[r * x_stride + j];
      const T below = T(0.5) * erfc(-v * T(0.70710678118654752440));
      const T density = T(0.39894228040143267794) * exp(-v * v / 2);
      y[r * y_stride + j] = v * below;
      d[r * d_stride + j] *= below + v * density;
    }
  }
}

template <class T>
void aggregate(Index rows, Index columns, T* logits, T* maxima, T* sums, Index depth, T* y) {
  for (Index m = 0; m < columns; ++m) {
    T most = maxima[m];
    for (Index r = 0; r < rows; ++r) most = std::max(most, logits[r * columns + m]);
    const T factor = maxima[m] == most ? T{1} : exp2(maxima[m] - most);
    T sum = sums[m] * factor;
    for (Index r = 0; r < rows; ++r) sum += logits[r * columns + m] = exp2(logits[r * columns + m] - most);
    for (Index d = 0; d < depth; ++d) y[d * columns + m] *= factor;
    maxima[m] = most;
    sums[m] = sum;
  }
}

template <class T>
void broadcast(Index rows, Index agents, Index columns, T* logits, T* maxima, T* inverse) {
  for (Index r = 0; r < rows; ++r) {
    T* const p = logits + r * columns;
    T most = p[0], sum{0};
    for (Index m = 1; m < agents; ++m) most = std::max(most, p[m]);
    for (Index m = 0; m < agents; ++m) sum += p[m] = exp2(p[m] - most);
    for (Index m = agents; m < columns; ++m) p[m] = 0;
    maxima[r] = most;
    inverse[r] = T{1} / sum;
  }
}

template <class T>
void aggregate_backward(Index rows, Index columns, T* logits, T* p_slopes, const T* maxima, const T* inverse,
                        const T* delta, const T* column, T* drow) {
  for (Index r = 0; r < rows; ++r) {
    T sum{0};
    for (Index m = 0; m < columns; ++m) {
      T& p = logits[r * columns + m];
      T& d = p_slopes[r * columns + m];
      p = exp2(p - maxima[m]) * inverse[m];
      d = p * (d - delta[m]);
      if (column) sum += d * column[m];
    }
    if (column) drow[r] += sum;
  }
}

template <class T>
void broadcast_backward(Index rows, Index agents, Index columns, T* logits, T* p_slopes, const T* maxima,
                        const T* inverse, const T* column, T* drow) {
  for (Index r = 0; r < rows; ++r) {
    T* const p = logits + r * columns;
    T* const d = p_slopes + r * columns;
    T delta{0}, sum{0};
    for (Index m = 0; m < columns; ++m) {
      p[m] = m < agents ? exp2(p[m] - maxima[r]) * inverse[r] : T{0};
      delta += p[m] * d[m];
    }
    for (Index m = 0; m < columns; ++m) {
      d[m] = p[m] * (d[m] - delta);
      if (column) sum += d[m] * column[m];
    }
    if (column) drow[r] += sum;
  }
}

template <class T>
void stencil(Index count, const T* const* sources, const T* const* filters, const T* weights, Index columns, T* out) {
  for (Index e = 0; e < count; ++e) {
    for (Index j = 0; j < columns; ++j) out[j] += weights[e] * filters[e][j] * sources[e][j];
  }
}

// f(sum of the entries of a tap at channel j, row, tap, j)
template <class T, class F>
void each_run(const StencilRuns& s, const T* values, F&& f) {
  for (Index r = 0; r < s.rows; ++r) {
    for (Index t = 0; t < s.taps; ++t) {
      const std::uint32_t* const run = s.first + r * s.taps + t;
      if (run[0] == run[1]) continue;
      for (Index j = 0; j < s.columns; ++j) {
        T sum = 0;
        for (std::uint32_t e = run[0]; e < run[1]; ++e)
          sum += static_cast<T>(s.entries[e].weight) * values[s.entries[e].row * s.stride + j];
        f(sum, r, t, j);
      }
    }
  }
}

template <class T>
void stencil_runs(const StencilRuns& s, const T* values, const T* filter, T* out, Index out_stride) {
  each_run(s, values,
           [&](T sum, Index r, Index t, Index j) { out[r * out_stride + j] += filter[t * s.columns + j] * sum; });
}

template <class T>
void stencil_runs_backward(const StencilRuns& s, const T* values, const T* dout, Index dout_stride, T* dfilter) {
  each_run(s, values,
           [&](T sum, Index r, Index t, Index j) { dfilter[t * s.columns + j] += dout[r * dout_stride + j] * sum; });
}

template <class T>
void column_sums(Index rows, Index columns, const T* x, Index x_stride, T* out) {
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; ++j) out[j] += x[r * x_stride + j];
  }
}

template <class T>
void add(Index count, T factor, const T* x, T* y) {
  for (Index i = 0; i < count; ++i) y[i] += factor * x[i];
}

// p <- p keep - rate m / (sqrt(v) root + eps), after m <- b1 m + (1-b1) g and v <- b2 v + (1-b2) g^2
template <class T>
void adamw(Index count, const AdamwStep& s, T* p, const T* g, T* m, T* v) {
  for (Index i = 0; i < count; ++i) {
    m[i] = T(s.beta1) * m[i] + T(s.rest1) * g[i];
    v[i] = T(s.beta2) * v[i] + T(s.rest2) * g[i] * g[i];
    p[i] = p[i] * T(s.keep) - T(s.rate) * m[i] / (sqrt(v[i]) * T(s.root) + T(s.epsilon));
  }
}

template <class T>
double square_sum(Index count, const T* x, const T* y) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) {
    const double difference = static_cast<double>(x[i]) - (y ? static_cast<double>(y[i]) : 0.0);
    sum += difference * difference;
  }
  return sum;
}

}  // namespace lano::kernels::plain
