// Blocks of contiguous elements for formats without an index, hyperslabs for HDF5. A .npz is inflated whole: a zip
// entry cannot be entered in the middle.
#include "data/array_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "core/error.h"
#include "core/nearest.h"
#include "data/hdf5_file.h"
#include "data/mat_file.h"
#include "data/npy.h"
#include "data/torch_file.h"

namespace lano {
namespace {

constexpr std::string_view kKeyed[] = {".npz",  ".mat", ".h5",
                                       ".hdf5", ".pt",  ".pth"};  // files that hold arrays by name

// The arrays of an HDF5 file, last axis fastest as HDF5 has it.
class Hdf5Source final : public ArraySource {
 public:
  Hdf5Source(std::string doing, std::shared_ptr<Hdf5File> file, std::string key)
      : ArraySource(std::move(doing), file->shape(key)), file_(std::move(file)), key_(std::move(key)) {}

  std::string type() const override { return file_->type(key_); }

 private:
  void read_into(const std::vector<AxisRange>& ranges, std::vector<float>& to) const override {
    file_->read_slab(key_, ranges, to);
  }

  std::shared_ptr<Hdf5File> file_;
  std::string key_;
};

// An array already in memory.
class MemorySource final : public ContiguousSource {
 public:
  MemorySource(std::string doing, NumpyArray array)
      : ContiguousSource(std::move(doing), array.shape, false, sizeof(float), strided_copy<float>,
                         std::size_t{1} << 26),
        values_(std::move(array.values)) {}

 private:
  void read_elements(std::int64_t first, std::int64_t count, char* to) const override {
    std::memcpy(to, values_.data() + first, static_cast<std::size_t>(count) * sizeof(float));
  }

  std::vector<float> values_;
};

// Arrays of one shape, one after the other along a new first axis.
class StackedSource final : public ArraySource {
 public:
  StackedSource(Shape shape, std::vector<std::unique_ptr<ArraySource>> parts)
      : ArraySource(parts.front()->doing(), std::move(shape)), parts_(std::move(parts)) {}

  std::string type() const override { return parts_.front()->type(); }
  std::string doing_row(std::int64_t row) const override { return parts_[static_cast<std::size_t>(row)]->doing(); }

 private:
  void read_into(const std::vector<AxisRange>& ranges, std::vector<float>& to) const override {
    const std::vector<AxisRange> inside(ranges.begin() + 1, ranges.end());
    auto next = to.begin();
    for (std::int64_t i = 0; i < ranges[0].count; ++i) {
      const auto at = static_cast<std::size_t>(ranges[0].first + i * ranges[0].stride);
      const std::vector<float> values = parts_[at]->read(inside);
      next = std::copy(values.begin(), values.end(), next);
    }
  }

  std::vector<std::unique_ptr<ArraySource>> parts_;
};

Shape counts_of(const std::vector<AxisRange>& ranges) {
  Shape counts;
  for (const AxisRange& range : ranges) counts.push_back(range.count);
  return counts;
}

}  // namespace

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t a = shape.size(); a-- > 1;) strides[a - 1] = strides[a] * shape[a];
  return strides;
}

Shape column_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t a = 1; a < shape.size(); ++a) strides[a] = strides[a - 1] * shape[a - 1];
  return strides;
}

std::vector<float> permuted(std::span<const float> values, const Shape& shape, const std::vector<std::size_t>& order) {
  const Shape strides = row_major_strides(shape);
  Shape counts, from_strides;
  for (const std::size_t axis : order) {
    counts.push_back(shape[axis]);
    from_strides.push_back(strides[axis]);
  }
  std::vector<float> out(values.size());
  strided_copy<float>(reinterpret_cast<const char*>(values.data()), from_strides, out.data(), row_major_strides(counts),
                      counts);
  return out;
}

std::vector<AxisRange> ArraySource::whole() const {
  std::vector<AxisRange> ranges;
  for (const std::int64_t extent : shape_) ranges.push_back({0, extent, 1});
  return ranges;
}

