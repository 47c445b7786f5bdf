// Import of the public benchmark files exactly as their authors publish them: known names, keys, axes, channels and
// samples, so that the dataset is the one published errors refer to. docs/formats.md lists what is stored.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/shape.h"

namespace lano {

struct BenchmarkImport {
  std::string benchmark;                    // one of importable_benchmarks()
  std::vector<std::filesystem::path> from;  // a folder with the published files (also in subfolders), or the files
  std::optional<std::int64_t> train_count, test_count;  // default: as published
  std::optional<std::int64_t> stride;       // keep every stride-th point per axis; default 5 for darcy, else 1
  std::optional<std::int64_t> time_stride;  // pdebench: keep every time_stride-th time
  double validation_share = 0.1;
};

std::vector<std::string> importable_benchmarks();

// Reads what is chosen, block by block, and writes `out`. Returns the number of samples.
std::int64_t import_benchmark(const BenchmarkImport& options, const std::filesystem::path& out);

}  // namespace lano
