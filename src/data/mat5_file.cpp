// A file is a header of 128 bytes and elements, each a tag (type, length) and its bytes. A variable is an element
// `matrix`, or an element `compressed` that inflates (zlib) to one; inside are the elements flags, dimensions, name and
// numbers, each padded to eight bytes; up to four bytes may sit in the tag itself. Public description: "MAT-File
// Format", The MathWorks. Cost: opening reads the tags and inflates the first bytes of each variable; reading inflates
// from where the last read ended, or again from the start of the variable if it lies before that.
#include "data/mat5_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/error.h"

namespace lano {
namespace {

constexpr std::uint64_t kHeaderBytes = 128, kTagBytes = 8;
constexpr std::uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14, kCompressed = 15, kUtf8 = 16;
constexpr int kOpaque = 17;                   // a class whose element is built otherwise, and holds no numbers
constexpr std::uint64_t kLongestName = 4096;  // MATLAB itself allows 63 characters
constexpr std::size_t kMostAxes = 32;
constexpr std::uint64_t kMostDeflation = 1032;  // bytes that one byte of a deflate stream can stand for
constexpr std::size_t kBlockBytes = std::size_t{1} << 28;
constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

struct Number {
  std::size_t size;
  StridedCopy copy;
};

Number number(int type) {
  switch (type) {
    case 1:
      return {1, strided_copy<std::int8_t>};
    case 2:
      return {1, strided_copy<std::uint8_t>};
    case 3:
      return {2, strided_copy<std::int16_t>};
    case 4:
      return {2, strided_copy<std::uint16_t>};
    case 5:
      return {4, strided_copy<std::int32_t>};
    case 6:
      return {4, strided_copy<std::uint32_t>};
    case 7:
      return {4, strided_copy<float>};
    case 9:
      return {8, strided_copy<double>};
    case 12:
      return {8, strided_copy<std::int64_t>};
    case 13:
      return {8, strided_copy<std::uint64_t>};
    default:
      return {0, nullptr};
  }
}

[[noreturn]] void fail_damaged(const std::string& doing) {
  fail(doing, "a complete MATLAB file", "a truncated or damaged one", "copy the file again");
}

std::uint32_t word(const unsigned char* bytes, bool swapped) {
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < 4; ++i) value |= std::uint32_t{bytes[i]} << (swapped ? 24 - 8 * i : 8 * i);
  return value;
}

// The bytes of one variable in order, from its matrix tag on: as they stand in the file, or inflated.
class VariableBytes {
 public:
  VariableBytes(std::istream& file, const Mat5Variable& variable, std::string doing)
      : file_(file),
        begin_(variable.element_begin),
        bytes_(variable.element_bytes),
        compressed_(variable.compressed),
        doing_(std::move(doing)) {
    if (compressed_ && inflateInit(&zlib_) != Z_OK) fail(doing_, "memory to inflate", "too little");
  }
  ~VariableBytes() {
    if (compressed_) inflateEnd(&zlib_);
  }
  VariableBytes(const VariableBytes&) = delete;
  VariableBytes& operator=(const VariableBytes&) = delete;

  std::uint64_t position() const { return position_; }

  void read(char* to, std::uint64_t count) {
    if (!compressed_) {
      if (count > bytes_ || position_ > bytes_ - count) fail_damaged(doing_);
      file_.clear();
      file_.seekg(static_cast<std::streamoff>(begin_ + position_));
      file_.read(to, static_cast<std::streamsize>(count));
      if (!file_) fail_damaged(doing_);
    } else if (inflate_into(to, count) != count) {
      fail_damaged(doing_);
    }
    position_ += count;
  }

  void move_to(std::uint64_t place) {
    if (!compressed_) {
      position_ = place;
      return;
    }
    if (place < position_) {
      inflateReset(&zlib_);
      zlib_.avail_in = 0;
      taken_ = position_ = 0;
      ended_ = false;
    }
    std::array<char, kPieceBytes> passed;
    while (position_ < place) {
      const std::uint64_t wanted = std::min<std::uint64_t>(passed.size(), place - position_);
      if (inflate_into(passed.data(), wanted) != wanted) fail_damaged(doing_);
      position_ += wanted;
    }
  }

