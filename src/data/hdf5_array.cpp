// Extents and storage are two statements of an HDF5 file that HDF5 does not compare: an array of 2^50 values may have
// no bytes at all, a contiguous one may claim to lie beyond the end of the file, a compact or compressed one may hold
// fewer bytes than its extents need (HDF5 1.10 then copies from beyond its buffer), values may claim to be in another
// file altogether. All that is refused here:
//   contiguous, compact: bytes stored = values x size of a value, inside the file;
//   chunked: bytes stored <= bytes of the file, values x size <= 1100 x bytes stored (deflate reaches 1032), every
//   block is there, and has, unpacked, exactly the bytes of its extents.
#include "data/hdf5_array.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/error.h"

namespace lano {
namespace {

constexpr std::uint64_t kMostDeflation = 1100;
constexpr std::size_t kChecksumBytes = 4;  // that Fletcher32 appends to a block

// IEEE half precision, which HDF5 1.10 has no name for.
Hdf5Handle half_type(hid_t like) {
  Hdf5Handle type(H5Tcopy(like), H5Tclose);
  H5Tset_fields(type.get(), 15, 10, 5, 0, 10);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), 15);
  return type;
}

// The number types that are taken; HDF5 can describe others, down to floats of three bits.
bool is_plain_number(hid_t type) {
  const hid_t plain[] = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_STD_I8LE,
                         H5T_STD_I8BE,   H5T_STD_I16LE,  H5T_STD_I16BE,  H5T_STD_I32LE,  H5T_STD_I32BE,
                         H5T_STD_I64LE,  H5T_STD_I64BE,  H5T_STD_U8LE,   H5T_STD_U8BE,   H5T_STD_U16LE,
                         H5T_STD_U16BE,  H5T_STD_U32LE,  H5T_STD_U32BE,  H5T_STD_U64LE,  H5T_STD_U64BE};
  if (std::any_of(std::begin(plain), std::end(plain), [&](hid_t known) { return H5Tequal(type, known) > 0; }))
    return true;
  return H5Tequal(type, half_type(H5T_IEEE_F32LE).get()) > 0 || H5Tequal(type, half_type(H5T_IEEE_F32BE).get()) > 0;
}

// Fletcher's sum over 16-bit words, high byte first: two sums modulo 65535, here compared with what follows a block.
// HDF5 writes 65535 for 0, and before 1.6.3 turned the bytes of each half.
bool fletcher32_holds(std::span<const unsigned char> bytes, std::span<const unsigned char, kChecksumBytes> said) {
  std::uint64_t first = 0, second = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    first = (first + (std::uint64_t{bytes[i]} << 8) + (i + 1 < bytes.size() ? bytes[i + 1] : 0)) % 65535;
    second = (second + first) % 65535;
  }
  const auto half = [&](std::size_t low, std::size_t high) {
    return (said[low] + (std::uint64_t{said[high]} << 8)) % 65535;
  };
  return (half(0, 1) == first && half(2, 3) == second) || (half(1, 0) == first && half(3, 2) == second);
}

// Byte k of every value, then byte k+1 of every value, ... back to values.
std::vector<char> unshuffled(const std::vector<char>& bytes, std::size_t size) {
  std::vector<char> values(bytes.size());
  const std::size_t count = bytes.size() / size;
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t i = 0; i < count; ++i) values[i * size + k] = bytes[k * count + i];
  }
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(count * size), bytes.end(),
            values.begin() + static_cast<std::ptrdiff_t>(count * size));
  return values;
}

// Elements of `size` bytes from one strided place to another.
void copy_elements(const char* from, std::span<const std::int64_t> from_strides, char* to,
                   std::span<const std::int64_t> to_strides, std::span<const std::int64_t> counts, std::size_t size) {
  if (counts.empty()) {
    std::memcpy(to, from, size);
    return;
  }
  for (std::int64_t i = 0; i < counts[0]; ++i) {
    copy_elements(from + i * from_strides[0] * static_cast<std::int64_t>(size), from_strides.subspan(1),
                  to + i * to_strides[0] * static_cast<std::int64_t>(size), to_strides.subspan(1), counts.subspan(1),
                  size);
  }
}

}  // namespace

