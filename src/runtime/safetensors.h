// The safetensors container: eight bytes of header length, a JSON header (name -> dtype, shape, data offsets, and text
// metadata), and the raw tensors. Reading checks every length and offset before use and executes nothing; writing is
// atomic and deterministic (same content, same bytes).
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace lano {

struct Tensor {
  Shape shape;
  std::vector<float> values;  // row-major
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;  // float32 only; other types are refused
};

TensorFile parse_safetensors(std::string_view bytes, std::string_view doing);
TensorFile read_safetensors(const std::filesystem::path& path);

std::string format_safetensors(const TensorFile& file);
void write_safetensors(const std::filesystem::path& path, const TensorFile& file);

}  // namespace lano
