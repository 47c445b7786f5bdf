// bytes -> .npy, whole and in parts, with the same result; bytes that begin like a zip -> .npz.
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "data/npy.h"
#include "fuzzer.h"

namespace {

// In memory where the machine has such a folder.
std::filesystem::path scratch_file(const char* extension) {
  const std::filesystem::path folder =
      std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
  return folder / ("lano-fuzz-" + std::to_string(::getpid()) + extension);
}

struct ScratchFile {
  std::filesystem::path path;
  ScratchFile(const char* extension, std::string_view bytes) : path(scratch_file(extension)) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("PK")) {
    const ScratchFile file(".npz", bytes);
    try {
      for (const std::string& key : lano::numpy_keys(file.path)) {
        try {
          lano::read_numpy(file.path, key);
        } catch (const lano::Error&) {
        }
      }
    } catch (const lano::Error&) {
    }
    return 0;
  }
  lano::NumpyArray whole;
  bool taken = true;
  try {
    whole = lano::parse_npy(bytes, "reading");
  } catch (const lano::Error&) {
    taken = false;
  }
  // Files cost a system call each: only where there is an array, and for a share of the others.
  if (!taken && size % 16 != 0) return 0;
  const ScratchFile file(".npy", bytes);
  try {
    if (!same(lano::open_npy(file.path)->read_all(), whole.values) || !taken) std::abort();
  } catch (const lano::Error&) {
    if (taken) std::abort();
  }
  return 0;
}

namespace lano::fuzz {
namespace {

std::string npy(int version, const std::string& dict, const std::string& data) {
  std::string bytes("\x93NUMPY");
  bytes += {static_cast<char>(version), '\0', static_cast<char>(dict.size()), '\0'};
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + dict + data;
}

std::string dict(const char* type, const char* order, const char* shape) {
  return std::string("{'descr': '") + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all{npy(1, dict("<f4", "False", "(2, 3)"), std::string(24, '\1')),
                               npy(2, dict("<f8", "True", "(3, 2, 1)"), std::string(48, '\2')),
                               npy(3, dict("|u1", "False", "(5,)"), "abcde"),
                               npy(1, dict("<i8", "False", "()"), std::string(8, '\3')),
                               npy(1, dict("<u2", "True", "(0, 7)"), ""),
                               npy(1, dict("|O", "False", "(1,)"), "cos\nsystem\n.")};
  for (const char* name : {"numpy.npz", "pair_train.npz", "pair_test.npz"})
    all.push_back(read_file(std::filesystem::path(LANO_TEST_FILES) / name, "reading"));
  return all;
}

std::vector<std::string> words() {
  return {"'descr': ",
          "'fortran_order': ",
          "'shape': ",
          "True",
          "False",
          "(",
          ")",
          ", ",
          "'",
          "{",
          "}",
          "\n",
          "<f4",
          "<f8",
          ">f4",
          "<i2",
          "<u8",
          "|b1",
          "|O",
          "<U4",
          "4294967296",
          "-1",
          "9223372036854775807",
          "(0, 9223372036854775807)",
          "PK\x01\x02",
          "PK\x03\x04",
          "PK\x05\x06",
          "PK\x06\x06",
          "\x93NUMPY",
          std::string("\x01\x00", 2),
          "\xff\xff\xff\xff"};
}

}  // namespace lano::fuzz
