// Piecewise-linear through the published anchor colours of viridis and inferno, in 110 steps: more are not seen, and a
// picture with both maps keeps within the 256 colours of a palette.
#include "report/colour.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace lano {
namespace {

constexpr Rgb kField[] = {{68, 1, 84},    {72, 40, 120},  {62, 73, 137},  {49, 104, 142}, {38, 130, 142},
                          {31, 158, 137}, {53, 183, 121}, {110, 206, 88}, {181, 222, 43}, {253, 231, 37}};
constexpr Rgb kError[] = {{0, 0, 4},     {27, 12, 65},   {74, 12, 107}, {120, 28, 109}, {165, 44, 96},
                          {207, 68, 70}, {237, 105, 37}, {251, 155, 6}, {247, 209, 61}, {252, 255, 164}};

std::span<const Rgb> anchors(ColourMap map) {
  return map == ColourMap::field ? std::span<const Rgb>(kField) : std::span<const Rgb>(kError);
}

}  // namespace

Rgb colour(ColourMap map, double share) {
  const auto table = anchors(map);
  constexpr double kSteps = 110;
  const double step = std::round(kSteps * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0)) / kSteps;
  const double at = step * static_cast<double>(table.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), table.size() - 2);
  const double rest = at - static_cast<double>(low);
  Rgb mixed;
  for (std::size_t c = 0; c < 3; ++c) {
    mixed[c] = static_cast<std::uint8_t>(std::lround((1 - rest) * table[low][c] + rest * table[low + 1][c]));
  }
  return mixed;
}

std::string css_gradient(ColourMap map) {
  std::string out = "linear-gradient(to top";
  for (const Rgb& c : anchors(map)) out += fmt::format(", #{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
  return out + ")";
}

}  // namespace lano