  // Nothing may follow; if the bytes are compressed, their checksum must be right.
  void check_end() {
    char more = 0;
    if (compressed_ && (inflate_into(&more, 1) != 0 || !ended_)) fail_damaged(doing_);
  }

 private:
  std::uint64_t inflate_into(char* to, std::uint64_t count) {
    std::uint64_t done = 0;
    while (!ended_) {
      if (zlib_.avail_in == 0) {
        const std::uint64_t wanted = std::min<std::uint64_t>(input_.size(), bytes_ - taken_);
        if (wanted == 0) fail_damaged(doing_);
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(begin_ + taken_));
        file_.read(reinterpret_cast<char*>(input_.data()), static_cast<std::streamsize>(wanted));
        if (!file_) fail_damaged(doing_);
        taken_ += wanted;
        zlib_.next_in = input_.data();
        zlib_.avail_in = static_cast<uInt>(wanted);
      }
      const auto room = static_cast<uInt>(std::min<std::uint64_t>(count - done, std::uint64_t{1} << 30));
      zlib_.next_out = reinterpret_cast<Bytef*>(to + done);
      zlib_.avail_out = room;
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      done += room - zlib_.avail_out;
      if (result == Z_STREAM_END)
        ended_ = true;
      else if (result != Z_OK && result != Z_BUF_ERROR)
        fail_damaged(doing_);
      if (done == count) break;
    }
    return done;
  }

  std::istream& file_;
  std::uint64_t begin_, bytes_, position_ = 0, taken_ = 0;  // taken: compressed bytes given to zlib
  bool compressed_, ended_ = false;
  std::string doing_;
  z_stream zlib_{};
  std::array<Bytef, kPieceBytes> input_{};
};

struct Tag {
  std::uint32_t type = 0;
  std::uint64_t bytes = 0;
  bool small = false;  // the bytes stand in the tag
  std::array<unsigned char, 4> inside{};
};

Tag read_tag(VariableBytes& from, bool swapped) {
  std::array<unsigned char, kTagBytes> raw{};
  from.read(reinterpret_cast<char*>(raw.data()), raw.size());
  const std::uint32_t first = word(raw.data(), swapped);
  Tag tag{first & 0xffff, first >> 16, (first >> 16) != 0, {}};
  if (tag.small) {
    std::copy(raw.begin() + 4, raw.end(), tag.inside.begin());
  } else {
    tag.type = first;
    tag.bytes = word(raw.data() + 4, swapped);
  }
  return tag;
}

// The bytes after a tag and their padding; at most `most`.
std::vector<unsigned char> read_body(VariableBytes& from, const Tag& tag, std::uint64_t most,
                                     const std::string& doing) {
  if (tag.bytes > most || (tag.small && tag.bytes > tag.inside.size())) fail_damaged(doing);
  std::vector<unsigned char> body(tag.small ? tag.inside.size() : (tag.bytes + 7) / 8 * 8);
  if (tag.small)
    std::copy(tag.inside.begin(), tag.inside.end(), body.begin());
  else if (!body.empty())
    from.read(reinterpret_cast<char*>(body.data()), body.size());
  body.resize(tag.bytes);
  return body;
}

