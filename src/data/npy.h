// NumPy's array files: .npy (NEP 1, versions 1 to 3) and .npz (a zip of them, stored or deflated). Values are converted
// to float32. Every length is checked before it is used; object arrays (pickles) are refused, nothing is executed.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/shape.h"
#include "data/array_source.h"

namespace lano {

struct NumpyArray {
  Shape shape;
  std::vector<float> values;  // row-major, whatever the order in the file
};

// One array from the bytes of a .npy file; `doing` opens error messages.
NumpyArray parse_npy(std::string_view bytes, std::string_view doing);

// The array of a .npy file, or the array `key` of a .npz file (the key may be empty where there is only one).
NumpyArray read_numpy(const std::filesystem::path& path, const std::string& key);

// All arrays of the bytes of a .npz file, by name in their order there; fails where they hold more than `most_values`
// numbers together, before memory is spent on them.
std::vector<std::pair<std::string, NumpyArray>> parse_npz(std::string_view bytes, const std::string& doing,
                                                          std::size_t most_values);

// A .npy file to be read in parts.
std::unique_ptr<ArraySource> open_npy(const std::filesystem::path& path);

// The arrays of a .npz or .npy file, by their headers alone.
std::vector<ArrayInfo> numpy_arrays(const std::filesystem::path& path);

// The keys of a .npz file; a single empty key for .npy.
std::vector<std::string> numpy_keys(const std::filesystem::path& path);

// Writes float32, version 1.0, C order, atomically.
void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values);

// The bytes of such a file.
std::string format_npy(const Shape& shape, std::span<const float> values);

// One array of a .npz file to be written: float32, or float64 where `doubles` are given.
struct NpzArray {
  std::string name;
  Shape shape;
  std::span<const float> values;
  std::span<const double> doubles{};
};

// Writes them stored, not deflated, atomically; the same arrays give the same bytes.
void write_npz(const std::filesystem::path& path, const std::vector<NpzArray>& arrays);
std::string format_npz(const std::vector<NpzArray>& arrays);  // the bytes of such a file

}  // namespace lano
