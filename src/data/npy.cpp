// A .npy file is the magic "\x93NUMPY", a version, the length of a Python dict literal, the literal with the keys
// descr, fortran_order and shape, and the raw array. The literal is read by looking for those three keys, no more.
#include "data/npy.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <memory>

#include "core/atomic_file.h"
#include "core/error.h"
#include "data/zip_archive.h"

namespace lano {
namespace {

static_assert(std::endian::native == std::endian::little, "the readers assume a little-endian machine");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kLongestHeader = 1 << 17;  // version 1 has at most 64 KiB; no plain array needs more
constexpr std::size_t kMostAxes = 32;            // as NumPy 1 itself

struct Header {
  std::string descr;
  bool fortran = false;
  Shape shape;
  std::size_t data_offset = 0;
};

// The text after "'key':" in the dict literal, with leading blanks removed.
std::string_view value_after(std::string_view dict, std::string_view key, std::string_view doing) {
  const auto at = dict.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos)
    fail_plainly(doing, fmt::format("the NumPy header has no '{}'", key), "copy the file again");
  dict.remove_prefix(at + key.size() + 3);
  while (!dict.empty() && dict.front() == ' ') dict.remove_prefix(1);
  return dict;
}

Shape parse_shape(std::string_view text, std::string_view doing) {
  const auto close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos) {
    fail(doing, "a shape such as (2, 3) in the NumPy header", fmt::format("'{}'", text.substr(0, 20)), "");
  }
  Shape shape;
  text = text.substr(1, close - 1);
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) break;
    if (shape.size() == kMostAxes) fail_plainly(doing, fmt::format("the NumPy shape has more than {} axes", kMostAxes));
    std::int64_t extent = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (result.ec != std::errc() || extent < 0) fail(doing, "whole numbers in the NumPy shape", std::string(text), "");
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  }
  return shape;
}

Header parse_header(std::string_view bytes, std::string_view doing) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != kMagic) {
    fail_plainly(doing, "it is not a NumPy .npy file, or not the whole of one", "save it with numpy.save");
  }
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const bool wide = byte(6) >= 2;  // version 2 and 3 have a four-byte length
  if (byte(6) < 1 || byte(6) > 3 || (wide && bytes.size() < 12))
    fail(doing, ".npy version 1, 2 or 3", std::to_string(byte(6)), "save it with numpy.save");
  const std::size_t start = wide ? 12 : 10;
  const std::size_t length = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : std::size_t{0});
  if (length > kLongestHeader)
    fail(doing, fmt::format("a NumPy header of at most {} bytes", kLongestHeader), std::to_string(length));
  if (length > bytes.size() - start) fail(doing, "a whole NumPy header", "a truncated file", "copy the file again");
  std::string_view dict = bytes.substr(start, length);
  while (!dict.empty() && (dict.back() == ' ' || dict.back() == '\n')) dict.remove_suffix(1);
  if (!dict.starts_with('{') || !dict.ends_with('}'))
    fail_plainly(doing, "its NumPy header is not a dict in braces", "copy the file again");
  Header header;
  const std::string_view descr = value_after(dict, "descr", doing);
  const auto quote = descr.size() > 1 && descr.front() == '\'' ? descr.find('\'', 1) : std::string_view::npos;
  if (quote == std::string_view::npos)
    fail_plainly(doing, "its elements are not of one plain number type", "save each field as a separate array");
  header.descr = std::string(descr.substr(1, quote - 1));
  const std::string_view order = value_after(dict, "fortran_order", doing);
  header.fortran = order.starts_with("True");
  if (!header.fortran && !order.starts_with("False"))
    fail(doing, "True or False for 'fortran_order'", fmt::format("'{}'", order.substr(0, 20)), "");
  header.shape = parse_shape(value_after(dict, "shape", doing), doing);
  header.data_offset = start + length;
  return header;
}

// Product of the extents, or a failure where it overflows, also where one of the others is 0: strides are made of them.
std::size_t checked_count(const Shape& shape, std::string_view doing) {
  std::size_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    const auto e = static_cast<std::size_t>(std::max<std::int64_t>(1, extent));
    if (count > std::numeric_limits<std::size_t>::max() / 32 / e)
      fail(doing, "a shape that fits in memory", shape_text(shape), "");
    count *= e;
    empty = empty || extent == 0;
  }
  return empty ? 0 : count;
}

struct Type {
  std::string_view descr;
  std::size_t size;
  StridedCopy copy;
  const char* name;
};

