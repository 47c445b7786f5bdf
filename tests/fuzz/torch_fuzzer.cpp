// bytes -> the pickle of a PyTorch file; bytes that begin like a zip -> the file, every tensor whole and in part.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "data/torch_file.h"
#include "data/torch_files.h"
#include "data/torch_pickle.h"
#include "fuzzer.h"

namespace {

struct ScratchFile {
  std::filesystem::path path;
  explicit ScratchFile(std::string_view bytes) {
    const std::filesystem::path folder =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
    path = folder / ("lano-fuzz-" + std::to_string(::getpid()) + ".pt");
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

constexpr std::int64_t kMostRead = std::int64_t{1} << 20;  // expanded tensors may be larger than their file

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.starts_with("PK")) {
    try {
      for (const lano::TorchTensor& tensor : lano::read_torch_pickle(bytes, "reading")) {
        // Every element lies in the storage, by arithmetic of our own.
        long double last = static_cast<long double>(tensor.offset);
        bool empty = tensor.is_number;
        for (std::size_t a = 0; a < tensor.shape.size(); ++a) {
          empty = empty || tensor.shape[a] == 0;
          if (tensor.shape[a] > 0)
            last += static_cast<long double>(tensor.shape[a] - 1) * static_cast<long double>(tensor.strides[a]);
        }
        if (!empty && last >= static_cast<long double>(tensor.storage_count)) std::abort();
      }
    } catch (const lano::Error&) {
    }
    return 0;
  }
  const ScratchFile file(bytes);
  try {
    for (const auto& source : lano::open_torch(file.path, lano::torch_keys(file.path))) {
      try {
        if (lano::element_count(source->shape()) > kMostRead) continue;
        const std::vector<float> all = source->read_all();
        std::vector<lano::AxisRange> first = source->whole();
        for (lano::AxisRange& range : first) range.count = std::min<std::int64_t>(range.count, 1);
        const std::vector<float> one = source->read(first);
        if (!one.empty() && std::memcmp(&one[0], &all[0], sizeof(float)) != 0) std::abort();
      } catch (const lano::Error&) {
      }
    }
  } catch (const lano::Error&) {
  }
  return 0;
}

namespace lano::fuzz {

std::vector<std::string> seeds() {
  using namespace lano::test;
  const std::string tensor = pickled_tensor(pickled_storage("DoubleStorage", "0", 12), 2, {2, 3}, {1, 4});
  const std::string numbers = raw_all<double>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const std::string nested = pickle_of("}(" + pickled_text("u") + "](" + tensor + "q\x01h\x01" + "e" +
                                       pickled_text("dt") + pickled_integer(70000) + "u");
  return {pickle_of(tensor),
          nested,
          pickle_of("(" + tensor + tensor + "t"),
          torch_zip(pickle_of(tensor), {numbers}),
          torch_zip(nested, {numbers}),
          torch_dict({{"x", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"y", {2}, {7, 8}}})};
}

std::vector<std::string> words() {
  using namespace lano::test;
  return {pickled_global("torch._utils", "_rebuild_tensor_v2"),
          pickled_global("collections", "OrderedDict"),
          pickled_global("torch", "FloatStorage"),
          pickled_global("torch", "HalfStorage"),
          pickled_global("torch", "BoolStorage"),
          pickled_global("torch", "Size"),
          pickled_text("storage"),
          pickled_integer(0),
          pickled_integer(70000),
          pickled_integer(INT64_MAX),
          pickled_tuple({2, 3}),
          "(",
          "t",
          "Q",
          "R",
          ")R",
          "]",
          "}",
          "e",
          "u",
          "s",
          "a",
          "b",
          "q\x01",
          "h\x01",
          "\x94",
          "\x8c\x03"
          "abc",
          "\x93",
          "\x95",
          "PK\x01\x02",
          "PK\x03\x04",
          "PK\x05\x06",
          "data.pkl",
          "data/0"};
}

}  // namespace lano::fuzz
