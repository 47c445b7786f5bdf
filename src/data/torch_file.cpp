// A part of a tensor lies between a first and a last element of its storage. If that stretch is short it is read at
// once and the elements picked from it; otherwise the part is halved along the axis of the longest step, so that memory
// stays bounded whatever the strides. Before the first part is read the storage's checksum is compared, in one pass.
#include "data/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <mutex>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/nearest.h"
#include "data/torch_pickle.h"
#include "data/zip_archive.h"

namespace lano {
namespace {

constexpr std::uint64_t kLongestPickle = std::uint64_t{1} << 26;
constexpr std::size_t kBlockBytes = std::size_t{1} << 25;

// IEEE half precision and its cousin with float32's exponent; neither is a type of C++20.
struct Half {
  std::uint16_t bits;
  explicit operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16, fraction = bits & 0x3ffu;
    const int exponent = bits >> 10 & 0x1f;
    if (exponent == 0) {  // zero and subnormal numbers: fraction x 2^-24
      const float size = static_cast<float>(fraction) * 0x1p-24f;
      return sign != 0 ? -size : size;
    }
    const std::uint32_t wide = exponent == 31 ? 255u : static_cast<std::uint32_t>(exponent + 112);
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
  }
};
struct Bfloat16 {
  std::uint16_t bits;
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

StridedCopy copy_of(TorchType type) {
  switch (type) {
    case TorchType::float64:
      return strided_copy<double>;
    case TorchType::float32:
      return strided_copy<float>;
    case TorchType::float16:
      return strided_copy<Half>;
    case TorchType::bfloat16:
      return strided_copy<Bfloat16>;
    case TorchType::int64:
      return strided_copy<std::int64_t>;
    case TorchType::int32:
      return strided_copy<std::int32_t>;
    case TorchType::int16:
      return strided_copy<std::int16_t>;
    case TorchType::int8:
      return strided_copy<std::int8_t>;
    default:
      return strided_copy<std::uint8_t>;
  }
}

class TorchFile {
 public:
  explicit TorchFile(const std::filesystem::path& path) : doing_(fmt::format("reading '{}'", path.string())) {
    file_bytes(path, doing_);
    char magic[2] = {};
    std::ifstream(path, std::ios::binary).read(magic, 2);
    int error = 0;
    if (std::string_view(magic, 2) == "PK") archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &error));
    if (!archive_) {
      // Before 1.6 a file was a pickle (0x80, version) or a tar.
      const bool pickle = static_cast<unsigned char>(magic[0]) == 0x80;
      if (pickle)
        fail(doing_, "a PyTorch file as torch.save writes it since version 1.6 (a zip)", "a pickle, its older form",
             "load it in PyTorch and save it again with torch.save");
      fail_plainly(
          doing_, "it is not a PyTorch file as torch.save writes it since version 1.6 (a zip), or not the whole of one",
          "copy the file again");
    }
    const zip_int64_t pickle = find_pickle();
    if (const zip_int64_t order = zip_name_locate(archive_.get(), (folder_ + "byteorder").c_str(), 0);
        order >= 0 && read_whole(order, 16) != "little") {
      fail_plainly(doing_, "its numbers are not in little-endian order", "save it again on a PC");
    }
    pickle_ = read_whole(pickle, kLongestPickle);
    tensors_ = read_torch_pickle(pickle_, doing_);
  }

  const std::vector<TorchTensor>& tensors() const { return tensors_; }
  const std::string& doing() const { return doing_; }

  // `bytes` of a storage, from `first` on.
  void read(const TorchTensor& tensor, std::uint64_t first, std::uint64_t bytes, char* to, const std::string& doing) {
    const std::lock_guard lock(mutex_);
    if (open_storage_ != tensor.storage) open(tensor, doing);
    const auto complain = [&] { fail(doing, "readable values", "a read error", "copy the file again"); };
    if (zip_fseek(entry_.get(), static_cast<zip_int64_t>(first), SEEK_SET) != 0) complain();
    for (std::uint64_t done = 0; done < bytes;) {
      const zip_int64_t got = zip_fread(entry_.get(), to + done, bytes - done);
      if (got <= 0) complain();
      done += static_cast<std::uint64_t>(got);
    }
  }

