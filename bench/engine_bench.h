// Measures the two engines against each other and against sgemm, in one process, alternating; memory in separate
// processes. Definitions of GFLOP/s, roofline and peak bytes: docs/kernels.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lano::bench {

enum class Work { step, forward };

struct BenchCase {
  std::string name = "darcy";
  std::int64_t batch = 0;  // 0: the case's own (forward: 1)
  std::int64_t grid = 0;   // points per side of a square grid that replaces the case's mesh
};

std::vector<std::string> case_names();

// Time of both engines, their difference, sgemm. Fields: case, work, batch, points, threads, composite_ms,
// composite_threads, fused_ms, speedup, gflops, sgemm_gflops, roofline, max_rel_diff, rounds, simd; of steps adamw_ms,
// muon_ms and muon_share, what the optimisers take.
nlohmann::json measure_speed(Work work, const BenchCase& bench_case, int threads, bool with_composite, double seconds);

// Rise of the resident high-water mark over one call in this process, in bytes: to be asked of a fresh one.
std::int64_t peak_of_this_process(Work work, const BenchCase& bench_case, int threads, bool fused);

// sgemm at 1024^3 by the BLAS of LibTorch, GFLOP/s; median of `rounds`.
double sgemm_rate(int threads, int rounds);

// Single kernels on one thread: [{name, gflops or ns_per_value, ...}].
nlohmann::json measure_kernels();

}  // namespace lano::bench