void Hdf5Array::fail_damaged(const std::string& found) const {
  fail(doing_, "a whole array", found, "copy the file again");
}

Hdf5Array::Hdf5Array(hid_t file, const std::string& name, std::uint64_t file_bytes, std::string doing)
    : doing_(fmt::format("{}, array '{}'", doing, name)), file_bytes_(file_bytes) {
  const Hdf5Handle access = hdf5_inside_access();
  // Without a chunk cache HDF5 reads plain blocks straight from the file.
  H5Pset_chunk_cache(access.get(), 0, 0, 1.0);
  set_ = Hdf5Handle(H5Dopen2(file, name.c_str(), access.get()), H5Dclose);
  if (!set_)
    fail_plainly(doing, fmt::format("the array '{}' cannot be opened: {}", name, hdf5_reason()),
                 "see docs/formats.md, or make the file again");
  type_ = Hdf5Handle(H5Dget_type(set_.get()), H5Tclose);
  properties_ = Hdf5Handle(H5Dget_create_plist(set_.get()), H5Pclose);
  if (!type_ || !properties_) fail_damaged(hdf5_reason());
  check_type();
  check_shape();
  check_storage(file_bytes);
}

void Hdf5Array::check_type() {
  if (!is_plain_number(type_.get()))
    fail_plainly(doing_, "its elements are not real numbers of 8 to 64 bits", "save them as float32");
  type_size_ = H5Tget_size(type_.get());
}

std::string Hdf5Array::type_name() const {
  const bool whole = H5Tget_class(type_.get()) == H5T_INTEGER;
  return fmt::format("{}{}",
                     !whole                                     ? "float"
                     : H5Tget_sign(type_.get()) == H5T_SGN_NONE ? "uint"
                                                                : "int",
                     8 * type_size_);
}

void Hdf5Array::check_shape() {
  const Hdf5Handle space(H5Dget_space(set_.get()), H5Sclose);
  const H5S_class_t kind = H5Sget_simple_extent_type(space.get());
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if ((kind != H5S_SIMPLE && kind != H5S_SCALAR) || rank < 0 || rank > H5S_MAX_RANK) fail_damaged("no extents");
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 56;
  std::uint64_t count = 1;  // of an array without values too: its extents are multiplied later
  for (const hsize_t extent : extents) {
    if (extent > kMost / count)
      fail(doing_, "a shape that fits in memory", fmt::format("[{}]", fmt::join(extents, ", ")), "copy the file again");
    count *= std::max<std::uint64_t>(1, extent);
    shape_.push_back(static_cast<std::int64_t>(extent));
  }
}

