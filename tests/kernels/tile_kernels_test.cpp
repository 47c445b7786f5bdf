// Every tile kernel of every instruction set this machine has, against its plain twin: sizes below, at and
// above the vector length, odd, zero, and memory off every alignment. The twin computes the tolerance along with each
// value (Tracked).
#include "kernels/tile_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <type_traits>

#include "core/random.h"
#include "kernels/plain_kernels.h"
#include "scratch.h"

namespace lano::kernels {
namespace {

using Index = std::int64_t;

// A number as the plain twin computes it in double, and the variance of what float adds to it: each operation rounds
// its result by a random number of standard deviation u |result| / sqrt(3), u = 2^-24, and passes on the errors of its
// operands. Sums in another order, or with fewer roundings (fused multiply-add), have a variance of the same size.
class Tracked {
 public:
  Tracked() = default;
  Tracked(double value) : value_(value) {}  // exact: the constants and inputs of a kernel
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  Tracked(Integer value) : value_(static_cast<double>(value)) {}
  explicit operator double() const { return value_; }
  double value() const { return value_; }
  // Eight deviations, so that none of a million values is outside by chance, and what underflows: 2^-126 and less.
  double tolerance() const { return 8 * std::sqrt(variance_) + 0x1p-125; }

  friend Tracked operator+(Tracked a, Tracked b) { return {a.value_ + b.value_, a.variance_ + b.variance_, 1}; }
  friend Tracked operator-(Tracked a, Tracked b) { return {a.value_ - b.value_, a.variance_ + b.variance_, 1}; }
  friend Tracked operator*(Tracked a, Tracked b) {
    return {a.value_ * b.value_, a.variance_ * square(b.value_) + b.variance_ * square(a.value_), 1};
  }
  friend Tracked operator/(Tracked a, Tracked b) {
    const double value = a.value_ / b.value_;
    return {value, (a.variance_ + b.variance_ * square(value)) / square(b.value_), 1};
  }
  Tracked operator-() const { return {-value_, variance_, 0}; }
  Tracked& operator+=(Tracked other) { return *this = *this + other; }
  Tracked& operator*=(Tracked other) { return *this = *this * other; }
  Tracked& operator/=(Tracked other) { return *this = *this / other; }
  friend bool operator<(Tracked a, Tracked b) { return a.value_ < b.value_; }
  friend bool operator==(Tracked a, Tracked b) { return a.value_ == b.value_; }

  friend Tracked sqrt(Tracked x) {
    const double value = std::sqrt(x.value_);
    return {value, value > 0 ? x.variance_ / square(2 * value) : 0, 1};
  }
  // Powers: about two roundings in Horner's scheme, whose last steps count most.
  friend Tracked exp2(Tracked x) {
    const double value = std::exp2(x.value_);
    return {value, x.variance_ * square(std::log(2.0) * value), 2};
  }
  friend Tracked exp(Tracked x) {
    const double value = std::exp(x.value_);
    return {value, x.variance_ * square(value), 2};
  }
  // Twice the normal distribution at -x sqrt 2: exp(-x^2) times a polynomial, whose roundings are the larger ones,
  // subtracted from 2 where x < 0; and the error of the polynomial, at most 8.8e-9, as if it were random too.
  friend Tracked erfc(Tracked x) {
    const double bell = std::exp(-square(x.value_)), slope = 2 / std::sqrt(std::numbers::pi) * bell;
    const double own = square(1.5 * kRounding * std::sqrt(bell)) + square(8.8e-9 / 3);
    return {std::erfc(x.value_), x.variance_ * square(slope) + own, 1};
  }

 private:
  static constexpr double kRounding = 0x1p-24 / std::numbers::sqrt3;

  static double square(double x) { return x * x; }
  Tracked(double value, double variance, double roundings)
      : value_(value), variance_(std::isfinite(value) ? variance + roundings * square(kRounding * value) : 0) {}

