// MATLAB's array files: v5 to v7 (compressed or not) by our own reader (data/mat5_file.h), v7.3 as HDF5. Arrays keep
// the shape MATLAB and SciPy give them and come back row-major, although MATLAB stores the first axis fastest.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/array_source.h"

namespace lano {

// The numeric array `key`, to be read whole or in part; the key may be empty where there is only one. v7.3 files are
// read by hyperslab; v5 files in blocks of at most a quarter gigabyte, each of which passes over the array from its
// start where it is compressed. Fails in one sentence where the file is truncated, of another kind, or has no such
// array.
std::unique_ptr<ArraySource> open_mat(const std::filesystem::path& path, const std::string& key);

// The names of all variables in the file; the same with shapes and types.
std::vector<std::string> mat_keys(const std::filesystem::path& path);
std::vector<ArrayInfo> mat_arrays(const std::filesystem::path& path);

}  // namespace lano
