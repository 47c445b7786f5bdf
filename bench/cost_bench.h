// Time and memory of an operator against the number of points: the paper's O(N M C) against O(N^2 C), measured. A cell
// (model, work, N) is measured in its own process; the slopes are fitted to the largest sizes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/engine_bench.h"

namespace lano::bench {

// Seconds: the longest call that is measured by default (softmax at 65,536 points on two cores: 9 s per forward pass
// and 27 s per step at 16,384, sixteen times that here), and the time in which short calls are repeated. A longer one
// is measured once: all cells together take less than a quarter of an hour.
inline constexpr double kLongestCall = 600, kRepeatTime = 3;

struct CostCase {
  std::string model = "lano";
  Work work = Work::forward;
  std::int64_t side = 32;  // of a square grid, N = side^2
  std::int64_t layers = 4, width = 64, heads = 4;
};

struct CostCell {
  std::string model;
  Work work = Work::forward;
  std::int64_t points = 0;
  double ms = 0;         // median of the calls that fit in the time, at least one
  double bytes = 0;      // rise of the resident high-water mark over the first call
  std::string left_out;  // why it was not measured; empty where it was
};

// In this process, which should be fresh: {"ms": .., "peak_bytes": .., "calls": ..}. A batch of one sample.
nlohmann::json measure_cost(const CostCase& c, int threads, double seconds);

// The next size from the cells before it, sorted by points: time of a call and bytes, by the growth between the last
// two, at least linear and for exact attention at least quadratic in time. Zero where nothing is known.
CostCell expected_cost(const std::vector<CostCell>& before, std::int64_t points, bool quadratic);

// Least-squares slope of log(values) over log(N) of the last `count` cells that were measured; NaN below two.
double fitted_slope(const std::vector<CostCell>& cells, double CostCell::*value, std::size_t count = 3);

}  // namespace lano::bench