  double value_ = 0, variance_ = 0;
};

// Floats at an odd address, in an allocation of their exact size, so that asan sees a step too far; and the same for
// the twin.
class Values {
 public:
  explicit Values(Index size, double scale = 1, double shift = 0) : memory_(static_cast<std::size_t>(size) + 1) {
    static std::uint64_t next = 0;
    RandomStream stream(7, Purpose::shuffle, next++);
    for (float& value : memory_) value = static_cast<float>(scale * stream.normal() + shift);
    exact_.assign(memory_.begin() + 1, memory_.end());
  }
  float* data() { return memory_.data() + 1; }
  Tracked* exact() { return exact_.data(); }
  Index size() const { return static_cast<Index>(exact_.size()); }
  void zero(Index at) { set(at, 0); }
  void set(Index at, float value) {
    memory_[static_cast<std::size_t>(at) + 1] = value;
    exact_[static_cast<std::size_t>(at)] = value;
  }
  void expect(const char* what) const {
    for (Index i = 0; i < size() && !testing::Test::HasFatalFailure(); ++i) expect_at(i, what);
  }
  void expect_at(Index at, const char* what) const {
    const Tracked& exact = exact_[static_cast<std::size_t>(at)];
    const float value = memory_[static_cast<std::size_t>(at) + 1];
    ASSERT_NEAR(value, exact.value(), exact.tolerance()) << what << " at " << at;
  }

