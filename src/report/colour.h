// Colour maps: fields in a perceptually even map from dark blue to yellow, errors in one from black to light yellow.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace lano {

using Rgb = std::array<std::uint8_t, 3>;

enum class ColourMap { field, error };

Rgb colour(ColourMap map, double share);  // share in [0,1], clamped
std::string css_gradient(ColourMap map);  // "linear-gradient(to top, ...)", for colour bars

}  // namespace lano
