// A picture to draw on: lines, text in a small built-in font, other pictures. Everything that is drawn as pixels with
// text in it (charts, plots, labelled fields) goes through here; the same calls give the same pixels.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/picture.h"

namespace lano {

constexpr Rgb kInk{27, 37, 48}, kQuietInk{102, 114, 127}, kGridInk{223, 229, 234};

// Letters are five by seven dots in a cell of six, a dot is two pixels wide.
constexpr std::int64_t kTextDot = 2, kTextAdvance = 6 * kTextDot, kTextHeight = 7 * kTextDot;
std::int64_t text_width(const std::string& words);  // in pixels; words in UTF-8
// As much of the words as fits, with two dots at the end where something is left out.
std::string text_that_fits(const std::string& words, std::int64_t width);

Rgb parsed_colour(const std::string& colour);  // "#rrggbb"

class Canvas {
 public:
  Canvas(std::int64_t width, std::int64_t height);  // white
  std::int64_t width() const { return image_.width; }
  std::int64_t height() const { return image_.height; }

  void blend(std::int64_t x, std::int64_t y, const Rgb& colour, double share);
  void line(double x0, double y0, double x1, double y1, const Rgb& colour, double thickness);
  // Through points (x, y), drawn at once: where pieces meet, nothing is drawn twice.
  void path(const std::vector<std::pair<double, double>>& points, const Rgb& colour, double thickness);
  void frame(double left, double top, double right, double bottom, const Rgb& colour);
  // Left upper corner at (x, y); turned: reading upwards from there. A letter the font lacks is drawn as '?'.
  void text(std::int64_t x, std::int64_t y, const std::string& words, const Rgb& colour, bool turned = false);
  void paste(const Image& image, std::int64_t x, std::int64_t y);
  Image take() { return std::move(image_); }

 private:
  Image image_;
};

}  // namespace lano
