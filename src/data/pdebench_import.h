// Import of PDEBench's HDF5 files: steady datasets with `nu` [S, n...] and `tensor` [S, 1, n...], time-dependent ones
// with `tensor` [S, T, n...] and t-coordinate; the axes of the grid in x-coordinate, y-coordinate, z-coordinate.
#pragma once

#include "data/benchmark_import.h"

namespace lano {

// Default: the last tenth of the samples for testing, the others for training. Called by import_benchmark.
std::int64_t import_pdebench(const BenchmarkImport& options, const std::filesystem::path& out);

}  // namespace lano
