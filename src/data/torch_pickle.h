// What a PyTorch file says it holds: the pickle "data.pkl" of its zip, read by our own pickle machine, which knows
// plain tensors, numbers, texts, and lists, tuples and dicts of them. Nothing is looked up, called or imported; a
// pickle that names anything else is refused. Private to src/data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace lano {

// One number type of PyTorch's storages.
enum class TorchType { float64, float32, float16, bfloat16, int64, int32, int16, int8, uint8, boolean };

std::size_t torch_type_bytes(TorchType type);
const char* torch_type_name(TorchType type);

// A tensor: elements of a storage, which is a file of the archive. Strides and offset are in elements.
struct TorchTensor {
  std::string name;     // its place: keys and indices joined by '/'; empty for a file of one tensor
  std::string storage;  // the archive's file data/<storage>
  TorchType type = TorchType::float32;
  std::int64_t storage_count = 0;  // elements of the storage
  std::int64_t offset = 0;
  Shape shape, strides;
  bool is_number = false;  // a number of Python's, kept in `number`
  double number = 0;
};

// The tensors and numbers in the order of the file. Every index lies inside its storage, as far as the pickle shows;
// the storage's true size is for the reader of the archive to check. `doing` opens error messages.
std::vector<TorchTensor> read_torch_pickle(std::string_view bytes, const std::string& doing);

}  // namespace lano