constexpr Type kTypes[] = {
    {"<f4", 4, strided_copy<float>, "float32"},        {"<f8", 8, strided_copy<double>, "float64"},
    {"<i2", 2, strided_copy<std::int16_t>, "int16"},   {"<i4", 4, strided_copy<std::int32_t>, "int32"},
    {"<i8", 8, strided_copy<std::int64_t>, "int64"},   {"<u2", 2, strided_copy<std::uint16_t>, "uint16"},
    {"<u4", 4, strided_copy<std::uint32_t>, "uint32"}, {"<u8", 8, strided_copy<std::uint64_t>, "uint64"},
    {"|u1", 1, strided_copy<std::uint8_t>, "uint8"},   {"|i1", 1, strided_copy<std::int8_t>, "int8"},
    {"|b1", 1, strided_copy<std::uint8_t>, "bool"},
};

const Type& type_of(const Header& header, std::string_view doing) {
  for (const Type& type : kTypes) {
    if (type.descr == header.descr) return type;
  }
  fail(doing, "little-endian real numbers (float32, float64, integers)", fmt::format("NumPy type '{}'", header.descr),
       "convert it with numpy.asarray(x, dtype='float32')");
}

// The type of a header's numbers, with the bytes after the header checked against its shape.
const Type& checked_type(const Header& header, std::size_t data_bytes, std::string_view doing) {
  const Type& type = type_of(header, doing);
  const std::size_t count = checked_count(header.shape, doing);
  if (data_bytes != count * type.size) {
    fail(doing, fmt::format("{} bytes of data for shape {}", count * type.size, shape_text(header.shape)),
         fmt::format("{}", data_bytes), "copy the file again");
  }
  return type;
}

class NpySource final : public ContiguousSource {
 public:
  NpySource(std::string doing, const Header& header, const Type& type, std::ifstream file)
      : ContiguousSource(std::move(doing), header.shape, header.fortran, type.size, type.copy, kBlockBytes),
        data_offset_(header.data_offset),
        type_(type.name),
        file_(std::move(file)) {}

  std::string type() const override { return type_; }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 24;

  void read_elements(std::int64_t first, std::int64_t count, char* to) const override {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(data_offset_ + static_cast<std::size_t>(first) * element_size()));
    file_.read(to, static_cast<std::streamsize>(static_cast<std::size_t>(count) * element_size()));
    if (!file_) fail(doing(), "readable values", "a read error", "copy the file again");
  }

  std::size_t data_offset_;
  const char* type_;
  mutable std::ifstream file_;
};

ZipArchive open_zip(const std::filesystem::path& path, const std::string& doing) {
  int error = 0;
  ZipArchive archive(zip_open(path.c_str(), ZIP_RDONLY, &error));
  if (!archive) {
    file_bytes(path, doing);
    fail_plainly(doing, "it is not a NumPy .npz file (a zip archive), or not the whole of one",
                 "save it with numpy.savez");
  }
  return archive;
}

// The bytes of one .npy file in an archive. The sizes a zip states are not trusted with memory: the array's own header
// is read first and says how many bytes may follow, and memory grows with the bytes that do.
std::string read_entry(zip_t* archive, zip_uint64_t index, const std::string& doing,
                       std::size_t most_values = std::numeric_limits<std::size_t>::max() / 32) {
  const ZipEntry file(zip_fopen_index(archive, index, 0));
  if (!file) fail(doing, "a readable zip entry", "a damaged or encrypted one", "save it with numpy.savez");
  std::string bytes, block(1 << 20, '\0');
  std::size_t expected = 0;
  zip_int64_t got = 0;
  do {
    got = zip_fread(file.get(), block.data(), block.size());
    if (got < 0) fail(doing, "a whole zip entry", "a damaged one", "copy the file again");
    bytes.append(block, 0, static_cast<std::size_t>(got));
    if (expected == 0 && (got == 0 || bytes.size() >= kLongestHeader + 12)) {
      const Header header = parse_header(bytes, doing);
      const std::size_t count = checked_count(header.shape, doing);
      if (count > most_values) fail(doing, fmt::format("at most {} numbers", most_values), std::to_string(count));
      expected = header.data_offset + count * type_of(header, doing).size;
    }
    if (expected != 0 && bytes.size() > expected)
      fail_plainly(doing, fmt::format("the array is longer than the {} bytes of its shape", expected),
                   "copy the file again");
  } while (got > 0);
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || stat.size != bytes.size()) {
    fail(doing, "a whole zip entry", "a damaged one", "copy the file again");
  }
  return bytes;
}

std::string entry_key(const char* name) {
  std::string key = name != nullptr ? name : "";
  if (key.ends_with(".npy")) key.resize(key.size() - 4);
  return key;
}