void Hdf5Array::check_storage(std::uint64_t file_bytes) {
  const H5D_layout_t layout = H5Pget_layout(properties_.get());
  if ((layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) ||
      H5Pget_external_count(properties_.get()) != 0) {
    fail(doing_, "values in the file itself", "a reference to other files", "copy the array into the file");
  }
  const int filters = H5Pget_nfilters(properties_.get());
  if (filters < 0) fail_damaged(hdf5_reason());
  for (int f = 0; f < filters; ++f) {
    unsigned flags = 0, config = 0;
    std::size_t parameters = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(properties_.get(), static_cast<unsigned>(f), &flags, &parameters, nullptr, 0, nullptr, &config);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) {
      fail(doing_, "values stored plain, or with gzip, shuffle and Fletcher32", fmt::format("filter {}", filter),
           "repack it: h5repack -f GZIP=3");
    }
    filters_.push_back(filter);
  }
  const auto count = static_cast<std::uint64_t>(element_count(shape_));
  if (count == 0) return;
  const std::uint64_t stored = H5Dget_storage_size(set_.get()), needed = count * type_size_;
  const auto fail_storage = [&]() {
    fail(doing_, fmt::format("values for shape {}", shape_text(shape_)),
         fmt::format("{} bytes in a file of {}", stored, file_bytes), "copy the file again");
  };
  if (stored > file_bytes) fail_storage();
  if (layout != H5D_CHUNKED) {
    if (stored != needed) fail_storage();
    const haddr_t place = layout == H5D_CONTIGUOUS ? H5Dget_offset(set_.get()) : 0;
    if (place > file_bytes - stored) fail_storage();
    return;
  }
  if (needed > stored * kMostDeflation) fail_storage();
  block_shape_.resize(shape_.size());
  if (shape_.empty() || H5Pget_chunk(properties_.get(), static_cast<int>(block_shape_.size()), block_shape_.data()) !=
                            static_cast<int>(block_shape_.size())) {
    fail_damaged("blocks of another number of axes");
  }
  std::uint64_t block_bytes = type_size_;
  for (const hsize_t extent : block_shape_) {
    if (extent == 0 || extent > std::numeric_limits<std::uint32_t>::max() / block_bytes)
      fail_damaged(fmt::format("blocks of [{}]", fmt::join(block_shape_, ", ")));
    block_bytes *= extent;
  }
  if (block_bytes > stored * kMostDeflation)
    fail_damaged(fmt::format("blocks of {} bytes in {} stored", block_bytes, stored));
  // A block never written would be read as zeros: a simulation that stopped half way, taken for data.
  std::uint64_t wanted = 1;
  for (std::size_t a = 0; a < block_shape_.size(); ++a)
    wanted *= (static_cast<hsize_t>(shape_[a]) - 1) / block_shape_[a] + 1;
  hsize_t written = 0;
  const Hdf5Handle space(H5Dget_space(set_.get()), H5Sclose);
  if (H5Dget_num_chunks(set_.get(), space.get(), &written) < 0) fail_damaged(hdf5_reason());
  if (written != wanted) {
    fail(doing_, fmt::format("values for shape {} in {} blocks", shape_text(shape_), wanted),
         fmt::format("{} blocks", written), "write the whole array");
  }
}

void Hdf5Array::read(std::span<const AxisRange> ranges, hid_t memory_type, std::size_t memory_size, std::size_t count,
                     void* to) const {
  if (count == 0) return;
  std::vector<hsize_t> start, stride, counts;
  std::uint64_t selected = 1;
  for (std::size_t a = 0; a < ranges.size(); ++a) {
    const AxisRange& range = ranges[a];
    const bool inside = ranges.size() == shape_.size() && range.first >= 0 && range.count >= 1 && range.stride >= 1 &&
                        range.first < shape_[a] && range.count - 1 <= (shape_[a] - 1 - range.first) / range.stride;
    if (!inside)
      fail(doing_, fmt::format("a part of {}", shape_text(shape_)),
           fmt::format("{} values from {} on axis {}", range.count, range.first, a));
    start.push_back(static_cast<hsize_t>(range.first));
    stride.push_back(static_cast<hsize_t>(range.stride));
    counts.push_back(static_cast<hsize_t>(range.count));
    selected *= static_cast<std::uint64_t>(range.count);
  }
  if (ranges.size() != shape_.size() || selected != count)
    fail(doing_, fmt::format("room for {} values", selected), std::to_string(count));
  if (!filters_.empty() && !block_shape_.empty()) {
    read_blocks(ranges, memory_type, memory_size, static_cast<char*>(to));
    return;
  }
  const Hdf5Handle file_space(H5Dget_space(set_.get()), H5Sclose);
  if (!ranges.empty())
    H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), stride.data(), counts.data(), nullptr);
  const hsize_t total = count;
  const Hdf5Handle memory_space(H5Screate_simple(1, &total, nullptr), H5Sclose);
  if (H5Sget_select_npoints(file_space.get()) != static_cast<hssize_t>(total) ||
      H5Dread(set_.get(), memory_type, memory_space.get(), file_space.get(), H5P_DEFAULT, to) < 0) {
    fail(doing_, "readable values", hdf5_reason(), "copy the file again");
  }
}

