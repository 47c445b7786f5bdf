// Pictures as bytes: PNG, an animated PNG (which viewers without animation show as its first frame), base64 for pages.
// Up to 256 colours are kept as a palette, which makes fields a third as large.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/picture.h"

namespace lano {

std::string encode_png(const Image& image);

// Frames of one size, shown `seconds` each, over and over.
std::string encode_animation(const std::vector<Image>& frames, double seconds);

std::string base64(std::string_view bytes);

}  // namespace lano
