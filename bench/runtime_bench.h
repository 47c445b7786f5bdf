// The runtime compared with other engines on the paper's Darcy model (85x85, L = 8, H = 8, C = 128, M = 128): LibTorch
// op by op in the same process, and onnxruntime on the exported model in another, all with physical inputs and outputs.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace lano::bench {

struct RuntimeCase {
  int threads = 2;
  double seconds = 40;
  std::filesystem::path onnxruntime;  // folder of onnxruntime-node; empty: not measured
  std::filesystem::path lano;         // the program whose start is measured
};

// Checks that all give the same prediction, then times them in alternating blocks. Fields, milliseconds as medians:
// runtime_ms, composite_ms (the best of one thread and all: composite_threads), onnxruntime_ms (null where absent),
// load_ms (the model file into an operator), start_ms (the program `lano predict` on one sample from its start to its
// first prediction: its whole life less files_ms, reading the input and writing the output, synced), max_rel_diff
// (largest difference between any two, of the largest value), composite_ratio, onnxruntime_ratio, gflops, threads,
// points, parameters, rounds, simd, onnxruntime_version.
nlohmann::json measure_runtime(const RuntimeCase& c);

}  // namespace lano::bench
