// The numeric arrays of a MATLAB file of version 5 to 7, read from any stream of bytes: names and shapes first, numbers
// on request. Every length is checked against the bytes that are there before it is used or given memory. Private to
// src/data.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "data/array_source.h"

namespace lano {

// What a file says of one of its variables.
struct Mat5Variable {
  std::string name;
  int kind = 0;  // MATLAB's class: 6 to 15 are full arrays of numbers
  bool complex = false;
  Shape shape;
  // The element that holds it, in the file; its numbers, in the bytes of that element (inflated where it is
  // compressed).
  std::uint64_t element_begin = 0, element_bytes = 0;
  std::uint64_t matrix_bytes = 0, data_begin = 0, data_bytes = 0;
  bool compressed = false;
  int stored = 0;  // the type of the numbers in the file, which may be smaller than the class

  bool is_real_array() const { return kind >= 6 && kind <= 15 && !complex; }
  std::string type_name() const;  // of its class, as NumPy names it, or what else it is
};

class Mat5File {
 public:
  // `file` may be positioned anywhere. Fails in one sentence where the structure is damaged anywhere in the file.
  Mat5File(std::unique_ptr<std::istream> file, std::uint64_t bytes, const std::string& doing);

  std::vector<std::string> names() const;
  std::vector<ArrayInfo> arrays() const;
  // The array `key` (empty: the only one). The file goes with it.
  static std::unique_ptr<ArraySource> open(Mat5File file, const std::string& key, const std::string& doing);

 private:
  std::unique_ptr<std::istream> file_;
  bool swapped_ = false;  // written on a big-endian machine
  std::vector<Mat5Variable> variables_;
};

}  // namespace lano
