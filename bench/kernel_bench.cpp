// Single tile kernels on one thread, at the sizes of the paper's model: C = 128, D = 16, M = 128, tiles of 96 points.
#include <torch/torch.h>

#include <chrono>

#include "bench/engine_bench.h"
#include "core/threads.h"
#include "kernels/buffer.h"
#include "kernels/partition.h"
#include "kernels/tile_kernels.h"

namespace lano::bench {
namespace {

using kernels::Buffer;
using kernels::Kernels;
using Clock = std::chrono::steady_clock;

// Nanoseconds of a call: the median of nine batches long enough to time.
template <class F>
double nanoseconds(F&& f) {
  std::int64_t repeats = 1;
  const auto batch = [&] {
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < repeats; ++i) f();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  while (batch() < 2e6) repeats *= 2;
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) times.push_back(batch() / static_cast<double>(repeats));
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

struct Memory {
  Buffer a{1 << 20}, b{1 << 20}, c{1 << 20};
  Memory() { fill(); }
  void fill() {
    for (Buffer* buffer : {&a, &b, &c}) {
      for (std::int64_t i = 0; i < buffer->size(); ++i)
        buffer->data()[i] = 1e-3f * static_cast<float>((i * 7919) % 1009 - 504);
    }
  }
};

}  // namespace

nlohmann::json measure_kernels() {
  set_thread_count(1);
  const torch::NoGradGuard no_grad;
  Memory memory;
  const Memory kept;
  float* const a = memory.a.data();
  float* const b = memory.b.data();
  float* const c = memory.c.data();
  const std::int64_t rows = kernels::kTile;
  nlohmann::json results = nlohmann::json::array();
  struct Product {
    const char* name;
    std::int64_t rows, depth, columns;
    bool transposed;
  };
  const std::vector<Product> products{
      {"linear 128 -> 128", rows, 128, 128, false}, {"linear 128 -> 256", rows, 128, 256, false},
      {"linear 256 -> 128", rows, 256, 128, false}, {"logits Q A^T", 48, 16, 128, false},
      {"broadcast P Y", 48, 128, 16, false},        {"gather P^T V", 16, 48, 128, true},
      {"weights 256 x 128", 256, rows, 128, true}};
  for (const Product& p : products) {
    const double flop = 2.0 * static_cast<double>(p.rows * p.depth * p.columns);
    nlohmann::json entry{{"kernel", p.name}};
    // For comparison: the same product by BLAS.
    const torch::Tensor left =
        p.transposed ? torch::from_blob(a, {p.depth, p.rows}).t() : torch::from_blob(a, {p.rows, p.depth});
    const torch::Tensor right = torch::from_blob(b, {p.depth, p.columns});
    torch::Tensor product = torch::from_blob(c, {p.rows, p.columns});
    entry["blas"] = flop / nanoseconds([&] { torch::mm_out(product, left, right); });
    for (const kernels::Simd simd : kernels::available_simd()) {
      const Kernels& k = kernels::kernels(simd);
      kernels::Gemm g{.rows = p.rows,
                      .depth = p.depth,
                      .columns = p.columns,
                      .a = a,
                      .a_stride = p.transposed ? p.rows + 16 : p.depth + 16,
                      .transposed = p.transposed,
                      .b = b,
                      .b_stride = p.transposed ? p.columns : 0,
                      .c = c,
                      .c_stride = p.columns + 16};
      entry[std::string(k.name)] = flop / nanoseconds([&] { k.gemm(g); });
    }
    entry["unit"] = "GFLOP/s";
    results.push_back(entry);
  }
  struct Loop {
    const char* name;
    std::int64_t values;
    std::function<void(const Kernels&)> run;
  };
  std::vector<float> stats(2 * static_cast<std::size_t>(rows)), maxima(4096), sums(4096, 1.0f), inverse(4096, 1.0f);
  const std::vector<Loop> loops{
      {"GELU", rows * 256, [&](const Kernels& k) { k.gelu(rows, 256, a, 256, c, 256); }},
      {"GELU backward", rows * 256, [&](const Kernels& k) { k.gelu_backward(rows, 256, a, 256, c, 256, b, 256); }},
      {"softmax over points", 48 * 128,
       [&](const Kernels& k) { k.aggregate(48, 128, c, maxima.data(), sums.data(), 16, b); }},
      {"softmax over agents", 48 * 128,
       [&](const Kernels& k) { k.broadcast(48, 128, 128, c, maxima.data(), inverse.data()); }},
      {"softmax over agents, backward", 48 * 128,
       [&](const Kernels& k) {
         k.broadcast_backward(48, 128, 128, a, c, maxima.data(), inverse.data(), b, sums.data());
       }},
      {"LayerNorm", rows * 128, [&](const Kernels& k) {
         k.norm_stats(rows, 128, a, 128, stats.data());
         k.norm_apply(rows, 128, a, 128, stats.data(), b, b, c, 144);
       }}};
  for (const Loop& loop : loops) {
    nlohmann::json entry{{"kernel", loop.name}};
    for (const kernels::Simd simd : kernels::available_simd()) {
      const Kernels& k = kernels::kernels(simd);
      // In-place kernels would run their own results into the ground: fresh values each time, and the time for them
      // taken off.
      const auto refresh = [&] {
        std::copy_n(kept.a.data(), loop.values, a);
        std::copy_n(kept.b.data(), loop.values, b);
        std::copy_n(kept.c.data(), loop.values, c);
      };
      const double copying = nanoseconds(refresh);
      const double both = nanoseconds([&] {
        refresh();
        loop.run(k);
      });
      entry[std::string(k.name)] = (both - copying) / static_cast<double>(loop.values);
    }
    entry["unit"] = "ns/value";
    results.push_back(entry);
  }
  return results;
}

}  // namespace lano::bench
