// The displacement of a deformed mesh from the mean of the training meshes, as a network takes it: (x - mean)/scale.
// Where the mesh has more points than the trained one, the displacement is interpolated and not the mean mesh: points
// may crowd anywhere, and between trained points an interpolated mean errs by more than they were moved. The
// displacement is smooth. So, with T the interpolation from the mesh to the trained points and P the one back,
//   finer axes:    P (T x - mean)         coarser axes:    x - P mean
// A linear map of the coordinates; on the trained mesh itself nothing is interpolated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "normalise/mean_field.h"
#include "normalise/mesh_axis.h"

namespace lano {

class Displacement {
 public:
  // The mean mesh must outlive it. periodic, stretch: as in MeanField::resampled.
  Displacement(const MeanField& mean, const Shape& mesh, const std::vector<bool>& periodic = {},
               const std::vector<double>& stretch = {});

  // Whether the displacement of a point follows from its own coordinates.
  bool pointwise() const;
  // x: the coordinates of points `begins`, ... : of the whole mesh, or where it is pointwise() of those wanted. The
  // displacement of points first .. first + count - 1, [count, dx].
  std::vector<float> of(std::span<const float> x, std::int64_t begins, std::int64_t first, std::int64_t count) const;
  // The transposed derivative: dL/displacement [N, dx] adds to dL/dx [N, dx], of the whole mesh.
  void pull_back(std::span<const double> slopes, std::span<double> x_slopes) const;

  // For one who writes it as products: along axis a [points, points] coordinates turn into those at the same places
  // of the interpolated mesh, from which mean(), [N, dx], is taken.
  std::vector<double> matrix(std::size_t axis) const;
  std::vector<float> mean() const;

 private:
  // Displacements are interpolated from an inner mesh: along a finer axis its points are the trained ones, along the
  // others those of the mesh.
  struct Axis {
    bool finer = false;
    std::size_t known = 1, points = 1, inner = 1;
    std::vector<AxisRow> to_mean;    // from an inner point to the trained ones: P, of coarser axes
    std::vector<AxisRow> to_mesh;    // from an inner point to the mesh: T, of finer axes
    std::vector<AxisRow> from_mesh;  // from a point of the mesh to the inner ones: P, of finer axes
  };
  using Rows = std::vector<AxisRow> Axis::*;
  // The rows of a point of a mesh with these extents, one per axis.
  std::vector<const AxisRow*> rows_at(std::size_t point, const std::vector<std::size_t>& extents, Rows which) const;
  std::size_t inner_points() const;
  void add_mean(std::size_t inner, double factor, std::span<double> sum) const;

  const MeanField& mean_;
  bool trained_;  // the trained mesh itself, as nearly always
  std::vector<Axis> axes_;
  std::vector<std::size_t> known_, extents_, inner_;  // of the trained mesh, the mesh and the inner one
};

}  // namespace lano