 private:
  std::vector<float> memory_;
  std::vector<Tracked> exact_;
};

class TileKernels : public testing::TestWithParam<Simd> {
 protected:
  const Kernels& k = kernels(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, TileKernels, testing::ValuesIn(available_simd()),
                         [](const testing::TestParamInfo<Simd>& each) { return simd_name(each.param); });

constexpr Index kRowCounts[] = {0, 1, 2, 5, 6, 7, 11, 12, 13, 25};

TEST_P(TileKernels, Products) {
  for (const Index rows : kRowCounts) {
    for (const Index depth : {Index{0}, Index{1}, Index{3}, Index{16}, Index{33}}) {
      for (const Index columns : {16, 32, 48, 64, 80, 96, 112, 128, 144}) {
        for (const bool transposed : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << rows << " x " << depth << " x " << columns << (transposed ? " transposed" : ""));
          const Index a_stride = (transposed ? rows : depth) + 3;
          Values a((transposed ? depth : rows) * a_stride), b(depth * (columns + 5)), c(rows * (columns + 2)),
              plus(rows * (columns + 1));
          Values row(rows), column(columns), scale(rows, 0.3), packed(depth * columns);
          // Strided b, everything added.
          k.gemm({.rows = rows,
                  .depth = depth,
                  .columns = columns,
                  .a = a.data(),
                  .a_stride = a_stride,
                  .transposed = transposed,
                  .b = b.data(),
                  .b_stride = columns + 5,
                  .c = c.data(),
                  .c_stride = columns + 2,
                  .plus = plus.data(),
                  .plus_stride = columns + 1,
                  .row = row.data(),
                  .column = column.data(),
                  .scale = scale.data()});
          const auto truth = [&](const Tracked* p, const Tracked* r, const Tracked* j, const Tracked* s) {
            plain::gemm<Tracked>(rows, depth, columns, a.exact(), a_stride, transposed, b.exact(), columns + 5,
                                 c.exact(), columns + 2, p, columns + 1, r, j, s);
          };
          truth(plus.exact(), row.exact(), column.exact(), scale.exact());
          c.expect("all terms");
          // Packed b, nothing added; columns at and beyond `real` are zero.
          const Index real = columns - 3;
          k.pack({.depth = depth,
                  .columns = columns,
                  .real = real,
                  .first = 0,
                  .last = columns,
                  .from = b.data(),
                  .step = columns + 5,
                  .stride = 1,
                  .to = packed.data()});
          for (Index i = 0; i < depth; ++i) {
            for (Index j = real; j < columns; ++j) b.zero(i * (columns + 5) + j);
          }
          k.gemm({.rows = rows,
                  .depth = depth,
                  .columns = columns,
                  .a = a.data(),
                  .a_stride = a_stride,
                  .transposed = transposed,
                  .b = packed.data(),
                  .c = c.data(),
                  .c_stride = columns + 2});
          truth(nullptr, nullptr, nullptr, nullptr);
          c.expect("packed");
        }
      }
    }
  }
}

TEST_P(TileKernels, PackingInPieces) {
  const Index depth = 5, columns = 144;
  Values from(depth * columns), whole(depth * columns), pieces(depth * columns);
  const auto pack = [&](Index first, Index last, Values& to) {
    k.pack({.depth = depth,
            .columns = columns,
            .real = 140,
            .first = first,
            .last = last,
            .from = from.data(),
            .step = 1,
            .stride = depth,
            .factor = 0.5f,
            .to = to.data()});
  };
  pack(0, columns, whole);
  for (Index first = 0; first < columns; first += kPad) pack(first, first + kPad, pieces);
  EXPECT_TRUE(std::equal(whole.data(), whole.data() + whole.size(), pieces.data()));
  // What is packed is half of `from` transposed, its columns from the 140th on zero.
  const Index rows = 7;
  Values a(rows * depth), b(depth * columns), c(rows * columns);
  for (Index i = 0; i < depth; ++i) {
    for (Index j = 0; j < columns; ++j) b.set(i * columns + j, j < 140 ? 0.5f * from.data()[i + j * depth] : 0.0f);
  }
  k.gemm({.rows = rows,
          .depth = depth,
          .columns = columns,
          .a = a.data(),
          .a_stride = depth,
          .b = pieces.data(),
          .c = c.data(),
          .c_stride = columns});
  plain::gemm<Tracked>(rows, depth, columns, a.exact(), depth, false, b.exact(), columns, c.exact(), columns, nullptr,
                       columns, nullptr, nullptr, nullptr);
  c.expect("product with what was packed in pieces");
}

TEST_P(TileKernels, Norms) {
  for (const Index rows : kRowCounts) {
    for (const Index width : {2, 3, 8, 15, 16, 17, 30, 48, 100}) {  // of 1 the variance is zero
      const Index columns = padded(width), stride = columns + 1;
      Values x(rows * stride, 2, 1), stats(2 * rows), gain(columns), shift(columns), y(rows * stride),
          dy(rows * stride), dx(rows * stride), dgain(columns), dshift(columns);
      for (Index j = width; j < columns; ++j) {
        gain.zero(j);
        shift.zero(j);
        dgain.zero(j);
        dshift.zero(j);
        for (Index r = 0; r < rows; ++r) {
          x.zero(r * stride + j);
          dy.zero(r * stride + j);
          dx.zero(r * stride + j);
        }
      }
      k.norm_stats(rows, width, x.data(), stride, stats.data());
      plain::norm_stats<Tracked>(rows, width, x.exact(), stride, stats.exact());
      stats.expect("stats");
      for (Index i = 0; i < 2 * rows; ++i) stats.set(i, stats.data()[i]);
      k.norm_apply(rows, columns, x.data(), stride, stats.data(), gain.data(), shift.data(), y.data(), stride);
      plain::norm_apply<Tracked>(rows, columns, x.exact(), stride, stats.exact(), gain.exact(), shift.exact(),
                                 y.exact(), stride);
      y.expect("apply");
      k.norm_backward(rows, width, columns, x.data(), stride, stats.data(), gain.data(), dy.data(), stride, dx.data(),
                      stride, dgain.data(), dshift.data());
      plain::norm_backward<Tracked>(rows, width, columns, x.exact(), stride, stats.exact(), gain.exact(), dy.exact(),
                                    stride, dx.exact(), stride, dgain.exact(), dshift.exact());
      dx.expect("dx");
      dgain.expect("dgain");
      dshift.expect("dshift");
    }
  }
}

// The derivatives that every instruction set is compared with are derivatives themselves.
TEST(PlainKernels, NormBackwardIsTheDerivative) {
  const Index width = 12, columns = 16;
  std::vector<double> x(columns), gain(columns), shift(columns), y(columns), stats(2), probe(columns), dx(columns),
      none(columns), also(columns);
  RandomStream stream(3, Purpose::shuffle);
  for (Index j = 0; j < width; ++j) {
    x[j] = stream.normal();
    gain[j] = stream.normal();
    probe[j] = stream.normal();
  }
  const auto value = [&] {
    plain::norm_stats<double>(1, width, x.data(), columns, stats.data());
    plain::norm_apply<double>(1, columns, x.data(), columns, stats.data(), gain.data(), shift.data(), y.data(),
                              columns);
    double sum = 0;
    for (Index j = 0; j < width; ++j) sum += y[j] * probe[j];
    return sum;
  };
  value();
  plain::norm_backward<double>(1, width, columns, x.data(), columns, stats.data(), gain.data(), probe.data(), columns,
                               dx.data(), columns, none.data(), also.data());
  for (Index j = 0; j < width; ++j) {
    const double kept = x[j];
    x[j] = kept + 1e-6;
    const double above = value();
    x[j] = kept - 1e-6;
    const double below = value();
    x[j] = kept;
    EXPECT_NEAR(dx[j], (above - below) / 2e-6, 1e-8);
  }
}

TEST_P(TileKernels, Gelu) {
  const Index rows = 7, columns = 48;
  for (const double scale : {0.01, 1.0, 3.0, 30.0}) {
    Values x(rows * columns, scale), y(rows * columns), d(rows * columns), y2(rows * columns);
    x.set(0, 0.0f);
    x.set(1, -200.0f);
    x.set(2, 200.0f);
    k.gelu(rows, columns, x.data(), columns, y.data(), columns);
    plain::gelu<Tracked>(rows, columns, x.exact(), columns, y.exact(), columns);
    y.expect("gelu");
    k.gelu_backward(rows, columns, x.data(), columns, y2.data(), columns, d.data(), columns);
    plain::gelu_backward<Tracked>(rows, columns, x.exact(), columns, y2.exact(), columns, d.exact(), columns);
    y2.expect("gelu beside its derivative");
    d.expect("derivative");
  }
}

TEST(PlainKernels, GeluBackwardIsTheDerivative) {
  for (double x = -6; x < 6; x += 0.37) {
    double y = 0, slope = 1, above = 0, below = 0;
    const double up = x + 1e-6, down = x - 1e-6;
    plain::gelu_backward<double>(1, 1, &x, 1, &y, 1, &slope, 1);
    plain::gelu<double>(1, 1, &up, 1, &above, 1);
    plain::gelu<double>(1, 1, &down, 1, &below, 1);
    EXPECT_NEAR(slope, (above - below) / 2e-6, 1e-8);
  }
}

// Online softmax over several tiles, down to one row, logits from tiny to 1e4.
TEST_P(TileKernels, Aggregation) {
  for (const double scale : {0.1, 3.0, 1e4}) {
    for (const Index agents : {1, 15, 16, 17, 48}) {
      const Index columns = padded(agents), depth = 3;
      Values maxima(columns), sums(columns), y(depth * columns);
      for (Index i = 0; i < columns; ++i) {
        maxima.set(i, -std::numeric_limits<float>::infinity());
        sums.zero(i);
        for (Index j = 0; j < depth; ++j) y.zero(j * columns + i);
      }
      for (const Index rows : {1, 12, 7, 0, 20}) {
        Values logits(rows * columns, scale);
        k.aggregate(rows, columns, logits.data(), maxima.data(), sums.data(), depth, y.data());
        plain::aggregate<Tracked>(rows, columns, logits.exact(), maxima.exact(), sums.exact(), depth, y.exact());
        if (rows == 0) continue;
        logits.expect("shares");
        sums.expect("sums");
        y.expect("gathered");
        for (Index i = 0; i < depth * columns; ++i) y.set(i, y.data()[i] + 0.5f);  // as if something had been gathered
      }
      for (Index i = 0; i < columns; ++i) EXPECT_EQ(maxima.data()[i], maxima.exact()[i].value());
    }
  }
}

TEST_P(TileKernels, Broadcast) {
  for (const double scale : {0.1, 3.0, 1e4}) {
    for (const Index agents : {1, 15, 16, 17, 48}) {
      for (const Index rows : kRowCounts) {
        const Index columns = padded(agents);
        Values logits(rows * columns, scale), maxima(rows), inverse(rows);
        k.broadcast(rows, agents, columns, logits.data(), maxima.data(), inverse.data());
        plain::broadcast<Tracked>(rows, agents, columns, logits.exact(), maxima.exact(), inverse.exact());
        inverse.expect("inverse sums");
        for (Index r = 0; r < rows; ++r) {
          EXPECT_EQ(maxima.data()[r], maxima.exact()[r].value());
          for (Index m = 0; m < agents; ++m) logits.expect_at(r * columns + m, "shares of a row");
        }
      }
    }
  }
}

TEST_P(TileKernels, SoftmaxesBackward) {
  for (const Index agents : {1, 15, 16, 17, 48}) {
    for (const Index rows : kRowCounts) {
      const Index columns = padded(agents);
      for (const bool biased : {false, true}) {
        Values logits(rows * columns, 1, -5), dp(rows * columns), column(columns), drow(rows),
            maxima(std::max(rows, columns), 0.1), inverse(std::max(rows, columns), 0.1, 1), delta(columns);
        for (Index m = agents; m < columns; ++m) {
          column.zero(m);
          for (Index r = 0; r < rows; ++r) dp.zero(r * columns + m);
        }
        Values logits2 = logits, dp2 = dp, drow2 = drow;
        k.aggregate_backward(rows, columns, logits.data(), dp.data(), maxima.data(), inverse.data(), delta.data(),
                             biased ? column.data() : nullptr, drow.data());
        plain::aggregate_backward<Tracked>(rows, columns, logits.exact(), dp.exact(), maxima.exact(), inverse.exact(),
                                           delta.exact(), biased ? column.exact() : nullptr, drow.exact());
        logits.expect("aggregation p");
        dp.expect("aggregation dlogits");
        drow.expect("aggregation drow");
        k.broadcast_backward(rows, agents, columns, logits2.data(), dp2.data(), maxima.data(), inverse.data(),
                             biased ? column.data() : nullptr, drow2.data());
        plain::broadcast_backward<Tracked>(rows, agents, columns, logits2.exact(), dp2.exact(), maxima.exact(),
                                           inverse.exact(), biased ? column.exact() : nullptr, drow2.exact());
        for (Index r = 0; r < rows; ++r) {
          for (Index m = 0; m < agents; ++m) {
            logits2.expect_at(r * columns + m, "broadcast p");
            dp2.expect_at(r * columns + m, "broadcast dlogits");
          }
        }
        drow2.expect("broadcast drow");
      }
    }
  }
}

TEST_P(TileKernels, Stencils) {
  for (const Index columns : {16, 48, 64, 80, 144}) {
    for (const Index count : {0, 1, 4, 9}) {
      Values out(columns), weights(count);
      std::vector<Values> sources, filters;
      for (Index e = 0; e < count; ++e) {
        sources.emplace_back(columns);
        filters.emplace_back(columns);
      }
      std::vector<const float*> s, f;
      std::vector<const Tracked*> es, ef;
      for (std::size_t e = 0; e < sources.size(); ++e) {
        s.push_back(sources[e].data());
        f.push_back(filters[e].data());
        es.push_back(sources[e].exact());
        ef.push_back(filters[e].exact());
      }
      k.stencil(count, s.data(), f.data(), weights.data(), columns, out.data());
      plain::stencil<Tracked>(count, es.data(), ef.data(), weights.exact(), columns, out.exact());
      out.expect("stencil");
    }
  }
}

// Runs of no, one and several entries, written out from a table.
TEST_P(TileKernels, StencilsFromATable) {
  constexpr Index kRows = 7, kTaps = 9, kValues = 11;
  for (const Index columns : {16, 32, 48, 64, 80, 144}) {
    const Index stride = columns + kPad;
    TapTable table(kTaps);
    for (Index r = 0; r < kRows + 1; ++r) {  // one point more before those requested
      std::vector<TapTable::Read> reads;
      for (Index t = 0; t < kTaps; ++t) {
        for (Index e = 0; e < (r + t) % 4; ++e) {
          const auto row = static_cast<std::int32_t>((3 * r + 5 * t + 7 * e) % kValues);
          reads.push_back({t, {row, 0.25f * static_cast<float>(1 + (r + e) % 5)}});
        }
      }
      table.add_point(reads);
    }
    Values values(kValues * stride), filter(kTaps * columns), out(kRows * stride), dout(kRows * stride),
        dfilter(kTaps * columns);
    const StencilRuns runs{.rows = kRows,
                           .taps = kTaps,
                           .first = table.first(1),
                           .entries = table.entries(),
                           .values = values.data(),
                           .stride = stride,
                           .columns = columns};
    k.stencil_runs(runs, filter.data(), out.data(), stride);
    plain::stencil_runs<Tracked>(runs, values.exact(), filter.exact(), out.exact(), stride);
    out.expect("stencil from a table");
    k.stencil_runs_backward(runs, dout.data(), stride, dfilter.data());
    plain::stencil_runs_backward<Tracked>(runs, values.exact(), dout.exact(), stride, dfilter.exact());
    dfilter.expect("filter gradient from a table");
  }
}

TEST_P(TileKernels, SumsAndSteps) {
  for (const Index count : {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 100}) {
    Values x(count), y(count), p(count), g(count), m(count), v(count);
    for (Index i = 0; i < count; ++i) v.set(i, std::abs(v.data()[i]));
    for (const bool difference : {false, true}) {  // summed in double: a rounding each of difference, square and sum
      const double sum = plain::square_sum<Tracked>(count, x.exact(), difference ? y.exact() : nullptr);
      EXPECT_NEAR(k.square_sum(count, x.data(), difference ? y.data() : nullptr), sum,
                  (static_cast<double>(count) + 3) * 0x1p-53 * sum);
    }
    k.add(count, 0.3f, x.data(), y.data());
    plain::add<Tracked>(count, 0.3f, x.exact(), y.exact());
    y.expect("add");
    const AdamwStep step{.keep = 0.999f,
                         .beta1 = 0.9f,
                         .rest1 = 0.1f,
                         .beta2 = 0.999f,
                         .rest2 = 0.001f,
                         .rate = 0.01f,
                         .root = 1.7f,
                         .epsilon = 1e-8f};
    k.adamw(count, step, p.data(), g.data(), m.data(), v.data());
    plain::adamw<Tracked>(count, step, p.exact(), g.exact(), m.exact(), v.exact());
    p.expect("parameters");
    m.expect("first moment");
    v.expect("second moment");
  }
  for (const Index rows : kRowCounts) {
    Values x(rows * 50), out(48);
    k.column_sums(rows, 48, x.data(), 50, out.data());
    plain::column_sums<Tracked>(rows, 48, x.exact(), 50, out.exact());
    out.expect("column sums");
  }
}

TEST(TileKernelsChoice, AsksForWhatTheProcessorHas) {
  EXPECT_EQ(available_simd().front(), Simd::plain);
  for (const Simd simd : available_simd()) EXPECT_EQ(kernels(simd).name, simd_name(simd));
  if (std::getenv("LANO_SIMD") == nullptr) {
    EXPECT_EQ(&kernels(), &kernels(available_simd().back()));
  }
}

}  // namespace
}  // namespace lano::kernels
