// Lines are drawn by coverage: a pixel takes the colour by how far it lies inside half the width of the line, in
// eighths, so that a picture keeps few colours. Text is set from glyphs of five by seven dots, drawn at twice their
// size.
#include "report/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace lano {
namespace {

struct Glyph {
  char letter;
  std::uint64_t rows;  // seven rows of five dots from the top left, the first in the highest bits
};

constexpr Glyph kGlyphs[] = {{'%', 0x632222263},  {'(', 0x088842082},
                             {')', 0x208210888},  {'+', 0x0084f9080},
                             {',', 0x000003088},  {'-', 0x000070000},
                             {'.', 0x00000018c},  {'/', 0x042222210},
                             {'0', 0x3a33ae62e},  {'1', 0x11842108e},
                             {'2', 0x3a213221f},  {'3', 0x3a213062e},
                             {'4', 0x08ca97c42},  {'5', 0x7e1e0862e},
                             {'6', 0x3a10f462e},  {'7', 0x7c2221108},
                             {'8', 0x3a317462e},  {'9', 0x3a317842e},
                             {':', 0x018c03180},  {'=', 0x001f07c00},
                             {'A', 0x3a31fc631},  {'B', 0x7a31f463e},
                             {'C', 0x3e108420f},  {'D', 0x7a318c63e},
                             {'E', 0x7e10f421f},  {'F', 0x7e10f4210},
                             {'G', 0x3e109c62e},  {'H', 0x4631fc631},
                             {'I', 0x38842108e},  {'J', 0x1c4210a4c},
                             {'K', 0x4654c5251},  {'L', 0x42108421f},
                             {'M', 0x4775ac631},  {'N', 0x4739ace71},
                             {'O', 0x3a318c62e},  {'P', 0x7a31f4210},
                             {'Q', 0x3a318d64d},  {'R', 0x7a31f5251},
                             {'S', 0x3e107043e},  {'T', 0x7c8421084},
                             {'U', 0x46318c62e},  {'V', 0x46318a944},
                             {'W', 0x4631ad771},  {'X', 0x454a22951},
                             {'Y', 0x462a21084},  {'Z', 0x7c222221f},
                             {'^', 0x115100000},  {'a', 0x000e0be2f},
                             {'b', 0x421e8c63e},  {'c', 0x000e8420e},
                             {'d', 0x042f8c62f},  {'e', 0x000e8fe0e},
                             {'f', 0x191e42108},  {'g', 0x01f18bc2e},
                             {'h', 0x421e8c631},  {'i', 0x100c2108e},
                             {'j', 0x080610a4c},  {'k', 0x4212a6292},
                             {'l', 0x30842108e},  {'m', 0x001aad6b5},
                             {'n', 0x001e8c631},  {'o', 0x000e8c62e},
                             {'p', 0x03d18fa10},  {'q', 0x01f18bc21},
                             {'r', 0x0016c4210},  {'s', 0x000f8383e},
                             {'t', 0x211e42106},  {'u', 0x00118c62f},
                             {'v', 0x00118c544},  {'w', 0x0011ad6aa},
                             {'x', 0x001151151},  {'y', 0x02318bc2e},
                             {'z', 0x001f1111f},  {'[', 0x188421086},
                             {']', 0x30842108c},  {'_', 0x00000001f},
                             {'|', 0x108421084},  {'*', 0x009575480},
                             {'?', 0x3a2111004},  {'\'', 0x108000000},
                             {'"', 0x294000000},  {'<', 0x088882082},
                             {'>', 0x208208888},  {'!', 0x108421004},
                             {'#', 0x295f57d4a},  {'&', 0x32544564d},
                             {';', 0x008001088},  {'{', 0x088441082},
                             {'}', 0x208411088},  {'~', 0x0008a8800},
                             {'@', 0x3a37ade0e},  {'$', 0x11f4717c4},
                             {'\\', 0x420820821}, {' ', 0}};

// The letters of UTF-8 text, those outside ASCII as the nearest the font has.
std::string letters_of(const std::string& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto byte = static_cast<unsigned char>(words[i]);
    if (byte < 0x80) {
      out += words[i];
    } else if (words.compare(i, 2, "\u00b2") == 0) {
      out += "^2";
    } else if (words.compare(i, 2, "\u00b3") == 0) {
      out += "^3";
    } else if (words.compare(i, 2, "\u00b5") == 0 || words.compare(i, 2, "\u03bc") == 0) {
      out += 'u';
    } else if (words.compare(i, 2, "\u00b7") == 0) {
      out += '.';
    } else if ((byte & 0xc0) != 0x80) {  // the first byte of a letter
      out += '?';
    }
  }
  return out;
}

// The pixel a place falls on, or the nearest one.
std::int64_t on_canvas(double at, std::int64_t pixels) {
  return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(pixels - 1)));
}

const Glyph& glyph_of(char letter) {
  const auto* const found =
      std::find_if(std::begin(kGlyphs), std::end(kGlyphs), [&](const Glyph& g) { return g.letter == letter; });
  return found != std::end(kGlyphs) ? *found : glyph_of('?');
}

}  // namespace

