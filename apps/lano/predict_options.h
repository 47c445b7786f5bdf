// The options of `lano predict`, as given on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lano::cli {

struct PredictOptions {
  std::string model, data, cells, times, out, split = "all";
  std::vector<std::string> input, state, coords;  // one array each, or one per channel
  std::vector<std::int64_t> samples;
  bool force = false;
  int threads = 0;
  std::string engine = "fused", device = "cpu";
  std::int64_t agents = 0;
  int mesh_ranks = 0;  // 0: chosen by the size of the samples
  std::optional<std::int64_t> steps;
};

}  // namespace lano::cli
