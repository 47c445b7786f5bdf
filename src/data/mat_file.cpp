// libmatio trusts the lengths in a v5 file, so they are checked first: the file is a header of 128 bytes and elements, each
// with a tag of type and length, and every element must end inside the file.
#include "data/mat_file.h"

#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <mutex>

#include "core/error.h"
#include "core/nearest.h"
#include "data/hdf5_file.h"

namespace lano {
namespace {

constexpr std::uint64_t kHeaderBytes = 128, kTagBytes = 8;
constexpr double kMostDeflation = 1100;  // values in a byte of a compressed file; deflate itself reaches 1032
constexpr std::size_t kBlockBytes = std::size_t{1} << 28;

// What libmatio says of its failures, kept off the terminal.
thread_local std::string matio_reason;

void collect_matio_messages() {
  static std::once_flag once;
  std::call_once(once, [] {
    Mat_LogInitFunc("lano", [](int level, char* message) {
      const bool failure = level == (MATIO_LOG_LEVEL_ERROR) || level == (MATIO_LOG_LEVEL_CRITICAL);
      if (failure) matio_reason = message != nullptr ? message : "an error";
    });
  });
  matio_reason.clear();
}

std::string reason_or(const std::string& text) { return matio_reason.empty() ? text : matio_reason; }

struct MatCloser {
  void operator()(mat_t* file) const { Mat_Close(file); }
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatHandle = std::unique_ptr<mat_t, MatCloser>;
using Variable = std::unique_ptr<matvar_t, MatCloser>;

bool is_v73(const std::filesystem::path& path) { return H5Fis_hdf5(path.c_str()) > 0; }

void check_there(const std::filesystem::path& path, const std::string& doing) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) fail(doing, "a file", "nothing at that path", "check the path");
  if (std::filesystem::is_directory(path, error)) fail(doing, "a file", "a folder", "name the file itself");
}

// Walks over the elements of a v5 file and fails where one ends beyond the file.
void check_v5_elements(const std::filesystem::path& path, const std::string& doing) {
  const std::uint64_t size = std::filesystem::file_size(path);
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, kHeaderBytes> header{};
  file.read(reinterpret_cast<char*>(header.data()), header.size());
  const bool little = header[126] == 'I' && header[127] == 'M', big = header[126] == 'M' && header[127] == 'I';
  if (!file || (!little && !big)) {
    fail(doing, "a MATLAB .mat file of version 5 to 7.3", "another kind of file, or a truncated one",
         "save it in MATLAB with save -v7, or with scipy.io.savemat");
  }
  for (std::uint64_t at = kHeaderBytes; at < size;) {
    std::array<unsigned char, kTagBytes> tag{};
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(tag.data()), tag.size());
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length |= std::uint64_t{tag[4 + i]} << (little ? 8 * i : 24 - 8 * i);
    if (!file || length > size - at - kTagBytes) {
      fail(doing, "a whole MATLAB file", "a truncated or damaged one", "copy the file again");
    }
    at += kTagBytes + length;
  }
}

MatHandle open_v5(const std::filesystem::path& path, const std::string& doing) {
  check_v5_elements(path, doing);
  collect_matio_messages();
  MatHandle file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  if (!file) fail(doing, "a readable MATLAB file", reason_or("a damaged one"), "copy the file again");
  return file;
}

std::vector<std::string> v5_keys(mat_t* file) {
  std::size_t count = 0;
  char* const* names = Mat_GetDir(file, &count);
  std::vector<std::string> keys;
  for (std::size_t i = 0; names != nullptr && i < count; ++i) {
    if (names[i] != nullptr) keys.emplace_back(names[i]);
  }
  return keys;
}

StridedCopy copy_of(matio_classes kind) {
  switch (kind) {
    case MAT_C_DOUBLE: return strided_copy<double>;
    case MAT_C_SINGLE: return strided_copy<float>;
    case MAT_C_INT8: return strided_copy<std::int8_t>;
    case MAT_C_UINT8: return strided_copy<std::uint8_t>;
    case MAT_C_INT16: return strided_copy<std::int16_t>;
    case MAT_C_UINT16: return strided_copy<std::uint16_t>;
    case MAT_C_INT32: return strided_copy<std::int32_t>;
    case MAT_C_UINT32: return strided_copy<std::uint32_t>;
    case MAT_C_INT64: return strided_copy<std::int64_t>;
    case MAT_C_UINT64: return strided_copy<std::uint64_t>;
    default: return nullptr;
  }
}

