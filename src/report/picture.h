// Fields as pixels. Grids are drawn cell by cell with x to the right and y up, meshes and clouds by triangles with
// values linear in them: those of their cells, or the Delaunay triangles within the outline of the cloud; white
// elsewhere. If a far field leaves most points in a small part of the plane, only that part is drawn.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/shape.h"
#include "report/colour.h"
#include "report/triangulation.h"

namespace lano {

struct Image {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // rows from the top
};

// Where the points of one sample fall in a picture: made once, drawn with many values. Points of space are seen along
// one of their axes, the nearest in front.
class FieldView {
 public:
  // coordinates [N, dims] (unused for grids), triangles: of the cells where they are known, else empty.
  FieldView(Geometry geometry, Shape shape, std::span<const float> coordinates, std::int64_t dims,
            Triangles triangles = {}, std::int64_t pixels = 260, std::size_t seen_along = 2);

  // values [N]; the range maps to the ends of the colours.
  Image draw(std::span<const float> values, double low, double high, ColourMap map) const;

 private:
  void place(std::span<const float> coordinates, std::size_t dims, std::size_t seen_along);
  Image draw_grid(std::span<const float> values, double low, double high, ColourMap map) const;
  Image draw_triangles(std::span<const float> values, double low, double high, ColourMap map) const;
  Image draw_points(std::span<const float> values, double low, double high, ColourMap map) const;

  bool grid_;
  Shape shape_;
  std::int64_t pixels_, width_ = 0, height_ = 0;
  std::vector<double> x_, y_, nearness_;  // of points, in pixels; nearness where they are seen along an axis
  Triangles triangles_;
};

// A field that is drawn once. Grids of more than two axes show the first plane of the others.
Image draw_field(Geometry geometry, const Shape& shape, std::span<const float> coordinates, std::int64_t dims,
                 std::span<const float> values, double low, double high, ColourMap map, std::int64_t pixels = 260);

// Channel `which` of values [N, channels].
std::vector<float> channel(std::span<const float> values, std::int64_t channels, std::int64_t which);

}  // namespace lano
