#include "report/png_file.h"

#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include <cmath>

#include "scratch.h"

namespace lano::png_file_test {
namespace {

Image decoded(const std::string& bytes) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()), 0);
  header.format = PNG_FORMAT_RGB;
  Image image{static_cast<std::int64_t>(header.width), static_cast<std::int64_t>(header.height), {}};
  image.rgb.resize(PNG_IMAGE_SIZE(header));
  EXPECT_NE(png_image_finish_read(&header, nullptr, image.rgb.data(), 0, nullptr), 0);
  return image;
}

Image plain(std::int64_t width, std::int64_t height, std::uint8_t grey) {
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), grey)};
}

std::uint32_t number_at(const std::string& bytes, std::size_t at, std::size_t size = 4) {
  std::uint32_t value = 0;
  for (std::size_t b = 0; b < size; ++b) value = value << 8 | static_cast<unsigned char>(bytes[at + b]);
  return value;
}

std::string number_bytes(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

struct Chunk {
  std::string type, data;
};

// With the checksum of every chunk looked at.
std::vector<Chunk> chunks_of(const std::string& png) {
  std::vector<Chunk> chunks;
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::size_t size = number_at(png, at);
    chunks.push_back({png.substr(at + 4, 4), png.substr(at + 8, size)});
    const std::string body = png.substr(at + 4, 4 + size);
    EXPECT_EQ(number_at(png, at + 8 + size),
              crc32(0, reinterpret_cast<const unsigned char*>(body.data()), static_cast<uInt>(body.size())));
    at += 12 + size;
  }
  return chunks;
}

std::string chunk_bytes(const Chunk& chunk) {
  const std::string body = chunk.type + chunk.data;
  return number_bytes(static_cast<std::uint32_t>(chunk.data.size())) + body +
         number_bytes(static_cast<std::uint32_t>(
             crc32(0, reinterpret_cast<const unsigned char*>(body.data()), static_cast<uInt>(body.size()))));
}

TEST(PngFile, FewColoursAreAPaletteAndManyAreNot) {
  Image image = plain(40, 30, 255);
  for (std::size_t i = 0; i < 30; ++i) image.rgb[7 * i] = static_cast<std::uint8_t>(i);
  const std::string few = encode_png(image);
  EXPECT_EQ(decoded(few).rgb, image.rgb);
  EXPECT_EQ(few[25], 3);  // the colour type in IHDR: palette
  for (std::size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<std::uint8_t>(i * i / 7);
  const std::string many = encode_png(image);
  EXPECT_EQ(decoded(many).rgb, image.rgb);
  EXPECT_EQ(many[25], 2);
}

// Decoded by hand: each fdAT becomes a separate file, its box is put over the frame before.
TEST(PngFile, AnAnimationGivesEveryFrame) {
  std::vector<Image> frames(4, plain(20, 10, 255));
  for (std::size_t f = 0; f < 3; ++f) {
    for (std::size_t y = 2; y < 5; ++y) frames[f].rgb[3 * (y * 20 + 4 + 3 * f)] = static_cast<std::uint8_t>(40 * f);
  }
  frames[3] = frames[2];  // nothing moves
  const std::string bytes = encode_animation(frames, 0.25);
  EXPECT_EQ(decoded(bytes).rgb, frames[0].rgb);  // viewers without animation
  const std::vector<Chunk> chunks = chunks_of(bytes);
  std::string palette, header;
  std::uint32_t sequence = 0;
  std::size_t shown = 0, x = 0, y = 0;
  std::uint32_t width = 0, height = 0;
  Image now = frames[0];
  for (const Chunk& chunk : chunks) {
    if (chunk.type == "IHDR") header = chunk.data;
    if (chunk.type == "PLTE") palette = chunk.data;
    if (chunk.type == "acTL") {
      EXPECT_EQ(number_at(chunk.data, 0), 4u);
    }
    if (chunk.type == "fcTL") {
      EXPECT_EQ(number_at(chunk.data, 0), sequence++);
      width = number_at(chunk.data, 4);
      height = number_at(chunk.data, 8);
      x = number_at(chunk.data, 12);
      y = number_at(chunk.data, 16);
      EXPECT_EQ(number_at(chunk.data, 20, 2), 250u);
      EXPECT_EQ(number_at(chunk.data, 22, 2), 1000u);
      if (shown > 0) {
        EXPECT_LE(width * height, 12u);
      }
      ++shown;
    }
    if (chunk.type != "fdAT") continue;
    EXPECT_EQ(number_at(chunk.data, 0), sequence++);
    const std::string one =
        bytes.substr(0, 8) + chunk_bytes({"IHDR", number_bytes(width) + number_bytes(height) + header.substr(8)}) +
        chunk_bytes({"PLTE", palette}) + chunk_bytes({"IDAT", chunk.data.substr(4)}) + chunk_bytes({"IEND", ""});
    const Image part = decoded(one);
    for (std::size_t row = 0; row < height; ++row)
      std::copy_n(part.rgb.begin() + static_cast<std::ptrdiff_t>(3 * row * width), 3 * width,
                  now.rgb.begin() + static_cast<std::ptrdiff_t>(3 * ((y + row) * 20 + x)));
    EXPECT_EQ(now.rgb, frames[shown - 1].rgb) << shown;
  }
  EXPECT_EQ(shown, 4u);
  EXPECT_EQ(chunks.back().type, "IEND");
  EXPECT_ERROR_WITH(encode_animation({plain(3, 3, 1), plain(4, 3, 1)}, 1), "frames of one size");
}

}  // namespace
}  // namespace lano::png_file_test
