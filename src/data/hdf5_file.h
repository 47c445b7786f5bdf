// The few HDF5 operations the project needs, with owned handles and our errors. Private to src/data.
// HDF5's own thread safety is not assumed: callers serialise.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/shape.h"
#include "data/array_source.h"

namespace lano {

// An open identifier and the function that closes it.
class Hdf5Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(other.release()), closer_(other.closer_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
  ~Hdf5Handle() { close(); }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  herr_t close();  // negative on failure
  hid_t release();

 private:
  hid_t id_ = -1;
  Closer closer_ = nullptr;
};

// What HDF5 says of the last failure.
std::string hdf5_reason();
// The way to open objects of a file without being led into others: external links are not followed.
Hdf5Handle hdf5_inside_access();

class Hdf5Array;

class Hdf5File {
 public:
  static Hdf5File create(const std::filesystem::path& path);
  static Hdf5File open(const std::filesystem::path& path);  // read only
  static bool is_hdf5(const std::filesystem::path& path);

  bool has(const std::string& name) const;
  Shape shape(const std::string& name) const;       // of an array of numbers; fails for any other
  std::string type(const std::string& name) const;  // of its numbers, as NumPy names it
  std::vector<std::string> names() const;           // of all arrays, those in groups as GROUP/NAME
  std::vector<ArrayInfo> arrays() const;            // the same with shapes and types
  // The name of an array of numbers: `key`, or the only array where the key is empty. Fails if there is none, or where
  // its extents are more than its bytes in the file can hold.
  std::string numeric_array(const std::string& key, const std::string& doing) const;

  // A float32 (or uint8) array; chunk empty: contiguous.
  void make_floats(const std::string& name, const Shape& shape, const Shape& chunk);
  // The same in one piece of the file, whose numbers are whatever they are until somebody writes them at place(), bytes
  // from the beginning; -1 where there are none.
  void make_in_one_piece(const std::string& name, const Shape& shape);
  std::int64_t place(const std::string& name) const;
  void write_rows(const std::string& name, std::int64_t first, std::int64_t count, std::span<const float> values);
  void write_bytes(const std::string& name, std::span<const std::uint8_t> values);
  void write_doubles(const std::string& name, std::span<const double> values);
  void write_integers(const std::string& name, std::span<const std::int64_t> values);

  // Whole numbers of 32 bits in rows, for indices.
  void make_indices(const std::string& name, const Shape& shape);
  void write_index_rows(const std::string& name, std::int64_t first, std::int64_t count,
                        std::span<const std::int64_t> values);
  std::vector<std::int64_t> read_index_rows(const std::string& name, std::int64_t first, std::int64_t count) const;

  // `count` rows of the first axis, from `first`.
  void read_rows(const std::string& name, std::int64_t first, std::int64_t count, std::span<float> values) const;
  // The values in one range per axis, last axis fastest.
  void read_slab(const std::string& name, std::span<const AxisRange> ranges, std::span<float> values) const;
  std::vector<double> read_doubles(const std::string& name) const;
  std::vector<std::int64_t> read_integers(const std::string& name) const;

  void set_attribute(const std::string& name, const std::string& text);
  std::optional<std::string> attribute(const std::string& name) const;

  void close();  // flushes; fails where the disk is full

 private:
  Hdf5File(Hdf5Handle file, std::filesystem::path path) : path_(std::move(path)), file_(std::move(file)) {}
  static Hdf5File open_file(const std::filesystem::path& path, std::uint64_t bytes);
  static void rehearse_walk(const std::filesystem::path& path, std::uint64_t bytes, const std::string& key);
  Hdf5Handle dataset(const std::string& name) const;
  const Hdf5Array& array(const std::string& name) const;  // to be read; kept open
  template <class T>
  std::vector<T> read_vector(const std::string& name) const;
  void write_whole(const std::string& name, hid_t file_type, hid_t memory_type, std::size_t count, const void* values);
  [[noreturn]] void fail_reading(const std::string& expected, const std::string& found) const;
  [[noreturn]] void fail_writing(const std::string& what);

  std::filesystem::path path_;
  Hdf5Handle file_;
  std::uint64_t bytes_ = 0;                                                 // on disk, where it was opened to read
  mutable std::map<std::string, std::shared_ptr<const Hdf5Array>> arrays_;  // closed before the file
  mutable std::optional<std::vector<std::string>> names_;                   // of a file opened to read, once requested
};

}  // namespace lano
