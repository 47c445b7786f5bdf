// Every tile kernel of every instruction set this machine has, against its plain twin in double: sizes below, at and
// above the vector length, odd, zero, and memory off every alignment. Bounds are a few float roundings of the largest
// term.
#include "kernels/tile_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "kernels/plain_kernels.h"
#include "scratch.h"

namespace lano::kernels {
namespace {

using Index = std::int64_t;

// Floats at an odd address, in an allocation of their exact size, so that asan sees a step too far; and the same in
// double.
class Values {
 public:
  explicit Values(Index size, double scale = 1, double shift = 0) : memory_(static_cast<std::size_t>(size) + 1) {
    static std::uint64_t next = 0;
    RandomStream stream(7, Purpose::shuffle, next++);
    for (float& value : memory_) value = static_cast<float>(scale * stream.normal() + shift);
    exact_.assign(memory_.begin() + 1, memory_.end());
  }
  float* data() { return memory_.data() + 1; }
  double* exact() { return exact_.data(); }
  Index size() const { return static_cast<Index>(exact_.size()); }
  void zero(Index at) {
    memory_[static_cast<std::size_t>(at) + 1] = 0;
    exact_[static_cast<std::size_t>(at)] = 0;
  }
  void set(Index at, float value) {
    memory_[static_cast<std::size_t>(at) + 1] = value;
    exact_[static_cast<std::size_t>(at)] = value;
  }
  void expect(double tolerance, const char* what) const {
    for (std::size_t i = 0; i < exact_.size(); ++i) {
      ASSERT_NEAR(memory_[i + 1], exact_[i], tolerance * (1 + std::abs(exact_[i]))) << what << " at " << i;
    }
  }

 private:
  std::vector<float> memory_;
  std::vector<double> exact_;
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
          Gemm g{rows,     depth,       columns,     a.data(),    a_stride,   transposed,    b.data(),    columns + 5,
                 c.data(), columns + 2, plus.data(), columns + 1, row.data(), column.data(), scale.data()};
          k.gemm(g);
          const auto truth = [&](const double* p, const double* r, const double* j, const double* s) {
            plain::gemm<double>(rows, depth, columns, a.exact(), a_stride, transposed, b.exact(), columns + 5,
                                c.exact(), columns + 2, p, columns + 1, r, j, s);
          };
          truth(plus.exact(), row.exact(), column.exact(), scale.exact());
          c.expect(3e-6, "all terms");
          // Packed b, nothing added; columns at and beyond `real` are zero.
          const Index real = columns - 3;
          k.pack({depth, columns, real, 0, columns, b.data(), columns + 5, 1, 1.0f, packed.data()});
          for (Index i = 0; i < depth; ++i) {
            for (Index j = real; j < columns; ++j) b.zero(i * (columns + 5) + j);
          }
          k.gemm({rows, depth, columns, a.data(), a_stride, transposed, packed.data(), 0, c.data(), columns + 2,
                  nullptr, 0, nullptr, nullptr, nullptr});
          truth(nullptr, nullptr, nullptr, nullptr);
          c.expect(3e-6, "packed");
        }
      }
    }
  }
}

TEST_P(TileKernels, PackingInPieces) {
  const Index depth = 5, columns = 144;
  Values from(depth * columns), whole(depth * columns), pieces(depth * columns);
  k.pack({depth, columns, 140, 0, columns, from.data(), 1, depth, 0.5f, whole.data()});
  for (Index first = 0; first < columns; first += kPad)
    k.pack({depth, columns, 140, first, first + kPad, from.data(), 1, depth, 0.5f, pieces.data()});
  EXPECT_TRUE(std::equal(whole.data(), whole.data() + whole.size(), pieces.data()));
  // What is packed is half of `from` transposed, its columns from the 140th on zero.
  const Index rows = 7;
  Values a(rows * depth), b(depth * columns), c(rows * columns);
  for (Index i = 0; i < depth; ++i) {
    for (Index j = 0; j < columns; ++j) b.set(i * columns + j, j < 140 ? 0.5f * from.data()[i + j * depth] : 0.0f);
  }
  k.gemm({rows, depth, columns, a.data(), depth, false, pieces.data(), 0, c.data(), columns, nullptr, 0, nullptr,
          nullptr, nullptr});
  plain::gemm<double>(rows, depth, columns, a.exact(), depth, false, b.exact(), columns, c.exact(), columns, nullptr,
                      columns, nullptr, nullptr, nullptr);
  c.expect(3e-6, "product with what was packed in pieces");
}