std::vector<float> ArraySource::read(const std::vector<AxisRange>& ranges) const {
  if (ranges.size() != shape_.size()) {
    fail(doing_, fmt::format("{} ranges, one per axis", shape_.size()), std::to_string(ranges.size()));
  }
  std::size_t count = 1;
  std::vector<AxisRange> inside = ranges;
  for (std::size_t a = 0; a < ranges.size(); ++a) {
    const AxisRange& range = ranges[a];
    const bool there = range.first >= 0 && range.count >= 0 && range.stride >= 1 &&
                       (range.count == 0 ||
                        (range.first < shape_[a] && range.count - 1 <= (shape_[a] - 1 - range.first) / range.stride));
    if (!there) {
      fail(doing_, fmt::format("indices below {} on axis {}", shape_[a], a),
           fmt::format("{} of them from {} on", range.count, range.first), "ask for fewer samples");
    }
    if (range.count <= 1) inside[a].stride = 1;      // no step is made, whatever its length
    count *= static_cast<std::size_t>(range.count);  // not more than the array has
  }
  // An array a file truly has may still be more than this machine holds: better a sentence than the out-of-memory
  // killer.
  static const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (static_cast<double>(count) * sizeof(float) > memory) {
    fail(doing_, fmt::format("values that fit in {:.1f} GB of memory", memory / 1e9),
         fmt::format("{} of shape {}", count, shape_text(shape_)), "ask for fewer samples");
  }
  std::vector<float> values;
  try {
    values.resize(count);
    if (count > 0) read_into(inside, values);
  } catch (const std::bad_alloc&) {
    fail(doing_, "a shape that fits in memory", shape_text(shape_), "ask for fewer samples");
  } catch (const std::length_error&) {
    fail(doing_, "a shape that fits in memory", shape_text(shape_), "ask for fewer samples");
  }
  return values;
}

void ContiguousSource::read_into(const std::vector<AxisRange>& ranges, std::vector<float>& to) const {
  std::vector<AxisRange> selected = ranges;
  Shape extents = shape();
  if (extents.empty()) {  // a single number
    extents = {1};
    selected = {{0, 1, 1}};
  }
  const std::size_t rank = extents.size();
  const Shape file_strides = column_major_ ? column_major_strides(extents) : row_major_strides(extents);
  Shape counts = counts_of(selected);
  const Shape to_strides = row_major_strides(counts);
  // The slowest axis of more than one index; slower ones have nothing to select.
  std::size_t slow = column_major_ ? rank - 1 : 0;
  while (extents[slow] == 1 && slow != (column_major_ ? 0 : rank - 1)) slow += column_major_ ? std::size_t(-1) : 1;

  Shape from_strides(rank);
  std::int64_t offset = 0;  // of the first element inside one slice of the slow axis
  for (std::size_t a = 0; a < rank; ++a) {
    from_strides[a] = file_strides[a] * selected[a].stride;
    if (a != slow) offset += selected[a].first * file_strides[a];
  }
  const AxisRange along = selected[slow];
  const std::int64_t slice = file_strides[slow];
  const auto step_bytes = static_cast<std::size_t>(slice * along.stride) * element_size_;
  const std::int64_t at_once = std::max<std::int64_t>(1, static_cast<std::int64_t>(block_bytes_ / step_bytes));
  std::vector<char> block;
  for (std::int64_t done = 0; done < along.count; done += at_once) {
    counts[slow] = std::min(at_once, along.count - done);
    const std::int64_t elements = ((counts[slow] - 1) * along.stride + 1) * slice;
    block.resize(static_cast<std::size_t>(elements) * element_size_);
    read_elements((along.first + done * along.stride) * slice, elements, block.data());
    copy_(block.data() + static_cast<std::size_t>(offset) * element_size_, from_strides,
          to.data() + done * to_strides[slow], to_strides, counts);
  }
}

