#include "runtime/safetensors.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/strict_json.h"

namespace lano {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxHeader =
    8'000'000;  // a LANO of the paper's size has 30,000; in memory JSON is up to 16 times as large
constexpr std::size_t kAlignment = 8;

struct Entry {
  std::string name;
  Shape shape;
  std::size_t begin = 0, end = 0;
};

std::size_t checked_bytes(const Shape& shape, const std::string& name, std::string_view doing) {
  std::size_t bytes = sizeof(float);
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) fail(doing, fmt::format("no negative axis in tensor '{}'", name), shape_text(shape));
    const auto e = static_cast<std::size_t>(extent);
    if (e != 0 && bytes > std::numeric_limits<std::size_t>::max() / e) {
      fail(doing, fmt::format("a size that fits in memory for tensor '{}'", name), shape_text(shape));
    }
    bytes *= std::max<std::size_t>(e, 1);  // the other axes of an empty tensor must fit, too
    empty = empty || e == 0;
  }
  return empty ? 0 : bytes;
}

Entry parse_entry(const std::string& name, const json& item, std::size_t data_size, std::string_view doing) {
  Entry entry{name, {}, 0, 0};
  try {
    if (item.at("dtype").get<std::string>() != "F32") {
      fail(doing, fmt::format("type F32 for tensor '{}'", name), item.at("dtype").get<std::string>(),
           "save the weights as float32");
    }
    entry.shape = whole_numbers(item.at("shape"), doing, fmt::format("shape of tensor '{}'", name));
    const auto offsets =
        whole_numbers(item.at("data_offsets"), doing, fmt::format("data_offsets of tensor '{}'", name));
    if (offsets.size() != 2)
      fail(doing, fmt::format("two offsets for tensor '{}'", name), std::to_string(offsets.size()));
    entry.begin = static_cast<std::size_t>(offsets[0]);  // a negative one is larger than any file
    entry.end = static_cast<std::size_t>(offsets[1]);
  } catch (const json::exception& error) {
    fail(doing, fmt::format("dtype, shape and data_offsets for tensor '{}'", name), json_reason(error));
  }
  if (entry.begin > entry.end || entry.end > data_size ||
      entry.end - entry.begin != checked_bytes(entry.shape, name, doing)) {
    fail(doing,
         fmt::format("offsets of tensor '{}' inside the file and matching its shape {}", name, shape_text(entry.shape)),
         fmt::format("{} to {} of {}", entry.begin, entry.end, data_size), "the file is damaged: copy it again");
  }
  return entry;
}

}  // namespace

TensorFile parse_safetensors(std::string_view bytes, std::string_view doing) {
  std::uint64_t length = 0;
  if (bytes.size() >= 8) std::memcpy(&length, bytes.data(), 8);
  if (bytes.size() < 8 || length > bytes.size() - 8 || length > kMaxHeader || length < 2 || bytes[8] != '{') {
    fail_plainly(doing, "it is not a .safetensors file, or not the whole of one", "name a model file written by lano");
  }
  const json header = parse_json(bytes.substr(8, length), doing, "the header");
  if (!header.is_object())
    fail(doing, "a JSON object as header", header.type_name(), "the file is damaged: copy it again");
  const std::string_view data = bytes.substr(8 + length);

  TensorFile file;
  std::vector<Entry> entries;
  for (const auto& [name, item] : header.items()) {
    if (name == "__metadata__") {
      if (!item.is_object())
        fail_plainly(doing, "__metadata__ holds something other than text", "the file is damaged: copy it again");
      for (const auto& [key, value] : item.items()) {
        if (!value.is_string()) fail(doing, fmt::format("text in __metadata__ '{}'", key), value.type_name());
        file.metadata[key] = value.get<std::string>();
      }
    } else {
      entries.push_back(parse_entry(name, item, data.size(), doing));
    }
  }
  // Tensors must tile the data exactly: no overlap, no hole, nothing after them.
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::size_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) {
      fail(doing, fmt::format("tensor '{}' to start at byte {}", entry.name, at), std::to_string(entry.begin),
           "tensors overlap or leave holes: the file is damaged");
    }
    at = entry.end;
    Tensor tensor{entry.shape, std::vector<float>((entry.end - entry.begin) / sizeof(float))};
    if (!tensor.values.empty()) std::memcpy(tensor.values.data(), data.data() + entry.begin, entry.end - entry.begin);
    file.tensors.emplace(entry.name, std::move(tensor));
  }
  if (at != data.size()) {
    fail(doing, fmt::format("{} bytes of tensors", at), std::to_string(data.size()),
         "the file is damaged: copy it again");
  }
  return file;
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(read_file(path, "reading"), fmt::format("reading '{}'", path.string()));
}

std::string format_safetensors(const TensorFile& file) {
  nlohmann::ordered_json header;
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  std::size_t at = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const std::size_t bytes = tensor.values.size() * sizeof(float);
    header[name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.empty() ? "{}" : header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += text;
  for (const auto& [name, tensor] : file.tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
  }
  return bytes;
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  write_file_atomically(path, format_safetensors(file));
}

}  // namespace lano