// Numbers, real and not more than the file can hold; its shape.
Shape checked_shape(const matvar_t& variable, std::uint64_t file_bytes, const std::string& doing) {
  if (copy_of(variable.class_type) == nullptr || variable.isComplex != 0) {
    fail(doing, "a full array of real numbers",
         variable.isComplex != 0 ? "complex numbers" : "text, a struct, a cell or a sparse matrix",
         "save its numbers as an array of their own");
  }
  Shape shape;
  double count = 1;
  for (int a = 0; a < variable.rank; ++a) {
    const std::size_t extent = variable.dims[a];
    count *= static_cast<double>(extent);
    shape.push_back(static_cast<std::int64_t>(std::min<std::size_t>(extent, std::numeric_limits<std::int32_t>::max())));
  }
  const double most = static_cast<double>(file_bytes) * (variable.compression == MAT_COMPRESSION_NONE ? 1 : kMostDeflation);
  if (variable.rank < 1 || count > most || count > std::numeric_limits<int>::max()) {
    fail(doing, "a shape that the file has values for", shape_text(shape), "copy the file again");
  }
  return shape;
}

class Mat5Source final : public ContiguousSource {
 public:
  Mat5Source(const std::string& doing, Shape shape, MatHandle file, Variable variable)
      : ContiguousSource(doing, std::move(shape), true, Mat_SizeOfClass(variable->class_type), copy_of(variable->class_type),
                         kBlockBytes),
        file_(std::move(file)),
        variable_(std::move(variable)) {}

  // The first axis, usually the samples, varies fastest: one sample lies all over the array.
  bool costly_parts() const override { return true; }

 private:
  // A run of elements is what libmatio reads fastest; its slabs go element by element.
  void read_elements(std::int64_t first, std::int64_t count, char* to) const override {
    collect_matio_messages();
    if (Mat_VarReadDataLinear(file_.get(), variable_.get(), to, static_cast<int>(first), 1, static_cast<int>(count)) != 0 ||
        !matio_reason.empty()) {
      fail(doing(), "readable values", reason_or("a damaged file"), "copy the file again");
    }
  }

  MatHandle file_;
  Variable variable_;
};

// v7.3: HDF5 with the axes of MATLAB in reverse.
class Mat73Source final : public ArraySource {
 public:
  Mat73Source(std::string doing, Hdf5File file, std::string key)
      : ArraySource(std::move(doing), reversed(file.shape(key))), file_(std::move(file)), key_(std::move(key)) {}

 private:
  static Shape reversed(const Shape& shape) { return {shape.rbegin(), shape.rend()}; }

  void read_into(const std::vector<AxisRange>& ranges, std::vector<float>& to) const override {
    std::vector<float> stored(to.size());
    file_.read_slab(key_, std::vector<AxisRange>(ranges.rbegin(), ranges.rend()), stored);
    Shape counts;
    for (const AxisRange& range : ranges) counts.push_back(range.count);
    strided_copy<float>(reinterpret_cast<const char*>(stored.data()), column_major_strides(counts), to.data(),
                        row_major_strides(counts), counts);
  }

  Hdf5File file_;
  std::string key_;
};

}  // namespace

std::vector<std::string> mat_keys(const std::filesystem::path& path) {
  const std::string doing = fmt::format("reading '{}'", path.string());
  check_there(path, doing);
  if (is_v73(path)) return Hdf5File::open(path).names();
  return v5_keys(open_v5(path, doing).get());
}

std::unique_ptr<ArraySource> open_mat(const std::filesystem::path& path, const std::string& key) {
  const std::string doing = fmt::format("reading '{}'", path.string());
  check_there(path, doing);
  const auto named = [&](const std::string& name) { return fmt::format("{}, array '{}'", doing, name); };
  if (is_v73(path)) {
    Hdf5File file = Hdf5File::open(path);
    const std::string name = file.numeric_array(key, doing);
    return std::make_unique<Mat73Source>(named(name), std::move(file), name);
  }
  MatHandle file = open_v5(path, doing);
  const std::vector<std::string> keys = v5_keys(file.get());
  const std::string name = key.empty() && keys.size() == 1 ? keys.front() : key;
  if (name.empty() || std::find(keys.begin(), keys.end(), name) == keys.end()) {
    fail_usage(doing, key.empty() ? "the name of one of its arrays" : fmt::format("an array '{}'", key),
               keys.empty() ? "no arrays" : fmt::format("the arrays {}", fmt::join(keys, ", ")),
               keys.empty() || key.empty() ? "" : fmt::format("did you mean '{}'?", nearest(key, keys)));
  }
  Variable variable(Mat_VarReadInfo(file.get(), name.c_str()));
  if (!variable) fail(named(name), "a readable array", reason_or("a damaged one"), "copy the file again");
  Shape shape = checked_shape(*variable, std::filesystem::file_size(path), named(name));
  return std::make_unique<Mat5Source>(named(name), std::move(shape), std::move(file), std::move(variable));
}

}  // namespace lano
