// Which of the two kinds a file is, and where its arrays are read: v5 to v7 by our own reader (mat5_file.h), v7.3 as
// HDF5.
#include "data/mat_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "data/hdf5_file.h"
#include "data/mat5_file.h"

namespace lano {
namespace {

// v7.3: HDF5 with the axes of MATLAB in reverse.
class Mat73Source final : public ArraySource {
 public:
  Mat73Source(std::string doing, Hdf5File file, std::string key)
      : ArraySource(std::move(doing), reversed(file.shape(key))), file_(std::move(file)), key_(std::move(key)) {}

  std::string type() const override { return file_.type(key_); }

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

Mat5File open_v5(const std::filesystem::path& path, const std::string& doing) {
  const std::uint64_t bytes = file_bytes(path, doing);
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) fail(doing, "a readable file", errno_text(errno), "check its permissions");
  return {std::move(file), bytes, doing};
}

}  // namespace

std::vector<std::string> mat_keys(const std::filesystem::path& path) {
  const std::string doing = fmt::format("reading '{}'", path.string());
  file_bytes(path, doing);
  if (Hdf5File::is_hdf5(path)) return Hdf5File::open(path).names();
  return open_v5(path, doing).names();
}

std::vector<ArrayInfo> mat_arrays(const std::filesystem::path& path) {
  const std::string doing = fmt::format("reading '{}'", path.string());
  file_bytes(path, doing);
  if (!Hdf5File::is_hdf5(path)) return open_v5(path, doing).arrays();
  std::vector<ArrayInfo> arrays = Hdf5File::open(path).arrays();
  for (ArrayInfo& array : arrays) std::reverse(array.shape.begin(), array.shape.end());  // as MATLAB has its axes
  return arrays;
}

std::unique_ptr<ArraySource> open_mat(const std::filesystem::path& path, const std::string& key) {
  const std::string doing = fmt::format("reading '{}'", path.string());
  file_bytes(path, doing);
  if (Hdf5File::is_hdf5(path)) {
    Hdf5File file = Hdf5File::open(path);
    const std::string name = file.numeric_array(key, doing);
    return std::make_unique<Mat73Source>(fmt::format("{}, array '{}'", doing, name), std::move(file), name);
  }
  return Mat5File::open(open_v5(path, doing), key, doing);
}

}  // namespace lano