std::int64_t text_width(const std::string& words) {
  return kTextAdvance * static_cast<std::int64_t>(letters_of(words).size()) - kTextDot;
}

std::string text_that_fits(const std::string& words, std::int64_t width) {
  std::string letters = letters_of(words);
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(0, (width + kTextDot) / kTextAdvance));
  if (letters.size() > most) letters = letters.substr(0, most > 2 ? most - 2 : 0) + (most > 2 ? ".." : "");
  return letters;
}

Rgb parsed_colour(const std::string& colour) {
  Rgb rgb{0, 0, 0};
  for (std::size_t c = 0; c < 3 && colour.size() == 7; ++c)
    rgb[c] = static_cast<std::uint8_t>(std::stoi(colour.substr(1 + 2 * c, 2), nullptr, 16));
  return rgb;
}

Canvas::Canvas(std::int64_t width, std::int64_t height)
    : image_{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), 255)} {}

void Canvas::blend(std::int64_t x, std::int64_t y, const Rgb& colour, double share) {
  if (x < 0 || y < 0 || x >= image_.width || y >= image_.height || share <= 0) return;
  const double part = std::round(4 * std::min(share, 1.0)) / 4;
  for (std::size_t c = 0; c < 3; ++c) {
    std::uint8_t& value = image_.rgb[static_cast<std::size_t>(3 * (y * image_.width + x)) + c];
    value = static_cast<std::uint8_t>(std::lround(value + part * (colour[c] - value)));
  }
}

void Canvas::line(double x0, double y0, double x1, double y1, const Rgb& colour, double thickness) {
  path({{x0, y0}, {x1, y1}}, colour, thickness);
}

void Canvas::path(const std::vector<std::pair<double, double>>& points, const Rgb& colour, double thickness) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> cover;  // of pixels, by row
  const double half = thickness / 2;
  for (std::size_t i = 0; i + 1 < points.size() || (i == 0 && points.size() == 1); ++i) {
    const auto [x0, y0] = points[i];
    const auto [x1, y1] = points[std::min(i + 1, points.size() - 1)];
    const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    if (!std::isfinite(length)) continue;
    const std::int64_t bottom = on_canvas(std::max(y0, y1) + half + 1, image_.height),
                       right = on_canvas(std::max(x0, x1) + half + 1, image_.width);
    for (std::int64_t y = on_canvas(std::min(y0, y1) - half - 1, image_.height); y <= bottom; ++y) {
      for (std::int64_t x = on_canvas(std::min(x0, x1) - half - 1, image_.width); x <= right; ++x) {
        const double px = static_cast<double>(x) - x0, py = static_cast<double>(y) - y0;
        const double along = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0, 1.0) : 0;
        const double share = half + 0.5 - std::hypot(px - along * dx, py - along * dy);
        if (share <= 0) continue;
        double& most = cover[{y, x}];
        most = std::max(most, share);
      }
    }
  }
  for (const auto& [at, share] : cover) blend(at.second, at.first, colour, share);
}

void Canvas::frame(double left, double top, double right, double bottom, const Rgb& colour) {
  line(left, top, right, top, colour, 1);
  line(left, bottom, right, bottom, colour, 1);
  line(left, top, left, bottom, colour, 1);
  line(right, top, right, bottom, colour, 1);
}

void Canvas::text(std::int64_t x, std::int64_t y, const std::string& words, const Rgb& colour, bool turned) {
  for (const char letter : letters_of(words)) {
    const std::uint64_t rows = glyph_of(letter).rows;
    // The glyphs of letters with a tail stand on the line: put a dot lower, their bowls are as high as other letters.
    const std::int64_t tail = std::string_view("gjpqy").find(letter) == std::string_view::npos ? 0 : 1;
    for (std::int64_t dot = 0; dot < 35; ++dot) {
      if ((rows >> (34 - dot) & 1) == 0) continue;
      for (std::int64_t i = 0; i < kTextDot * kTextDot; ++i) {
        const std::int64_t right = dot % 5 * kTextDot + i % kTextDot, down = (dot / 5 + tail) * kTextDot + i / kTextDot;
        blend(turned ? x + down : x + right, turned ? y - right : y + down, colour, 1);
      }
    }
    (turned ? y : x) += turned ? -kTextAdvance : kTextAdvance;
  }
}

void Canvas::paste(const Image& image, std::int64_t x, std::int64_t y) {
  for (std::int64_t row = std::max<std::int64_t>(0, -y); row < std::min(image.height, image_.height - y); ++row) {
    const std::int64_t from = std::max<std::int64_t>(0, -x), to = std::min(image.width, image_.width - x);
    if (to > from)
      std::copy_n(image.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (row * image.width + from)), 3 * (to - from),
                  image_.rgb.begin() + static_cast<std::ptrdiff_t>(3 * ((y + row) * image_.width + x + from)));
  }
}

}  // namespace lano
