// bytes -> the variables of a MATLAB file of version 5 to 7, each read whole and then once more in part. Version 7.3 is
// HDF5's to read, not ours.
#include <zlib.h>

#include <cstdlib>
#include <sstream>

#include "core/error.h"
#include "data/mat5_file.h"
#include "fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto open = [&] {
    return lano::Mat5File(std::make_unique<std::istringstream>(bytes), bytes.size(), "reading");
  };
  try {
    for (const std::string& name : open().names()) {
      try {
        const auto source = lano::Mat5File::open(open(), name, "reading");
        const std::vector<float> all = source->read_all();
        std::vector<lano::AxisRange> first = source->whole();
        for (lano::AxisRange& range : first) range.count = std::min<std::int64_t>(range.count, 1);
        const std::vector<float> one = source->read(first);
        if (one.size() > all.size()) std::abort();
      } catch (const lano::Error&) {
      }
    }
  } catch (const lano::Error&) {
  }
  return 0;
}

namespace lano::fuzz {
namespace {

std::string number(std::uint64_t value, std::size_t bytes, bool big) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * (big ? bytes - 1 - i : i));
  return text;
}

std::string element(std::uint32_t type, std::string body, bool big) {
  const std::string tag = number(type, 4, big) + number(body.size(), 4, big);
  body.resize((body.size() + 7) / 8 * 8, '\0');
  return tag + body;
}

std::string variable(const std::string& name, std::uint32_t flags, const std::vector<std::uint32_t>& extents,
                     std::uint32_t type, const std::string& data, bool big) {
  std::string axes;
  for (const std::uint32_t extent : extents) axes += number(extent, 4, big);
  const std::string numbers = data.size() <= 4 ? number(static_cast<std::uint32_t>(data.size()) << 16 | type, 4, big) +
                                                     data + std::string(4 - data.size(), '\0')
                                               : element(type, data, big);
  return element(14,
                 element(6, number(flags, 4, big) + number(0, 4, big), big) + element(5, axes, big) +
                     element(1, name, big) + numbers,
                 big);
}

std::string packed(const std::string& bytes, bool big) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
            0);  // stored: changes reach what is inside
  out.resize(size);
  return number(15, 4, big) + number(out.size(), 4, big) + out;
}

std::string header(bool big) {
  std::string text = "MATLAB 5.0 MAT-file";
  text.resize(124, ' ');
  return text + number(0x0100, 2, big) + (big ? "MI" : "IM");
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const bool big : {false, true}) {
    const std::string doubles = variable("a", 6, {3, 2}, 9, std::string(48, '\1'), big),
                      bytes = variable("little", 6, {2, 1}, 2, "ab", big),
                      singles = variable("s", 7, {1, 2, 2}, 7, std::string(16, '\2'), big),
                      text = variable("t", 4, {1, 3}, 4, "h\0i\0!\0", big),
                      complex = variable("z", 6 | 0x800, {1, 1}, 9, std::string(8, '\3'), big),
                      empty = variable("e", 6, {0, 5}, 9, "", big);
    all.push_back(header(big) + doubles);
    all.push_back(header(big) + packed(doubles, big));
    all.push_back(header(big) + bytes + singles + text);
    all.push_back(header(big) + packed(singles, big) + packed(bytes, big) + packed(complex, big));
    all.push_back(header(big) + empty + complex);
  }
  return all;
}

std::vector<std::string> words() {
  std::vector<std::string> all;
  for (std::uint32_t type = 0; type < 18; ++type) all.push_back(number(type, 4, false));
  for (const std::uint32_t size : {8u, 16u, 48u, 0x7fffffffu, 0x80000000u, 0xfffffff8u})
    all.push_back(number(size, 4, false));
  all.insert(all.end(), {"MI", "IM", std::string("\x01\x00\x01\x00", 4), "\x78\x01", "\x78\x9c"});
  return all;
}

}  // namespace lano::fuzz
