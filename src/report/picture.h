// Pictures of fields as PNG. Grids are drawn cell by cell with x to the right and y up, meshes of two axes by their
// cells in the plane, point clouds by colouring each pixel near a point with the nearest one; white elsewhere. Where a
// far field leaves most points in a small part of the plane, that part is drawn.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/shape.h"
#include "report/colour.h"

namespace lano {

struct Image {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // rows from the top
};

// coordinates [N, dx], values [N]; the range maps to the ends of the colours. Fields of more than two axes or
// dimensions show their first two.
Image draw_field(Geometry geometry, const Shape& shape, std::span<const float> coordinates, std::int64_t dims,
                 std::span<const float> values, double low, double high, ColourMap map, std::int64_t pixels = 260);

// Channel `which` of values [N, channels].
std::vector<float> channel(std::span<const float> values, std::int64_t channels, std::int64_t which);

std::string encode_png(const Image& image);
std::string base64(std::string_view bytes);

}  // namespace lano
