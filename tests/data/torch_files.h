// Small PyTorch files made by hand: the pickle command by command, and the zip byte by byte. Independent of the reader.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/shape.h"

namespace lano::test {

template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
std::string raw_all(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) bytes += raw(value);
  return bytes;
}

// Commands of a pickle.
inline std::string pickled_text(const std::string& text) {
  return "X" + raw(static_cast<std::uint32_t>(text.size())) + text;
}
inline std::string pickled_integer(std::int64_t value) {
  if (value >= 0 && value < 256) return std::string("K") + static_cast<char>(value);
  if (value >= INT32_MIN && value <= INT32_MAX) return "J" + raw(static_cast<std::int32_t>(value));
  return std::string("\x8a\x08") + raw(value);
}
inline std::string pickled_global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string pickled_tuple(const Shape& values) {
  std::string out = "(";
  for (const std::int64_t value : values) out += pickled_integer(value);
  return out + "t";
}
inline std::string pickled_storage(const std::string& type, const std::string& key, std::int64_t count) {
  return "(" + pickled_text("storage") + pickled_global("torch", type) + pickled_text(key) + pickled_text("cpu") +
         pickled_integer(count) + "tQ";
}
inline std::string pickled_tensor(const std::string& storage, std::int64_t offset, const Shape& shape,
                                  const Shape& strides) {
  return pickled_global("torch._utils", "_rebuild_tensor_v2") + "(" + storage + pickled_integer(offset) +
         pickled_tuple(shape) + pickled_tuple(strides) + "\x89" + pickled_global("collections", "OrderedDict") + ")RtR";
}
inline std::string pickle_of(const std::string& commands) { return std::string("\x80\x02", 2) + commands + "."; }

inline Shape rows_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t a = shape.size(); a-- > 1;) strides[a - 1] = strides[a] * shape[a];
  return strides;
}

// A zip of uncompressed entries.
using Entries = std::vector<std::pair<std::string, std::string>>;
inline std::string zip_of(const Entries& entries, std::uint16_t method = 0) {
  std::string out, directory;
  for (const auto& [name, bytes] : entries) {
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
    const std::string facts = raw(std::uint16_t{20}) + raw(std::uint16_t{0}) + raw(method) + raw(std::uint32_t{0}) +
                              raw(crc) + raw(static_cast<std::uint32_t>(bytes.size())) +
                              raw(static_cast<std::uint32_t>(bytes.size())) +
                              raw(static_cast<std::uint16_t>(name.size())) + raw(std::uint16_t{0});
    directory += "PK\1\2" + raw(std::uint16_t{20}) + facts + std::string(10, '\0') +
                 raw(static_cast<std::uint32_t>(out.size())) + name;
    out += "PK\3\4" + facts + name + bytes;
  }
  const auto count = static_cast<std::uint16_t>(entries.size());
  const std::string end = "PK\5\6" + std::string(4, '\0') + raw(count) + raw(count) +
                          raw(static_cast<std::uint32_t>(directory.size())) +
                          raw(static_cast<std::uint32_t>(out.size())) + std::string(2, '\0');
  return out + directory + end;
}

// A file of the pickle and storages 0, 1, ...
inline std::string torch_zip(const std::string& pickle, const std::vector<std::string>& storages) {
  Entries entries{{"made/data.pkl", pickle}, {"made/byteorder", "little"}};
  for (std::size_t i = 0; i < storages.size(); ++i) entries.emplace_back("made/data/" + std::to_string(i), storages[i]);
  entries.emplace_back("made/version", "3\n");
  return zip_of(entries);
}

// A dict of row-major float32 tensors.
struct TorchArray {
  std::string name;
  Shape shape;
  std::vector<float> values;
};
inline std::string torch_dict(const std::vector<TorchArray>& arrays) {
  std::string commands = "}(";
  std::vector<std::string> storages;
  for (const TorchArray& array : arrays) {
    const std::string key = std::to_string(storages.size());
    commands += pickled_text(array.name) +
                pickled_tensor(pickled_storage("FloatStorage", key, static_cast<std::int64_t>(array.values.size())), 0,
                               array.shape, rows_of(array.shape));
    storages.push_back(raw_all(array.values));
  }
  return torch_zip(pickle_of(commands + "u"), storages);
}

inline void write_torch(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace lano::test
