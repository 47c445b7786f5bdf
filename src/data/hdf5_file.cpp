#include "data/hdf5_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/rehearsal.h"
#include "data/hdf5_array.h"

namespace lano {
namespace {

// HDF5 prints its error stack by default, a setting each thread has for itself; we collect its deepest useful
// description instead. Its clean-up at exit is off: after a failed write it would try again, and crash.
void silence_hdf5() {
  static std::once_flag once;
  std::call_once(once, [] { H5dont_atexit(); });
  thread_local bool silent = false;
  if (!silent) H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  silent = true;
}

std::vector<hsize_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

constexpr std::size_t kLongestText = std::size_t{1} << 24;  // of an attribute

}  // namespace

std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        if (error->desc != nullptr && error->desc[0] != '\0') *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &reason);
  // "file write failed: time = ..., error message = 'No space left on device', ..." : keep the message alone.
  const std::string marker = "error message = '";
  if (const auto at = reason.find(marker); at != std::string::npos) {
    const auto start = at + marker.size();
    reason = reason.substr(start, reason.find('\'', start) - start);
  }
  return reason.empty() ? "an HDF5 error" : reason;
}

Hdf5Handle hdf5_inside_access() {
  Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_elink_cb(
      access.get(),
      [](const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) -> herr_t { return -1; },
      nullptr);
  return access;
}

Hdf5Handle& Hdf5Handle::operator=(Hdf5Handle&& other) noexcept {
  if (this != &other) {
    close();
    closer_ = other.closer_;
    id_ = other.release();
  }
  return *this;
}

herr_t Hdf5Handle::close() {
  if (id_ < 0) return 0;
  const hid_t id = release();
  return closer_(id);
}

hid_t Hdf5Handle::release() {
  const hid_t id = id_;
  id_ = -1;
  return id;
}

void Hdf5File::fail_reading(const std::string& expected, const std::string& found) const {
  fail(fmt::format("reading '{}'", path_.string()), expected, found, "see docs/formats.md, or make the file again");
}

// A file that could not be written is abandoned: closing it would write again, which HDF5 1.10 does not survive. What
// little memory it holds is the price; the unfinished file is removed by its owner.
void Hdf5File::fail_writing(const std::string& what) {
  const std::string reason = hdf5_reason();
  file_.release();
  fail(fmt::format("writing '{}'", path_.string()), fmt::format("to write {}", what), reason,
       "free space or choose another folder; what was there before is kept");
}

Hdf5File Hdf5File::create(const std::filesystem::path& path) {
  silence_hdf5();
  Hdf5File file(Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose), path);
  if (!file.file_) file.fail_writing("a new HDF5 file");
  return file;
}

Hdf5File Hdf5File::open(const std::filesystem::path& path) {
  silence_hdf5();
  const std::string doing = fmt::format("reading '{}'", path.string());
  const std::uint64_t bytes = file_bytes(path, doing);
  if (!is_hdf5(path)) {
    fail_plainly(doing, "it is not an HDF5 file, or its beginning is damaged",
                 "make it with 'lano generate', or import your own arrays with 'lano import'");
  }
  rehearse_walk(path, bytes, "");
  return open_file(path, bytes);
}

Hdf5File Hdf5File::open_file(const std::filesystem::path& path, std::uint64_t bytes) {
  Hdf5File file(Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose), path);
  if (!file.file_) file.fail_reading("a complete HDF5 file", hdf5_reason());
  file.bytes_ = bytes;
  return file;
}

// HDF5 1.10 follows the structure of a file wherever it leads: a tree that contains itself ends the process. So
// everything that will be looked at is looked at in a child first: the names, extents and block indices of the arrays,
// the texts.
void Hdf5File::rehearse_walk(const std::filesystem::path& path, std::uint64_t bytes, const std::string& key) {
  constexpr unsigned kSeconds = 60;  // of processor time; ten million blocks take a few
  const std::string end = rehearse(
      [&] {
        const Hdf5File file = open_file(path, bytes);
        const auto look = [](const auto& at) {
          try {
            at();
          } catch (const Error&) {
            // The caller will see it.
          }
        };
        std::vector<std::string> texts;
        const auto add = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
          static_cast<std::vector<std::string>*>(out)->push_back(name);
          return 0;
        };
        H5Aiterate2(file.file_.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &texts);
        for (const std::string& text : texts) look([&] { file.attribute(text); });
        for (const std::string& name : file.names()) look([&] { file.array(name); });
        if (!key.empty()) look([&] { file.array(key); });
      },
      kSeconds);
  if (!end.empty()) {
    fail_plainly(fmt::format("reading '{}'", path.string()), fmt::format("the HDF5 library fails on it: {}", end),
                 "copy the file again; do not trust it");
  }
}

bool Hdf5File::is_hdf5(const std::filesystem::path& path) {
  silence_hdf5();
  return H5Fis_hdf5(path.c_str()) > 0;
}

bool Hdf5File::has(const std::string& name) const {
  return H5Lexists(file_.get(), name.c_str(), hdf5_inside_access().get()) > 0;
}