// Reads what precedes the numbers; false for a variable of no interest.
bool describe(VariableBytes& from, Mat5Variable& variable, bool swapped, const std::string& doing) {
  const Tag matrix = read_tag(from, swapped);
  if (matrix.type != kMatrix || matrix.small) fail_damaged(doing);
  variable.matrix_bytes = matrix.bytes;
  const std::uint64_t most = variable.compressed ? variable.element_bytes * kMostDeflation : variable.element_bytes;
  if (matrix.bytes + kTagBytes > most) fail_damaged(doing);
  if (matrix.bytes == 0) return false;  // an empty cell
  const Tag flags_tag = read_tag(from, swapped);
  const auto flags = read_body(from, flags_tag, 8, doing);
  if (flags_tag.type != kUint32 || flags.size() != 8) fail_damaged(doing);
  const std::uint32_t bits = word(flags.data(), swapped);
  variable.kind = static_cast<int>(bits & 0xff);
  variable.complex = (bits & 0x800) != 0;
  if (variable.kind == kOpaque) return false;
  const Tag axes_tag = read_tag(from, swapped);
  const auto axes = read_body(from, axes_tag, 4 * kMostAxes, doing);
  if (axes_tag.type != kInt32 || axes.size() % 4 != 0 || axes.size() < 8) fail_damaged(doing);
  for (std::size_t at = 0; at < axes.size(); at += 4) {
    const std::uint32_t extent = word(axes.data() + at, swapped);
    if (extent > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) fail_damaged(doing);
    variable.shape.push_back(extent);
  }
  const Tag name_tag = read_tag(from, swapped);
  if (name_tag.type != kInt8 && name_tag.type != kUtf8) fail_damaged(doing);
  const auto name = read_body(from, name_tag, kLongestName, doing);
  variable.name.assign(name.begin(), name.end());
  variable.name.resize(std::min(variable.name.size(), variable.name.find('\0')));
  return !variable.name.empty();
}

// Finds the numbers of a real array and checks that there are as many as its shape says.
void find_numbers(VariableBytes& from, Mat5Variable& variable, bool swapped, const std::string& doing) {
  const auto fail_shape = [&]() {
    fail(doing, "a shape that the file has values for", shape_text(variable.shape), "copy the file again");
  };
  std::uint64_t count = 1;  // of an array without values too: its extents are multiplied later
  for (const std::int64_t extent : variable.shape) {
    if (extent > 0 && count > std::numeric_limits<std::uint64_t>::max() / 64 / static_cast<std::uint64_t>(extent))
      fail_shape();
    count *= static_cast<std::uint64_t>(std::max<std::int64_t>(1, extent));
  }
  if (element_count(variable.shape) == 0) return;
  const Tag tag = read_tag(from, swapped);
  const Number type = number(static_cast<int>(std::min<std::uint32_t>(tag.type, 99)));
  if (type.size == 0) fail_damaged(doing);
  if (tag.bytes != count * type.size) fail_shape();
  variable.stored = static_cast<int>(tag.type);
  variable.data_begin = from.position() - (tag.small ? tag.inside.size() : 0);
  variable.data_bytes = tag.bytes;
  const std::uint64_t end = variable.matrix_bytes + kTagBytes;
  if (variable.data_begin > end || variable.data_bytes > end - variable.data_begin) fail_shape();
}

void swap_numbers(char* bytes, std::uint64_t count, std::size_t size) {
  for (std::uint64_t i = 0; size > 1 && i < count; ++i) std::reverse(bytes + i * size, bytes + (i + 1) * size);
}

class Mat5Source final : public ContiguousSource {
 public:
  Mat5Source(const std::string& doing, const Mat5Variable& variable, std::unique_ptr<std::istream> file, bool swapped)
      : ContiguousSource(doing, variable.shape, true, size_of(variable), number(variable.stored).copy, kBlockBytes),
        file_(std::move(file)),
        variable_(variable),
        swapped_(swapped),
        bytes_(*file_, variable_, doing) {
    // A length that deflate can reach need not be reached: large claims are seen before they get memory.
    constexpr std::uint64_t kLarge = std::uint64_t{1} << 26, kUsual = 16;
    if (variable_.compressed && variable_.data_bytes > kLarge &&
        variable_.data_bytes / kUsual > variable_.element_bytes) {
      bytes_.move_to(variable_.data_begin + variable_.data_bytes);
    }
  }

  // The first axis, usually the samples, varies fastest: one sample lies all over the array.
  bool costly_parts() const override { return true; }

 private:
  static std::size_t size_of(const Mat5Variable& variable) {
    return std::max<std::size_t>(1, number(variable.stored).size);
  }