TEST_P(TileKernels, Norms) {
  for (const Index rows : kRowCounts) {
    for (const Index width : {1, 3, 8, 15, 16, 17, 30, 48, 100}) {
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
      if (width == 1) continue;  // the variance is zero: 1/sqrt(1e-5) magnifies every rounding
      k.norm_stats(rows, width, x.data(), stride, stats.data());
      plain::norm_stats<double>(rows, width, x.exact(), stride, stats.exact());
      stats.expect(2e-6, "stats");
      for (Index i = 0; i < 2 * rows; ++i) stats.set(i, stats.data()[i]);
      k.norm_apply(rows, columns, x.data(), stride, stats.data(), gain.data(), shift.data(), y.data(), stride);
      plain::norm_apply<double>(rows, columns, x.exact(), stride, stats.exact(), gain.exact(), shift.exact(), y.exact(),
                                stride);
      y.expect(2e-6, "apply");
      k.norm_backward(rows, width, columns, x.data(), stride, stats.data(), gain.data(), dy.data(), stride, dx.data(),
                      stride, dgain.data(), dshift.data());
      plain::norm_backward<double>(rows, width, columns, x.exact(), stride, stats.exact(), gain.exact(), dy.exact(),
                                   stride, dx.exact(), stride, dgain.exact(), dshift.exact());
      dx.expect(8e-6, "dx");
      dgain.expect(5e-6, "dgain");
      dshift.expect(5e-6, "dshift");
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
    plain::gelu<double>(rows, columns, x.exact(), columns, y.exact(), columns);
    y.expect(2e-7, "gelu");
    k.gelu_backward(rows, columns, x.data(), columns, y2.data(), columns, d.data(), columns);
    plain::gelu_backward<double>(rows, columns, x.exact(), columns, y2.exact(), columns, d.exact(), columns);
    y2.expect(2e-7, "gelu beside its derivative");
    d.expect(8e-7, "derivative");
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
        plain::aggregate<double>(rows, columns, logits.exact(), maxima.exact(), sums.exact(), depth, y.exact());
        if (rows == 0) continue;
        logits.expect(scale > 100 ? 2e-3 : 1e-6, "shares");  // a rounding of a logit of 1e4 is 1e-3
        sums.expect(scale > 100 ? 2e-3 : 2e-6, "sums");
        for (Index i = 0; i < depth * columns; ++i) y.set(i, y.data()[i] + 0.5f);  // as if something had been gathered
      }
      y.expect(scale > 100 ? 5e-3 : 5e-6, "gathered");
      for (Index i = 0; i < columns; ++i) EXPECT_EQ(maxima.data()[i], maxima.exact()[i]);
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
        plain::broadcast<double>(rows, agents, columns, logits.exact(), maxima.exact(), inverse.exact());
        inverse.expect(1e-6, "inverse sums");
        for (Index r = 0; r < rows; ++r) {
          EXPECT_EQ(maxima.data()[r], maxima.exact()[r]);
          for (Index m = 0; m < agents; ++m)
            ASSERT_NEAR(logits.data()[r * columns + m], logits.exact()[r * columns + m], scale > 100 ? 2e-3 : 1e-6);
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
        plain::aggregate_backward<double>(rows, columns, logits.exact(), dp.exact(), maxima.exact(), inverse.exact(),
                                          delta.exact(), biased ? column.exact() : nullptr, drow.exact());
        logits.expect(1e-6, "aggregation p");
        dp.expect(2e-6, "aggregation dlogits");
        drow.expect(5e-6, "aggregation drow");
        k.broadcast_backward(rows, agents, columns, logits2.data(), dp2.data(), maxima.data(), inverse.data(),
                             biased ? column.data() : nullptr, drow2.data());
        plain::broadcast_backward<double>(rows, agents, columns, logits2.exact(), dp2.exact(), maxima.exact(),
                                          inverse.exact(), biased ? column.exact() : nullptr, drow2.exact());
        for (Index r = 0; r < rows; ++r) {
          for (Index m = 0; m < agents; ++m) {
            const auto near = [&](Values& v, double tolerance) {
              const double truth = v.exact()[r * columns + m];
              EXPECT_NEAR(v.data()[r * columns + m], truth, tolerance * (1 + std::abs(truth)));
            };
            near(logits2, 1e-6);
            near(dp2, 2e-6);
          }
        }
        drow2.expect(5e-6, "broadcast drow");
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
      std::vector<const double*> es, ef;
      for (std::size_t e = 0; e < sources.size(); ++e) {
        s.push_back(sources[e].data());
        f.push_back(filters[e].data());
        es.push_back(sources[e].exact());
        ef.push_back(filters[e].exact());
      }
      k.stencil(count, s.data(), f.data(), weights.data(), columns, out.data());
      plain::stencil<double>(count, es.data(), ef.data(), weights.exact(), columns, out.exact());
      out.expect(3e-6, "stencil");
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
    const StencilRuns runs{kRows, kTaps, table.first(1), table.entries(), values.data(), stride, columns};
    k.stencil_runs(runs, filter.data(), out.data(), stride);
    plain::stencil_runs<double>(runs, values.exact(), filter.exact(), out.exact(), stride);
    out.expect(1e-5, "stencil from a table");
    k.stencil_runs_backward(runs, dout.data(), stride, dfilter.data());
    plain::stencil_runs_backward<double>(runs, values.exact(), dout.exact(), stride, dfilter.exact());
    dfilter.expect(1e-5, "filter gradient from a table");
  }
}

TEST_P(TileKernels, SumsAndSteps) {
  for (const Index count : {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 100}) {
    Values x(count), y(count), p(count), g(count), m(count), v(count);
    for (Index i = 0; i < count; ++i) v.set(i, std::abs(v.data()[i]));
    EXPECT_NEAR(k.square_sum(count, x.data(), nullptr), plain::square_sum<double>(count, x.exact(), nullptr),
                1e-12 * (1 + static_cast<double>(count)));
    EXPECT_NEAR(k.square_sum(count, x.data(), y.data()), plain::square_sum<double>(count, x.exact(), y.exact()),
                1e-12 * (1 + static_cast<double>(count)));
    k.add(count, 0.3f, x.data(), y.data());
    plain::add<double>(count, 0.3f, x.exact(), y.exact());
    y.expect(2e-7, "add");
    const AdamwStep step{0.999f, 0.9f, 0.1f, 0.999f, 0.001f, 0.01f, 1.7f, 1e-8f};
    k.adamw(count, step, p.data(), g.data(), m.data(), v.data());
    plain::adamw<double>(count, step, p.exact(), g.exact(), m.exact(), v.exact());
    p.expect(5e-7, "parameters");
    m.expect(3e-7, "first moment");
    v.expect(3e-7, "second moment");
  }
  for (const Index rows : kRowCounts) {
    Values x(rows * 50), out(48);
    k.column_sums(rows, 48, x.data(), 50, out.data());
    plain::column_sums<double>(rows, 48, x.exact(), 50, out.exact());
    out.expect(3e-6, "column sums");
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