 private:
  zip_int64_t find_pickle() {
    zip_int64_t found = -1;
    for (zip_int64_t i = 0; i < zip_get_num_entries(archive_.get(), 0); ++i) {
      const char* raw = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
      const std::string_view name = raw != nullptr ? raw : "";
      if (!name.ends_with("data.pkl") || (name.size() > 8 && name[name.size() - 9] != '/')) continue;
      if (found >= 0) fail_plainly(doing_, "it has several 'data.pkl'", "save it again with torch.save");
      found = i;
      folder_ = name.substr(0, name.size() - 8);
    }
    if (found < 0)
      fail_plainly(doing_, "the zip has no 'data.pkl', so it is not a PyTorch file",
                   "NumPy's archives have the extension .npz");
    return found;
  }

  // An entry as torch.save writes it, uncompressed; its stated size is then that of bytes in the file.
  std::uint64_t stored_bytes(zip_int64_t index, const std::string& doing) const {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (index < 0 || zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(index), 0, &stat) != 0 ||
        (stat.valid & kNeeded) != kNeeded)
      fail(doing, "a whole zip", "a damaged one", "copy the file again");
    if (stat.comp_method != ZIP_CM_STORE || stat.size != stat.comp_size)
      fail(doing, "uncompressed entries, as torch.save writes them", "compressed ones", "save it with torch.save");
    return stat.size;
  }

  std::string read_whole(zip_int64_t index, std::uint64_t most) const {
    const std::uint64_t size = stored_bytes(index, doing_);
    if (size > most) fail(doing_, fmt::format("an entry of at most {} bytes", most), std::to_string(size));
    const ZipEntry entry(zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0));
    if (!entry) fail(doing_, "a readable zip entry", "a damaged or encrypted one", "copy the file again");
    std::string bytes, block(std::size_t{1} << 16, '\0');
    for (zip_int64_t got = 0; (got = zip_fread(entry.get(), block.data(), block.size())) != 0;) {
      if (got < 0 || bytes.size() + static_cast<std::size_t>(got) > size)
        fail(doing_, "a whole zip entry", "a damaged one", "copy the file again");
      bytes.append(block, 0, static_cast<std::size_t>(got));
    }
    if (bytes.size() != size) fail(doing_, "a whole zip entry", "a damaged one", "copy the file again");
    return bytes;
  }

  void open(const TorchTensor& tensor, const std::string& doing) {
    open_storage_.clear();
    entry_.reset();
    const zip_int64_t index = zip_name_locate(archive_.get(), (folder_ + "data/" + tensor.storage).c_str(), 0);
    if (index < 0)
      fail_plainly(doing, fmt::format("'data/{}' with its numbers is missing", tensor.storage), "copy the file again");
    const std::uint64_t size = stored_bytes(index, doing), width = torch_type_bytes(tensor.type);
    if (size != static_cast<std::uint64_t>(tensor.storage_count) * width)
      fail(doing, fmt::format("{} numbers of {} bytes", tensor.storage_count, width), fmt::format("{} bytes", size),
           "copy the file again");
    // libzip compares the checksum when an entry is read from its start to its end.
    if (std::find(checked_.begin(), checked_.end(), tensor.storage) == checked_.end()) {
      const ZipEntry all(zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0));
      std::string block(std::size_t{1} << 20, '\0');
      zip_int64_t got = all ? 1 : -1;
      std::uint64_t seen = 0;
      while (got > 0 && (got = zip_fread(all.get(), block.data(), block.size())) > 0)
        seen += static_cast<std::uint64_t>(got);
      if (got < 0 || seen != size) fail(doing, "whole numbers", "a damaged zip entry", "copy the file again");
      checked_.push_back(tensor.storage);
    }
    entry_.reset(zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0));
    if (!entry_) fail(doing, "a readable zip entry", "a damaged or encrypted one", "copy the file again");
    open_storage_ = tensor.storage;
  }

  std::string doing_, folder_, pickle_;
  ZipArchive archive_;
  std::vector<TorchTensor> tensors_;
  std::mutex mutex_;
  ZipEntry entry_;  // of the storage read last; closed before the archive
  std::string open_storage_;
  std::vector<std::string> checked_;
};