bool is_npz(const std::filesystem::path& path) { return path.extension() == ".npz"; }

}  // namespace

NumpyArray parse_npy(std::string_view bytes, std::string_view doing) {
  const Header header = parse_header(bytes, doing);
  const std::string_view raw = bytes.substr(header.data_offset);
  const Type& type = checked_type(header, raw.size(), doing);
  NumpyArray array{header.shape, std::vector<float>(raw.size() / type.size)};
  if (array.values.empty()) return array;
  const Shape strides = header.fortran ? column_major_strides(header.shape) : row_major_strides(header.shape);
  type.copy(raw.data(), strides, array.values.data(), row_major_strides(header.shape), header.shape);
  return array;
}

std::vector<std::pair<std::string, NumpyArray>> parse_npz(std::string_view bytes, const std::string& doing,
                                                          std::size_t most_values) {
  constexpr zip_int64_t kMostEntries = 64;
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  ZipArchive archive(source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error));
  if (!archive && source != nullptr) zip_source_free(source);
  zip_error_fini(&error);
  if (!archive)
    fail_plainly(doing, "it is not a NumPy .npz file (a zip archive), or not the whole of one", "use numpy.savez");
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  if (entries < 1) fail_plainly(doing, "there are no arrays");  // libzip takes no bytes for such an archive
  if (entries > kMostEntries) fail(doing, fmt::format("at most {} arrays", kMostEntries), std::to_string(entries));
  std::vector<std::pair<std::string, NumpyArray>> arrays;
  for (zip_int64_t i = 0; i < entries; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const std::string name = entry_key(zip_get_name(archive.get(), index, 0));
    const std::string named = fmt::format("{}, array '{}'", doing, name);
    arrays.emplace_back(name, parse_npy(read_entry(archive.get(), index, named, most_values), named));
    most_values -= arrays.back().second.values.size();
  }
  return arrays;
}

std::unique_ptr<ArraySource> open_npy(const std::filesystem::path& path) {
  std::string doing = fmt::format("reading '{}'", path.string());
  const std::uint64_t size = file_bytes(path, doing);
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(doing, "a readable file", errno_text(errno), "check its permissions");
  std::string start(kLongestHeader + 12, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  const Header header = parse_header(start, doing);
  const Type& type = checked_type(header, size - header.data_offset, doing);
  return std::make_unique<NpySource>(std::move(doing), header, type, std::move(file));
}

std::vector<std::string> numpy_keys(const std::filesystem::path& path) {
  if (!is_npz(path)) return {""};
  const auto archive = open_zip(path, fmt::format("reading '{}'", path.string()));
  std::vector<std::string> keys;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    keys.push_back(entry_key(zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), 0)));
  }
  return keys;
}

std::vector<ArrayInfo> numpy_arrays(const std::filesystem::path& path) {
  const std::string doing = fmt::format("reading '{}'", path.string());
  if (!is_npz(path)) {
    const auto array = open_npy(path);
    return {{"", array->shape(), array->type()}};
  }
  const auto archive = open_zip(path, doing);
  std::vector<ArrayInfo> arrays;
  std::string start(kLongestHeader + 12, '\0');
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    ArrayInfo info{entry_key(zip_get_name(archive.get(), index, 0)), {}, "not readable", false};
    const ZipEntry file(zip_fopen_index(archive.get(), index, 0));
    const zip_int64_t got = file ? zip_fread(file.get(), start.data(), start.size()) : -1;
    try {
      if (got < 0) fail(doing, "a whole zip entry", "a damaged one");
      const Header header = parse_header(std::string_view(start).substr(0, static_cast<std::size_t>(got)), doing);
      info.shape = header.shape;
      info.type = header.descr;
      info.type = type_of(header, doing).name;
      info.readable = true;
    } catch (const Error&) {
      // It is listed as what it is.
    }
    arrays.push_back(std::move(info));
  }
  return arrays;
}

NumpyArray read_numpy(const std::filesystem::path& path, const std::string& key) {
  const std::string doing = fmt::format("reading '{}'", path.string());
  if (!is_npz(path)) return parse_npy(read_file(path, "reading"), doing);
  const std::vector<std::string> keys = numpy_keys(path);
  const std::string wanted = key.empty() && keys.size() == 1 ? keys.front() : key;
  const auto archive = open_zip(path, doing);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != wanted) continue;
    const std::string named = fmt::format("{}, array '{}'", doing, wanted);
    return parse_npy(read_entry(archive.get(), i, named), named);
  }
  fail_no_array(doing, key, keys);
}

}  // namespace lano