// Every block that holds a chosen index, in turn; of each the chosen part is copied.
void Hdf5Array::read_blocks(std::span<const AxisRange> ranges, hid_t memory_type, std::size_t memory_size,
                            char* to) const {
  const std::size_t rank = ranges.size();
  Shape counts, block_extents;
  for (std::size_t a = 0; a < rank; ++a) {
    counts.push_back(ranges[a].count);
    block_extents.push_back(static_cast<std::int64_t>(block_shape_[a]));
  }
  const Shape to_strides = row_major_strides(counts), block_strides = row_major_strides(block_extents);
  std::vector<std::int64_t> at(rank, 0);  // of the chosen indices, the first that lies in the present block
  std::vector<char> block;
  for (;;) {
    std::vector<hsize_t> start;
    Shape part, from_strides, next(rank);
    std::int64_t from = 0, into = 0;
    for (std::size_t a = 0; a < rank; ++a) {
      const std::int64_t index = ranges[a].first + at[a] * ranges[a].stride,
                         first = index / block_extents[a] * block_extents[a];
      const std::int64_t left = (first + block_extents[a] - 1 - index) / ranges[a].stride + 1;
      part.push_back(std::min(left, ranges[a].count - at[a]));
      next[a] = at[a] + part[a];
      start.push_back(static_cast<hsize_t>(first));
      from_strides.push_back(block_strides[a] * ranges[a].stride);
      from += (index - first) * block_strides[a];
      into += at[a] * to_strides[a];
    }
    load_block(start, memory_type, memory_size, block);
    copy_elements(block.data() + static_cast<std::size_t>(from) * memory_size, from_strides,
                  to + static_cast<std::size_t>(into) * memory_size, to_strides, part, memory_size);
    // The next block: the last axis first, like an odometer.
    std::size_t axis = rank;
    while (axis > 0 && next[axis - 1] >= ranges[axis - 1].count) at[--axis] = 0;
    if (axis == 0) return;
    at[axis - 1] = next[axis - 1];
  }
}

void Hdf5Array::load_block(const std::vector<hsize_t>& start, hid_t memory_type, std::size_t memory_size,
                           std::vector<char>& block) const {
  std::size_t count = 1;
  for (const hsize_t extent : block_shape_) count *= extent;
  hsize_t stored = 0;
  if (H5Dget_chunk_storage_size(set_.get(), start.data(), &stored) < 0) fail_damaged(hdf5_reason());
  if (stored == 0 || stored > file_bytes_) fail_damaged(fmt::format("a block of {} bytes", stored));
  const std::size_t bytes = count * type_size_, wide = std::max(type_size_, memory_size);
  block.resize(stored);
  std::uint32_t skipped = 0;
  if (H5Dread_chunk(set_.get(), H5P_DEFAULT, start.data(), &skipped, block.data()) < 0) fail_damaged(hdf5_reason());
  for (std::size_t f = filters_.size(); f-- > 0;) {
    if ((skipped >> f & 1) != 0) continue;
    if (filters_[f] == H5Z_FILTER_FLETCHER32) {
      if (block.size() < kChecksumBytes) fail_damaged("a block shorter than its check sum");
      const std::span all(reinterpret_cast<const unsigned char*>(block.data()), block.size());
      const auto values = all.first(all.size() - kChecksumBytes);
      if (!fletcher32_holds(values, all.last<kChecksumBytes>())) fail_damaged("a block with a wrong check sum");
      block.resize(values.size());
    } else if (filters_[f] == H5Z_FILTER_DEFLATE) {
      // Filters before this one may have added a checksum each.
      std::vector<char> inflated(bytes + f * kChecksumBytes);
      uLongf size = inflated.size();
      if (uncompress(reinterpret_cast<Bytef*>(inflated.data()), &size, reinterpret_cast<const Bytef*>(block.data()),
                     block.size()) != Z_OK) {
        fail_damaged("a block that does not inflate");
      }
      inflated.resize(size);
      block = std::move(inflated);
    } else {
      block = unshuffled(block, type_size_);
    }
  }
  if (block.size() != bytes) fail_damaged(fmt::format("a block of {} bytes where {} are needed", block.size(), bytes));
  block.resize(count * wide);
  if (H5Tconvert(type_.get(), memory_type, count, block.data(), nullptr, H5P_DEFAULT) < 0) fail_damaged(hdf5_reason());
  block.resize(count * memory_size);
}

}  // namespace lano