class TorchSource final : public ArraySource {
 public:
  TorchSource(std::string doing, std::shared_ptr<TorchFile> file, TorchTensor tensor)
      : ArraySource(std::move(doing), tensor.shape), file_(std::move(file)), tensor_(std::move(tensor)) {}

  std::string type() const override { return torch_type_name(tensor_.type); }
  // Where samples are not the slowest axis each of them is spread over the storage.
  bool costly_parts() const override {
    return !tensor_.strides.empty() &&
           *std::max_element(tensor_.strides.begin(), tensor_.strides.end()) > tensor_.strides.front();
  }

 private:
  void read_into(const std::vector<AxisRange>& ranges, std::vector<float>& to) const override {
    if (tensor_.is_number) {
      to.front() = static_cast<float>(tensor_.number);
      return;
    }
    Shape counts;
    for (const AxisRange& range : ranges) counts.push_back(range.count);
    read_part(ranges, to.data(), row_major_strides(counts));
  }

  void read_part(const std::vector<AxisRange>& ranges, float* to, const Shape& to_strides) const {
    std::int64_t first = tensor_.offset, stretch = 1, longest = 0;
    std::size_t slow = 0;
    Shape from_strides, counts;
    for (std::size_t a = 0; a < ranges.size(); ++a) {
      const std::int64_t step = tensor_.strides[a] * ranges[a].stride;
      first += ranges[a].first * tensor_.strides[a];
      stretch += (ranges[a].count - 1) * step;
      from_strides.push_back(step);
      counts.push_back(ranges[a].count);
      if (ranges[a].count > 1 && step > longest) {
        longest = step;
        slow = a;
      }
    }
    const std::size_t width = torch_type_bytes(tensor_.type);
    if (static_cast<std::size_t>(stretch) * width > kBlockBytes && longest > 0) {
      std::vector<AxisRange> half = ranges;
      const std::int64_t middle = ranges[slow].count / 2;
      half[slow].count = middle;
      read_part(half, to, to_strides);
      half[slow].first += middle * half[slow].stride;
      half[slow].count = ranges[slow].count - middle;
      read_part(half, to + middle * to_strides[slow], to_strides);
      return;
    }
    std::vector<char> block(static_cast<std::size_t>(stretch) * width);
    file_->read(tensor_, static_cast<std::uint64_t>(first) * width, block.size(), block.data(), doing());
    copy_of(tensor_.type)(block.data(), from_strides, to, to_strides, counts);
  }

  std::shared_ptr<TorchFile> file_;
  TorchTensor tensor_;
};

}  // namespace

std::vector<std::string> torch_keys(const std::filesystem::path& path) {
  std::vector<std::string> keys;
  const TorchFile file(path);
  for (const TorchTensor& tensor : file.tensors()) keys.push_back(tensor.name);
  return keys;
}

std::vector<std::unique_ptr<ArraySource>> open_torch(const std::filesystem::path& path,
                                                     const std::vector<std::string>& keys) {
  const auto file = std::make_shared<TorchFile>(path);
  std::vector<std::string> names;
  for (const TorchTensor& tensor : file->tensors()) names.push_back(tensor.name);
  std::vector<std::unique_ptr<ArraySource>> sources;
  for (const std::string& key : keys) {
    const std::string wanted = key.empty() && names.size() == 1 ? names.front() : key;
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) fail_no_array(file->doing(), key, names);
    const TorchTensor& tensor = file->tensors()[static_cast<std::size_t>(found - names.begin())];
    std::string doing = wanted.empty() ? file->doing() : fmt::format("{}, array '{}'", file->doing(), wanted);
    sources.push_back(std::make_unique<TorchSource>(std::move(doing), file, tensor));
  }
  return sources;
}

}  // namespace lano
