#include "kernels/tile_kernels.h"

#include <cstdlib>
#include <optional>

#include "core/error.h"
#include "kernels/plain_kernels.h"
#include "kernels/simd_kernels.h"

namespace lano::kernels {
namespace {

constexpr Simd kAll[] = {Simd::plain, Simd::sse4, Simd::avx2, Simd::avx512, Simd::neon};

void plain_gemm(const Gemm& g) {
  // Packed and strided rows are the same to this twin: one panel as wide as the matrix.
  plain::gemm<float>(g.rows, g.depth, g.columns, g.a, g.a_stride, g.transposed, g.b,
                     g.b_stride > 0 ? g.b_stride : g.columns, g.c, g.c_stride, g.plus, g.plus_stride, g.row, g.column,
                     g.scale);
}

void plain_pack(const Packing& p) {
  for (std::int64_t k = 0; k < p.depth; ++k) {
    for (std::int64_t j = p.first; j < p.last; ++j) {
      p.to[k * p.columns + j] = j < p.real ? p.factor * p.from[k * p.step + j * p.stride] : 0.0f;
    }
  }
}

Kernels plain_table() {
  return {.name = "plain",
          .gemm = plain_gemm,
          .pack = plain_pack,
          .norm_stats = plain::norm_stats<float>,
          .norm_apply = plain::norm_apply<float>,
          .norm_backward = plain::norm_backward<float>,
          .gelu = plain::gelu<float>,
          .gelu_backward = plain::gelu_backward<float>,
          .aggregate = plain::aggregate<float>,
          .broadcast = plain::broadcast<float>,
          .aggregate_backward = plain::aggregate_backward<float>,
          .broadcast_backward = plain::broadcast_backward<float>,
          .stencil = plain::stencil<float>,
          .stencil_runs = [](const StencilRuns& s, const float* filter, float* out,
                             std::int64_t stride) { plain::stencil_runs<float>(s, s.values, filter, out, stride); },
          .stencil_runs_backward =
              [](const StencilRuns& s, const float* dout, std::int64_t stride, float* dfilter) {
                plain::stencil_runs_backward<float>(s, s.values, dout, stride, dfilter);
              },
          .column_sums = plain::column_sums<float>,
          .add = plain::add<float>,
          .adamw = plain::adamw<float>,
          .square_sum = plain::square_sum<float>};
}

std::optional<Kernels> table_of(Simd simd) {
  if (simd == Simd::plain) return plain_table();
  Kernels found;
  if (simd_kernels(simd, found)) return found;
  return std::nullopt;
}

const Kernels& chosen() {
  const std::vector<Simd> available = available_simd();
  const char* const asked = std::getenv("LANO_SIMD");
  if (asked == nullptr || *asked == '\0') return kernels(available.back());
  std::string names;
  for (const Simd simd : available) {
    if (simd_name(simd) == asked) return kernels(simd);
    names += (names.empty() ? "" : ", ") + simd_name(simd);
  }
  fail_usage("choosing the instruction set by LANO_SIMD", names, asked);
}

}  // namespace

std::string simd_name(Simd simd) {
  switch (simd) {
    case Simd::sse4:
      return "sse4";
    case Simd::avx2:
      return "avx2";
    case Simd::avx512:
      return "avx512";
    case Simd::neon:
      return "neon";
    default:
      return "plain";
  }
}

std::vector<Simd> available_simd() {
  std::vector<Simd> found;
  for (const Simd simd : kAll) {
    if (table_of(simd)) found.push_back(simd);
  }
  return found;
}

const Kernels& kernels(Simd simd) {
  static const std::vector<std::optional<Kernels>> tables = [] {
    std::vector<std::optional<Kernels>> all;
    for (const Simd one : kAll) all.push_back(table_of(one));
    return all;
  }();
  const auto& table = tables[static_cast<std::size_t>(simd)];
  if (!table) fail("choosing an instruction set", "one that this processor has", simd_name(simd));
  return *table;
}

const Kernels& kernels() {
  static const Kernels& table = chosen();
  return table;
}

}  // namespace lano::kernels