Hdf5Handle Hdf5File::dataset(const std::string& name) const {
  silence_hdf5();
  // Without a chunk cache a write reaches the file, or fails, when it is called and not at some later close. Whole
  // chunks are written, so nothing is lost by it.
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(access.get(), 0, 0, 1.0);
  Hdf5Handle set(H5Dopen2(file_.get(), name.c_str(), access.get()), H5Dclose);
  if (!set)
    fail_plainly(fmt::format("reading '{}'", path_.string()),
                 has(name) ? fmt::format("'{}' is not an array", name) : fmt::format("there is no array '{}'", name),
                 "see docs/formats.md, or make the file again");
  return set;
}

const Hdf5Array& Hdf5File::array(const std::string& name) const {
  silence_hdf5();
  const auto known = arrays_.find(name);
  if (known != arrays_.end()) return *known->second;
  if (!has(name))
    fail_plainly(fmt::format("reading '{}'", path_.string()), fmt::format("there is no array '{}'", name),
                 "see docs/formats.md, or make the file again");
  return *arrays_
              .emplace(name, std::make_shared<Hdf5Array>(file_.get(), name, bytes_,
                                                         fmt::format("reading '{}'", path_.string())))
              .first->second;
}

Shape Hdf5File::shape(const std::string& name) const { return array(name).shape(); }

void Hdf5File::make_floats(const std::string& name, const Shape& shape, const Shape& chunk) {
  const auto dims = extents(shape);
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!chunk.empty() && element_count(shape) > 0) {
    const auto chunk_dims = extents(chunk);
    H5Pset_chunk(properties.get(), static_cast<int>(chunk_dims.size()), chunk_dims.data());
  }
  const Hdf5Handle set(
      H5Dcreate2(file_.get(), name.c_str(), H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      H5Dclose);
  if (!set) fail_writing(fmt::format("the array '{}' {}", name, shape_text(shape)));
}

void Hdf5File::make_in_one_piece(const std::string& name, const Shape& shape) {
  const auto dims = extents(shape);
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);
  const Hdf5Handle set(
      H5Dcreate2(file_.get(), name.c_str(), H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      H5Dclose);
  if (!set) fail_writing(fmt::format("room for the array '{}' {}", name, shape_text(shape)));
}

std::int64_t Hdf5File::place(const std::string& name) const {
  const Hdf5Handle set = dataset(name);
  const haddr_t place = H5Dget_offset(set.get());
  return place == HADDR_UNDEF ? -1 : static_cast<std::int64_t>(place);
}

namespace {

// Selects `count` rows from `first` of the first axis; returns the file and memory spaces.
std::pair<Hdf5Handle, Hdf5Handle> select_rows(hid_t set, std::int64_t first, std::int64_t count) {
  Hdf5Handle file_space(H5Dget_space(set), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(file_space.get());
  std::vector<hsize_t> block(static_cast<std::size_t>(rank)), start(static_cast<std::size_t>(rank), 0);
  H5Sget_simple_extent_dims(file_space.get(), block.data(), nullptr);
  block[0] = static_cast<hsize_t>(count);
  start[0] = static_cast<hsize_t>(first);
  H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, block.data(), nullptr);
  Hdf5Handle memory_space(H5Screate_simple(rank, block.data(), nullptr), H5Sclose);
  return {std::move(file_space), std::move(memory_space)};
}

}  // namespace

void Hdf5File::write_rows(const std::string& name, std::int64_t first, std::int64_t count,
                          std::span<const float> values) {
  if (values.empty()) return;
  silence_hdf5();
  Hdf5Handle set = dataset(name);
  const auto [file_space, memory_space] = select_rows(set.get(), first, count);
  if (H5Dwrite(set.get(), H5T_NATIVE_FLOAT, memory_space.get(), file_space.get(), H5P_DEFAULT, values.data()) < 0) {
    set.release();
    fail_writing(fmt::format("rows of '{}'", name));
  }
}