  void read_elements(std::int64_t first, std::int64_t count, char* to) const override {
    const std::uint64_t begin = static_cast<std::uint64_t>(first) * element_size(),
                        size = static_cast<std::uint64_t>(count) * element_size();
    bytes_.move_to(variable_.data_begin + begin);
    bytes_.read(to, size);
    if (swapped_) swap_numbers(to, static_cast<std::uint64_t>(count), element_size());
    if (variable_.compressed && begin + size == variable_.data_bytes) {
      bytes_.move_to(std::max(bytes_.position(), variable_.matrix_bytes + kTagBytes));
      bytes_.check_end();
    }
  }

  std::unique_ptr<std::istream> file_;
  Mat5Variable variable_;
  bool swapped_;
  mutable VariableBytes bytes_;
};

}  // namespace

Mat5File::Mat5File(std::unique_ptr<std::istream> file, std::uint64_t bytes, const std::string& doing)
    : file_(std::move(file)) {
  std::array<unsigned char, kHeaderBytes> header{};
  file_->seekg(0);
  file_->read(reinterpret_cast<char*>(header.data()), header.size());
  const bool little = header[126] == 'I' && header[127] == 'M';
  swapped_ = header[126] == 'M' && header[127] == 'I';
  if (!*file_ || (!little && !swapped_)) {
    fail_plainly(doing, "it is not a MATLAB .mat file of version 5 to 7.3, or not the whole of one",
                 "save it in MATLAB with save -v7, or with scipy.io.savemat");
  }
  for (std::uint64_t at = kHeaderBytes; at < bytes;) {
    std::array<unsigned char, kTagBytes> tag{};
    file_->clear();
    file_->seekg(static_cast<std::streamoff>(at));
    file_->read(reinterpret_cast<char*>(tag.data()), tag.size());
    const std::uint32_t type = word(tag.data(), swapped_);
    const std::uint64_t length = word(tag.data() + 4, swapped_);
    if (!*file_ || length > bytes - at - kTagBytes) fail_damaged(doing);
    Mat5Variable variable;
    variable.compressed = type == kCompressed;
    variable.element_begin = variable.compressed ? at + kTagBytes : at;
    variable.element_bytes = variable.compressed ? length : length + kTagBytes;
    if (type == kMatrix || type == kCompressed) {
      VariableBytes from(*file_, variable, doing);
      if (describe(from, variable, swapped_, doing)) {
        if (variable.is_real_array())
          find_numbers(from, variable, swapped_, fmt::format("{}, array '{}'", doing, variable.name));
        variables_.push_back(std::move(variable));
      }
    }
    at += kTagBytes + length;
  }
}

std::vector<std::string> Mat5File::names() const {
  std::vector<std::string> names;
  for (const Mat5Variable& variable : variables_) names.push_back(variable.name);
  return names;
}

std::string Mat5Variable::type_name() const {
  constexpr const char* kNames[] = {"float64", "float32", "int8",   "uint8", "int16",
                                    "uint16",  "int32",   "uint32", "int64", "uint64"};
  if (complex) return "complex numbers";
  return kind >= 6 && kind <= 15 ? kNames[kind - 6] : "text, a struct, a cell or a sparse matrix";
}

std::vector<ArrayInfo> Mat5File::arrays() const {
  std::vector<ArrayInfo> all;
  for (const Mat5Variable& variable : variables_)
    all.push_back({variable.name, variable.shape, variable.type_name(), variable.is_real_array()});
  return all;
}

std::unique_ptr<ArraySource> Mat5File::open(Mat5File file, const std::string& key, const std::string& doing) {
  const std::vector<std::string> names = file.names();
  const std::string wanted = key.empty() && names.size() == 1 ? names.front() : key;
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (wanted.empty() || found == names.end()) fail_no_array(doing, key, names);
  const Mat5Variable& variable = file.variables_[static_cast<std::size_t>(found - names.begin())];
  const std::string named = fmt::format("{}, array '{}'", doing, wanted);
  if (!variable.is_real_array()) {
    fail(named, "a full array of real numbers", variable.type_name(), "save its numbers as a separate array");
  }
  return std::make_unique<Mat5Source>(named, variable, std::move(file.file_), file.swapped_);
}

}  // namespace lano
