// The mean of the training meshes, where every sample brings a deformed copy of one mesh (airfoils, pipes): what a
// network must see is by how much a point was moved, and that is lost in the size of the domain. The displacement from
// the mean mesh, in units of its deviation, joins the input fields. Fitted on the training split, kept in the model
// file. Meshes are row-major, [N, dx].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/shape.h"

namespace lano {

class MeanMesh {
 public:
  MeanMesh() = default;
  // points: [N, dx] of a mesh of this shape. scale: above 0, of each coordinate.
  MeanMesh(Shape shape, std::vector<float> points, std::vector<double> scale);

  bool empty() const { return scale_.empty(); }
  std::int64_t channels() const { return static_cast<std::int64_t>(scale_.size()); }  // dx; 0: there is none
  const Shape& shape() const { return shape_; }
  const std::vector<float>& points() const { return points_; }
  const std::vector<double>& scale() const { return scale_; }

  // The mean mesh with other extents: linear in the indices, with the same ends.
  std::vector<float> resampled(const Shape& mesh) const;
  // (coordinates - mean)/scale, [N, dx], of a mesh of any extents and as many axes.
  std::vector<float> displacement(const Shape& mesh, std::span<const float> coordinates) const;

 private:
  Shape shape_;
  std::vector<float> points_;
  std::vector<double> scale_;
};

// Adds meshes in a fixed order: the same bits for any number of threads and pieces.
class MeanMeshFit {
 public:
  explicit MeanMeshFit(Shape shape) : shape_(std::move(shape)) {}
  void add(std::span<const float> coordinates);
  MeanMesh result() const;  // a coordinate that no sample moves keeps scale 1

 private:
  Shape shape_;
  std::vector<double> mean_, squares_;  // of every value
  double count_ = 0;
};

}  // namespace lano
