// A header of version 1.0, padded so that the data starts at a multiple of 64 bytes, and the raw array. A .npz is a zip
// of them: libzip takes each from memory when the archive is closed, so all are held at once.
#include <fmt/format.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "data/npy.h"
#include "data/zip_archive.h"

namespace lano {
namespace {

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

}  // namespace

void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values) {
  write_file_atomically(path, npy_bytes("<f4", shape, values));
}

void write_npz(const std::filesystem::path& path, const std::vector<NpzArray>& arrays) {
  const std::string doing = fmt::format("writing '{}'", path.string());
  std::vector<std::string> entries;
  for (const NpzArray& array : arrays) {
    entries.push_back(array.doubles.empty() ? npy_bytes("<f4", array.shape, array.values)
                                            : npy_bytes("<f8", array.shape, array.doubles));
  }
  PendingFile pending(path);
  int error = 0;
  ZipArchive archive(zip_open(pending.temporary().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  const auto require = [&](bool good, const char* found) {
    if (!good) fail(doing, "a folder that can be written to, with space left", found, "choose another --out");
  };
  require(archive != nullptr, "one that cannot");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t* const source = zip_source_buffer(archive.get(), entries[i].data(), entries[i].size(), 0);
    const zip_int64_t index = zip_file_add(archive.get(), (arrays[i].name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) zip_source_free(source);
    require(index >= 0, zip_strerror(archive.get()));
    const auto at = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(archive.get(), at, ZIP_CM_STORE, 0);
    zip_file_set_dostime(archive.get(), at, 0, 0x21, 0);  // 1980-01-01
  }
  const bool written = zip_close(archive.get()) == 0;
  require(written, zip_strerror(archive.get()));
  archive.release();  // zip_close freed it
  pending.publish();
}

}  // namespace lano
