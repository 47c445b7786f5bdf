// The mean over the training samples of a field on a mesh whose points correspond from sample to sample. Two uses: the
// mean mesh, if every sample has a deformed copy of one mesh (a network must see how far a point was moved, which is
// lost in the size of the domain), and the mean output, from which a network predicts the difference. Fitted on the
// training split, kept in the model file. Fields are row-major, [N, channels].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/shape.h"

namespace lano {

class MeanField {
 public:
  MeanField() = default;
  // values: [N, channels] on a mesh of this shape. scale: above 0, the deviation from it of each channel.
  MeanField(Shape shape, std::vector<float> values, std::vector<double> scale);

  bool empty() const { return scale_.empty(); }
  std::int64_t channels() const { return static_cast<std::int64_t>(scale_.size()); }  // 0: there is none
  const Shape& shape() const { return shape_; }
  const std::vector<float>& values() const { return values_; }
  const std::vector<double>& scale() const { return scale_; }

  // The field on a mesh of other extents: linear in the indices, with the same ends, or where it reaches `stretch`
  // times as far along each axis (core/set_description.h) with those. An axis that is periodic (no flags: none is) has
  // no end: n points share the period of the known ones, and between the last and the first lies a step.
  std::vector<float> resampled(const Shape& mesh, const std::vector<bool>& periodic = {},
                               const std::vector<double>& stretch = {}) const {
    return onto(mesh, periodic, stretch, true);
  }
  // The same for coordinates, which continue where a periodic axis begins again: beyond the last point by its last
  // step.
  std::vector<float> continued(const Shape& mesh, const std::vector<bool>& periodic) const {
    return onto(mesh, periodic, {}, false);
  }

 private:
  std::vector<float> onto(const Shape& mesh, const std::vector<bool>& periodic, const std::vector<double>& stretch,
                          bool wraps) const;

  Shape shape_;
  std::vector<float> values_;
  std::vector<double> scale_;
};

// Adds fields in a fixed order: the same bits for any number of threads and pieces.
class MeanFieldFit {
 public:
  explicit MeanFieldFit(Shape shape) : shape_(std::move(shape)) {}
  void add(std::span<const float> field);
  MeanField result() const;  // a channel that is the same in all samples keeps scale 1

 private:
  Shape shape_;
  std::vector<double> mean_, squares_;  // of every value
  double count_ = 0;
};

}  // namespace lano
