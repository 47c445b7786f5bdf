// One array of numbers in an HDF5 file that may be untrusted: what the file says about it is checked once, on opening,
// against the bytes that are there; then parts of it are read. HDF5 finds the bytes; compressed blocks are inflated
// here, because HDF5 1.10 reads past the end of a block that inflates to less than it should. Private to src/data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/hdf5_file.h"

namespace lano {

class Hdf5Array {
 public:
  // doing: opens error messages. file_bytes: the size of the file on disk.
  Hdf5Array(hid_t file, const std::string& name, std::uint64_t file_bytes, std::string doing);

  const Shape& shape() const { return shape_; }
  std::string type_name() const;  // as NumPy names it
  // The values in one range per axis, last axis fastest, as numbers of the memory type.
  void read(std::span<const AxisRange> ranges, std::span<float> to) const {
    read(ranges, H5T_NATIVE_FLOAT, sizeof(float), to.size(), to.data());
  }
  void read(std::span<const AxisRange> ranges, std::span<double> to) const {
    read(ranges, H5T_NATIVE_DOUBLE, sizeof(double), to.size(), to.data());
  }
  void read(std::span<const AxisRange> ranges, std::span<std::int64_t> to) const {
    read(ranges, H5T_NATIVE_INT64, sizeof(std::int64_t), to.size(), to.data());
  }

 private:
  void check_type();
  void check_shape();
  void check_storage(std::uint64_t file_bytes);
  void read(std::span<const AxisRange> ranges, hid_t memory_type, std::size_t memory_size, std::size_t count,
            void* to) const;
  void read_blocks(std::span<const AxisRange> ranges, hid_t memory_type, std::size_t memory_size, char* to) const;
  // The values of the block that begins at `start`, in the memory type.
  void load_block(const std::vector<hsize_t>& start, hid_t memory_type, std::size_t memory_size,
                  std::vector<char>& block) const;
  [[noreturn]] void fail_damaged(const std::string& found) const;

  std::string doing_;
  Hdf5Handle set_, type_, properties_;
  Shape shape_;
  std::size_t type_size_ = 0;
  std::uint64_t file_bytes_ = 0;
  std::vector<hsize_t> block_shape_;   // of a chunked array, else empty
  std::vector<H5Z_filter_t> filters_;  // in the order of writing
};

}  // namespace lano
