// Numeric arrays in files of any kind the importers know (.npy, .npz, .mat, .h5, .pt), read whole or in part. Where the
// format allows it a part is read without the rest, so arrays larger than memory can be imported sample by sample.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "data/strided_copy.h"

namespace lano {

// Indices first, first + stride, ... of one axis, `count` of them.
struct AxisRange {
  std::int64_t first = 0, count = 0, stride = 1;
};

class ArraySource {
 public:
  virtual ~ArraySource() = default;

  const Shape& shape() const { return shape_; }
  // "reading 'FILE', array 'KEY'", for error messages.
  const std::string& doing() const { return doing_; }
  // The same for one index of the first axis, if those come from separate files.
  virtual std::string doing_row(std::int64_t) const { return doing_; }
  // The values in one range per axis, float32, row-major. Fails where a range leaves the array.
  std::vector<float> read(const std::vector<AxisRange>& ranges) const;
  std::vector<float> read_all() const { return read(whole()); }
  // Every index of every axis, to be narrowed by the caller.
  std::vector<AxisRange> whole() const;
  // The numbers' type in the file, as NumPy names it; they are read as float32 whatever it is.
  virtual std::string type() const { return "float32"; }
  // True where reading one sample costs as much as reading them all, so that the caller better asks for many at once.
  virtual bool costly_parts() const { return false; }

 protected:
  ArraySource(std::string doing, Shape shape) : doing_(std::move(doing)), shape_(std::move(shape)) {}
  virtual void read_into(const std::vector<AxisRange>& ranges, std::vector<float>& to) const = 0;

 private:
  std::string doing_;
  Shape shape_;
};

// An array whose elements lie one after the other in its file, row- or column-major: parts are read in contiguous
// blocks along its slowest axis.
class ContiguousSource : public ArraySource {
 protected:
  ContiguousSource(std::string doing, Shape shape, bool column_major, std::size_t element_size, StridedCopy copy,
                   std::size_t block_bytes)
      : ArraySource(std::move(doing), std::move(shape)),
        column_major_(column_major),
        element_size_(element_size),
        copy_(copy),
        block_bytes_(block_bytes) {}
  void read_into(const std::vector<AxisRange>& ranges, std::vector<float>& to) const final;
  // `count` elements from `first` in the order of the file, as they are stored.
  virtual void read_elements(std::int64_t first, std::int64_t count, char* to) const = 0;
  std::size_t element_size() const { return element_size_; }

 private:
  bool column_major_;
  std::size_t element_size_;
  StridedCopy copy_;
  std::size_t block_bytes_;
};

// A file and the name of an array in it; the key is empty for .npy and where a file holds one array only.
struct ArrayName {
  std::filesystem::path file;
  std::string key;
};

// Reads "a.npy", "a.npz:key", "a.mat:key", "a.h5:key", "a.pt:key"; nothing where the text names no such file.
std::optional<ArrayName> parse_array_name(std::string_view text);

// The array `key` of a file, by the file's extension: .npy, .npz, .mat, .h5, .hdf5, .pt, .pth.
std::unique_ptr<ArraySource> open_array(const std::filesystem::path& file, const std::string& key);

// Several arrays of one file, which is opened once.
std::vector<std::unique_ptr<ArraySource>> open_arrays(const std::filesystem::path& file,
                                                      const std::vector<std::string>& keys);

// Arrays of one shape, one sample each, as one array [samples, shape...].
std::unique_ptr<ArraySource> stack_arrays(std::vector<std::unique_ptr<ArraySource>> parts);

// What a file says of one of its arrays.
struct ArrayInfo {
  std::string name;  // empty in files of one nameless array
  Shape shape;
  std::string type;      // as NumPy names it, or what else it is
  bool readable = true;  // numbers the importers take
};

// Every array of a file of any kind, without reading their numbers; groups of HDF5 and dicts of PyTorch by '/'.
std::vector<ArrayInfo> list_arrays(const std::filesystem::path& file);

// Extensions of the files with arrays in them, .npy and the archives.
bool has_array_extension(const std::filesystem::path& file);

// The sentence for an array that is not there.
[[noreturn]] void fail_no_array(const std::string& doing, const std::string& key,
                                const std::vector<std::string>& names);

}  // namespace lano