void Hdf5File::make_indices(const std::string& name, const Shape& shape) {
  const auto dims = extents(shape);
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
  const Hdf5Handle set(
      H5Dcreate2(file_.get(), name.c_str(), H5T_STD_I32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  if (!set) fail_writing(fmt::format("the array '{}' {}", name, shape_text(shape)));
}

void Hdf5File::write_index_rows(const std::string& name, std::int64_t first, std::int64_t count,
                                std::span<const std::int64_t> values) {
  silence_hdf5();
  Hdf5Handle set = dataset(name);
  const auto [file_space, memory_space] = select_rows(set.get(), first, count);
  if (H5Dwrite(set.get(), H5T_NATIVE_INT64, memory_space.get(), file_space.get(), H5P_DEFAULT, values.data()) < 0) {
    set.release();
    fail_writing(fmt::format("rows of '{}'", name));
  }
}

std::vector<std::int64_t> Hdf5File::read_index_rows(const std::string& name, std::int64_t first,
                                                    std::int64_t count) const {
  std::vector<AxisRange> ranges;
  for (const std::int64_t extent : array(name).shape()) ranges.push_back({0, extent, 1});
  ranges.front() = {first, count, 1};
  std::vector<std::int64_t> values(static_cast<std::size_t>(count * ranges.back().count));
  array(name).read(ranges, values);
  return values;
}

void Hdf5File::read_rows(const std::string& name, std::int64_t first, std::int64_t count,
                         std::span<float> values) const {
  if (values.empty()) return;
  std::vector<AxisRange> ranges;
  for (const std::int64_t extent : array(name).shape()) ranges.push_back({0, extent, 1});
  if (!ranges.empty()) ranges.front() = {first, count, 1};
  array(name).read(ranges, values);
}

void Hdf5File::read_slab(const std::string& name, std::span<const AxisRange> ranges, std::span<float> values) const {
  array(name).read(ranges, values);
}

void Hdf5File::write_whole(const std::string& name, hid_t file_type, hid_t memory_type, std::size_t count,
                           const void* values) {
  const hsize_t dims[] = {count};
  const Hdf5Handle space(H5Screate_simple(1, dims, nullptr), H5Sclose);
  Hdf5Handle set(H5Dcreate2(file_.get(), name.c_str(), file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                 H5Dclose);
  if (!set || H5Dwrite(set.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    set.release();
    fail_writing(fmt::format("'{}'", name));
  }
}

void Hdf5File::write_bytes(const std::string& name, std::span<const std::uint8_t> values) {
  write_whole(name, H5T_STD_U8LE, H5T_NATIVE_UINT8, values.size(), values.data());
}

void Hdf5File::write_doubles(const std::string& name, std::span<const double> values) {
  write_whole(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.size(), values.data());
}

void Hdf5File::write_integers(const std::string& name, std::span<const std::int64_t> values) {
  write_whole(name, H5T_STD_I64LE, H5T_NATIVE_INT64, values.size(), values.data());
}

// A list: the one axis of an array.
template <class T>
std::vector<T> Hdf5File::read_vector(const std::string& name) const {
  const Shape extents = shape(name);
  if (extents.size() != 1) fail_reading(fmt::format("one axis in '{}'", name), shape_text(extents));
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (extents[0] > kMost) fail_reading(fmt::format("at most {} values in '{}'", kMost, name), shape_text(extents));
  std::vector<T> values(static_cast<std::size_t>(extents[0]));
  array(name).read(std::vector<AxisRange>{{0, extents[0], 1}}, values);
  return values;
}

std::vector<double> Hdf5File::read_doubles(const std::string& name) const { return read_vector<double>(name); }
std::vector<std::int64_t> Hdf5File::read_integers(const std::string& name) const {
  return read_vector<std::int64_t>(name);
}

void Hdf5File::set_attribute(const std::string& name, const std::string& text) {
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), text.size() + 1);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Hdf5Handle attribute(H5Acreate2(file_.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose);
  if (!attribute || H5Awrite(attribute.get(), type.get(), text.c_str()) < 0) {
    attribute.release();
    fail_writing(fmt::format("attribute '{}'", name));
  }
}

std::optional<std::string> Hdf5File::attribute(const std::string& name) const {
  if (H5Aexists(file_.get(), name.c_str()) <= 0) return std::nullopt;
  const Hdf5Handle attribute(H5Aopen(file_.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(attribute ? H5Aget_type(attribute.get()) : -1, H5Tclose);
  const Hdf5Handle space(attribute ? H5Aget_space(attribute.get()) : -1, H5Sclose);
  if (!type || !space) fail_reading(fmt::format("a complete attribute '{}'", name), hdf5_reason());
  if (H5Sget_simple_extent_npoints(space.get()) != 1)
    fail_reading(fmt::format("one text in attribute '{}'", name), "a list");
  if (H5Tget_class(type.get()) != H5T_STRING)
    fail_plainly(fmt::format("reading '{}'", path_.string()), fmt::format("attribute '{}' is not text", name),
                 "see docs/formats.md, or make the file again");
  if (H5Tis_variable_str(type.get()) > 0) {  // as h5py writes it
    char* raw = nullptr;
    const Hdf5Handle memory_type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory_type.get(), H5T_VARIABLE);
    H5Tset_cset(memory_type.get(), H5Tget_cset(type.get()));
    if (H5Aread(attribute.get(), memory_type.get(), &raw) < 0 || raw == nullptr) {
      fail_reading(fmt::format("readable text in attribute '{}'", name), hdf5_reason());
    }
    std::string text(raw, strnlen(raw, kLongestText));
    H5free_memory(raw);
    return text;
  }
  const std::size_t size = H5Tget_size(type.get());
  if (size > kLongestText || size > bytes_)
    fail_reading(fmt::format("text in attribute '{}'", name), fmt::format("one of {} bytes", size));
  std::string text(size, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) {
    fail_reading(fmt::format("readable text in attribute '{}'", name), hdf5_reason());
  }
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

void Hdf5File::close() {
  if (H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) < 0 || file_.close() < 0) fail_writing("its last blocks");
}

}  // namespace lano
