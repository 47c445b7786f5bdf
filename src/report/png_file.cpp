// libpng encodes every frame with the palette of them all. An animation is the first frame's file with the chunks acTL
// and fcTL before its IDAT, and the IDAT of each further frame as fdAT
// (https://www.w3.org/TR/png-3/#apng-frame-based-animation). Of a further frame only the box that differs from the one
// before is stored.
#include "report/png_file.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"

namespace lano {
namespace {

std::uint32_t key_of(const std::uint8_t* rgb) {
  return static_cast<std::uint32_t>(rgb[0]) << 16 | static_cast<std::uint32_t>(rgb[1]) << 8 | rgb[2];
}

// Every colour of the images with its place, by value; empty where there are more than 256.
std::map<std::uint32_t, std::uint8_t> palette_of(const std::vector<const Image*>& images) {
  std::map<std::uint32_t, std::uint8_t> palette;
  for (const Image* image : images) {
    std::uint32_t last = 0x1000000;
    for (std::size_t i = 0; i + 2 < image->rgb.size(); i += 3) {
      const std::uint32_t key = key_of(&image->rgb[i]);
      if (key == last) continue;
      palette.emplace(last = key, std::uint8_t{0});
      if (palette.size() > 256) return {};
    }
  }
  std::uint8_t place = 0;
  for (auto& [key, index] : palette) index = place++;
  return palette;
}

std::string encode(const Image& image, const std::map<std::uint32_t, std::uint8_t>& palette) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = palette.empty() ? PNG_FORMAT_RGB : PNG_FORMAT_RGB_COLORMAP;
  header.colormap_entries = static_cast<png_uint_32>(palette.size());
  std::vector<std::uint8_t> pixels, colours;
  for (const auto& [key, index] : palette) {
    for (const int shift : {16, 8, 0}) colours.push_back(static_cast<std::uint8_t>(key >> shift & 255));
  }
  if (!palette.empty()) {
    pixels.reserve(image.rgb.size() / 3);
    for (std::size_t i = 0; i + 2 < image.rgb.size(); i += 3) pixels.push_back(palette.at(key_of(&image.rgb[i])));
  }
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&header, bytes.data(), &size, 0, palette.empty() ? image.rgb.data() : pixels.data(), 0,
                                palette.empty() ? nullptr : colours.data()) == 0) {
    fail("encoding a picture", "a PNG", header.message);
  }
  bytes.resize(size);
  return bytes;
}

std::string big_endian(std::uint32_t value, int bytes = 4) {
  std::string out;
  for (int b = bytes - 1; b >= 0; --b) out += static_cast<char>(value >> (8 * b) & 255);
  return out;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto sum = crc32(0, reinterpret_cast<const unsigned char*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
}

// Calls see(type, data, chunk) for every chunk of a PNG.
void each_chunk(const std::string& png, const auto& see) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    std::size_t length = 0;
    for (std::size_t b = 0; b < 4; ++b) length = length << 8 | static_cast<unsigned char>(png[at + b]);
    see(png.substr(at + 4, 4), png.substr(at + 8, length), png.substr(at, 12 + length));
    at += 12 + length;
  }
}

struct Box {
  std::int64_t left = 0, top = 0, right = 1, bottom = 1;  // behind the last
};

// What differs; one pixel where nothing does.
Box difference(const Image& a, const Image& b) {
  Box box{a.width, a.height, 0, 0};
  for (std::int64_t y = 0; y < a.height; ++y) {
    for (std::int64_t x = 0; x < a.width; ++x) {
      const auto at = static_cast<std::size_t>(3 * (y * a.width + x));
      if (std::equal(&a.rgb[at], &a.rgb[at] + 3, &b.rgb[at])) continue;
      box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x + 1), std::max(box.bottom, y + 1)};
    }
  }
  return box.right > box.left ? box : Box{};
}

Image part_of(const Image& image, const Box& box) {
  Image part{box.right - box.left, box.bottom - box.top, {}};
  for (std::int64_t y = box.top; y < box.bottom; ++y) {
    const auto row = image.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (y * image.width + box.left));
    part.rgb.insert(part.rgb.end(), row, row + static_cast<std::ptrdiff_t>(3 * part.width));
  }
  return part;
}

}  // namespace

std::string encode_png(const Image& image) { return encode(image, palette_of({&image})); }

std::string encode_animation(const std::vector<Image>& frames, double seconds) {
  if (frames.empty()) fail_plainly("encoding an animation", "there are no frames");
  std::vector<const Image*> all;
  for (const Image& frame : frames) {
    if (frame.width != frames[0].width || frame.height != frames[0].height)
      fail("encoding an animation", "frames of one size", "two sizes");
    all.push_back(&frame);
  }
  const auto palette = palette_of(all);
  const auto delay = static_cast<std::uint32_t>(std::clamp(std::lround(1000 * seconds), 1L, 60000L));
  std::uint32_t number = 0;
  const auto control = [&](const Box& box) {
    std::string data = big_endian(number++);
    for (const std::int64_t value : {box.right - box.left, box.bottom - box.top, box.left, box.top})
      data += big_endian(static_cast<std::uint32_t>(value));
    // The box replaces what was there, and stays.
    return chunk("fcTL", data + big_endian(delay, 2) + big_endian(1000, 2) + std::string(2, '\0'));
  };
  std::string out = "\x89PNG\r\n\x1a\n", end;
  bool begun = false;
  each_chunk(encode(frames[0], palette), [&](const std::string& type, const std::string&, const std::string& whole) {
    if (type == "IDAT" && !begun) {
      begun = true;
      out += chunk("acTL", big_endian(static_cast<std::uint32_t>(frames.size())) + big_endian(0));
      out += control({0, 0, frames[0].width, frames[0].height});
    }
    (type == "IEND" ? end : out) += whole;
  });
  for (std::size_t f = 1; f < frames.size(); ++f) {
    const Box box = difference(frames[f - 1], frames[f]);
    out += control(box);
    each_chunk(encode(part_of(frames[f], box), palette),
               [&](const std::string& type, const std::string& data, const std::string&) {
                 if (type == "IDAT") out += chunk("fdAT", big_endian(number++) + data);
               });
  }
  return out + end;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t block = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t b = 0; b < 3; ++b) {
      block = block << 8 | (b < count ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    }
    for (std::size_t d = 0; d < 4; ++d) out += d <= count ? kDigits[block >> (18 - 6 * d) & 63] : '=';
  }
  return out;
}

}  // namespace lano