std::optional<ArrayName> parse_array_name(std::string_view text) {
  if (text.ends_with(".npy")) return ArrayName{std::filesystem::path(text), ""};
  for (const std::string_view extension : kKeyed) {
    if (text.ends_with(extension)) return ArrayName{std::filesystem::path(text), ""};
    const auto at = text.rfind(fmt::format("{}:", extension));
    if (at == std::string_view::npos) continue;
    const std::size_t colon = at + extension.size();
    return ArrayName{std::filesystem::path(text.substr(0, colon)), std::string(text.substr(colon + 1))};
  }
  return std::nullopt;
}

std::unique_ptr<ArraySource> open_array(const std::filesystem::path& file, const std::string& key) {
  return std::move(open_arrays(file, {key}).front());
}

std::vector<std::unique_ptr<ArraySource>> open_arrays(const std::filesystem::path& file,
                                                      const std::vector<std::string>& keys) {
  const std::string extension = file.extension().string(), doing = fmt::format("reading '{}'", file.string());
  if (extension == ".pt" || extension == ".pth") return open_torch(file, keys);
  std::vector<std::unique_ptr<ArraySource>> sources;
  if (extension == ".h5" || extension == ".hdf5") {
    const auto hdf5 = std::make_shared<Hdf5File>(Hdf5File::open(file));
    for (const std::string& key : keys) {
      const std::string found = hdf5->numeric_array(key, doing);
      sources.push_back(std::make_unique<Hdf5Source>(fmt::format("{}, array '{}'", doing, found), hdf5, found));
    }
    return sources;
  }
  for (const std::string& key : keys) {
    if (extension == ".npy") {
      sources.push_back(open_npy(file));
    } else if (extension == ".mat") {
      sources.push_back(open_mat(file, key));
    } else if (extension == ".npz") {
      sources.push_back(std::make_unique<MemorySource>(key.empty() ? doing : fmt::format("{}, array '{}'", doing, key),
                                                       read_numpy(file, key)));
    } else {
      fail_usage_plainly(doing,
                         extension.empty() ? std::string("its name has no extension")
                                           : fmt::format("'{}' is not the extension of an array file", extension),
                         "name a .npy, .npz, .mat, .h5, .hdf5, .pt or .pth file");
    }
  }
  return sources;
}

std::unique_ptr<ArraySource> stack_arrays(std::vector<std::unique_ptr<ArraySource>> parts) {
  const Shape first = parts.front()->shape();
  for (const auto& part : parts) {
    if (part->shape() != first)
      fail(part->doing(), fmt::format("shape {}, as in the first sample", shape_text(first)), shape_text(part->shape()),
           "clouds of different sizes need --coords");
  }
  Shape shape{static_cast<std::int64_t>(parts.size())};
  shape.insert(shape.end(), first.begin(), first.end());
  return std::make_unique<StackedSource>(std::move(shape), std::move(parts));
}

std::vector<ArrayInfo> list_arrays(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".npy" || extension == ".npz") return numpy_arrays(file);
  if (extension == ".mat") return mat_arrays(file);
  if (extension == ".pt" || extension == ".pth") {
    std::vector<ArrayInfo> arrays;
    const std::vector<std::string> keys = torch_keys(file);
    const auto sources = open_torch(file, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) arrays.push_back({keys[i], sources[i]->shape(), sources[i]->type()});
    return arrays;
  }
  return Hdf5File::open(file).arrays();
}

bool has_array_extension(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".npy" || std::find(std::begin(kKeyed), std::end(kKeyed), extension) != std::end(kKeyed);
}

void fail_no_array(const std::string& doing, const std::string& key, const std::vector<std::string>& names) {
  if (names.empty()) fail_usage_plainly(doing, "there are no arrays of numbers in it");
  fail_usage(doing, key.empty() ? "the name of one of its arrays" : fmt::format("an array '{}'", key),
             fmt::format("the arrays {}", fmt::join(names, ", ")), key.empty() ? "" : did_you_mean(key, names));
}

}  // namespace lano
