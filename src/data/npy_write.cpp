// A header of version 1.0, padded so that the data starts at a multiple of 64 bytes, and the raw array. A .npz is a zip
// of them: libzip takes each from memory when the archive is closed, so all are held at once.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/atomic_file.h"
#include "core/error.h"
#include "data/npy.h"
#include "data/zip_archive.h"

namespace lano {
namespace {

constexpr const char* kRoom = "a folder that can be written to, with space left; choose another --out";

template <class Value>
std::string npy_bytes(const char* type, const Shape& shape, std::span<const Value> values) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  dict.append(63 - (10 + dict.size()) % 64, ' ').push_back('\n');
  std::string bytes("\x93NUMPY");
  bytes.append({'\x01', '\x00', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)});
  bytes += dict;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

void require(bool good, const std::string& doing, const char* expected, const char* found) {
  if (!good) fail(doing, expected, found);
}

// The entries are read when the archive is closed.
void add_entries(zip_t* archive, const std::vector<NpzArray>& arrays, const std::vector<std::string>& entries,
                 const std::string& doing) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t* const source = zip_source_buffer(archive, entries[i].data(), entries[i].size(), 0);
    const zip_int64_t index = zip_file_add(archive, (arrays[i].name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) zip_source_free(source);
    require(index >= 0, doing, kRoom, zip_strerror(archive));
    const auto at = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(archive, at, ZIP_CM_STORE, 0);
    zip_file_set_dostime(archive, at, 0, 0x21, 0);  // 1980-01-01
  }
}

void close_archive(ZipArchive& archive, const std::string& doing) {
  const bool written = zip_close(archive.get()) == 0;
  require(written, doing, kRoom, zip_strerror(archive.get()));
  archive.release();  // zip_close freed it
}

std::vector<std::string> entries_of(const std::vector<NpzArray>& arrays) {
  std::vector<std::string> entries;
  for (const NpzArray& array : arrays) {
    entries.push_back(array.doubles.empty() ? npy_bytes("<f4", array.shape, array.values)
                                            : npy_bytes("<f8", array.shape, array.doubles));
  }
  return entries;
}

}  // namespace

std::string format_npy(const Shape& shape, std::span<const float> values) { return npy_bytes("<f4", shape, values); }

void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values) {
  write_file_atomically(path, format_npy(shape, values));
}

void write_npz(const std::filesystem::path& path, const std::vector<NpzArray>& arrays) {
  const std::string doing = fmt::format("writing '{}'", path.string());
  const std::vector<std::string> entries = entries_of(arrays);
  PendingFile pending(path);
  int error = 0;
  ZipArchive archive(zip_open(pending.temporary().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (archive == nullptr)
    fail_plainly(doing, "the file cannot be created", "check the space and the permissions there");
  add_entries(archive.get(), arrays, entries, doing);
  close_archive(archive, doing);
  pending.publish();
}

std::string format_npz(const std::vector<NpzArray>& arrays) {
  const std::string doing = "writing a .npz file into memory";
  const std::vector<std::string> entries = entries_of(arrays);
  zip_error_t error;
  zip_error_init(&error);
  const std::unique_ptr<zip_source_t, decltype(&zip_source_free)> target(
      zip_source_buffer_create(nullptr, 0, 0, &error), &zip_source_free);
  zip_source_keep(target.get());  // the archive has one share in it, this function the other
  ZipArchive archive(zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) zip_source_free(target.get());
  require(archive != nullptr, doing, "memory", zip_error_strerror(&error));
  add_entries(archive.get(), arrays, entries, doing);
  close_archive(archive, doing);
  std::string bytes;
  if (zip_source_open(target.get()) == 0) {
    zip_source_seek(target.get(), 0, SEEK_END);
    bytes.resize(static_cast<std::size_t>(std::max<zip_int64_t>(0, zip_source_tell(target.get()))));
    zip_source_seek(target.get(), 0, SEEK_SET);
    const zip_int64_t read = zip_source_read(target.get(), bytes.data(), bytes.size());
    zip_source_close(target.get());
    require(read == static_cast<zip_int64_t>(bytes.size()), doing, "the archive's bytes", "fewer");
  }
  zip_error_fini(&error);
  return bytes;
}

}  // namespace lano
