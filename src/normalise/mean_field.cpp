#include "normalise/mean_field.h"

#include <algorithm>
#include <cmath>

#include "normalise/mesh_axis.h"

namespace lano {
namespace {

// A deviation below a few roundings of float32 at the size of the values is no data: what is left of a coordinate that
// does not move, once it was computed and stored.
constexpr double kRounding = 1e-6;

}  // namespace

MeanField::MeanField(Shape shape, std::vector<float> values, std::vector<double> scale)
    : shape_(std::move(shape)), values_(std::move(values)), scale_(std::move(scale)) {}

std::vector<float> MeanField::onto(const Shape& mesh, const std::vector<bool>& periodic,
                                   const std::vector<double>& stretch, bool wraps) const {
  if (mesh == shape_ && stretch.empty()) return values_;
  const std::size_t dims = scale_.size();
  const std::vector<MeshAxis> axes = mesh_axes(shape_, mesh, periodic, stretch);
  std::vector<std::vector<AxisRow>> rows;
  std::vector<std::size_t> known;
  for (const MeshAxis& axis : axes) {
    rows.push_back(axis.to_points(2, wraps));
    known.push_back(axis.known);
  }
  std::vector<float> out(static_cast<std::size_t>(element_count(mesh)) * dims);
  std::vector<const AxisRow*> here(axes.size());
  std::vector<double> sum(dims);
  for (std::size_t p = 0; p < out.size() / dims; ++p) {
    std::size_t rest = p;
    for (std::size_t a = axes.size(); a-- > 0;) {
      here[a] = &rows[a][rest % axes[a].points];
      rest /= axes[a].points;
    }
    std::fill(sum.begin(), sum.end(), 0.0);
    visit_points(here, known, [&](std::size_t at, double weight) {
      for (std::size_t c = 0; c < dims; ++c) sum[c] += weight * static_cast<double>(values_[at * dims + c]);
    });
    for (std::size_t c = 0; c < dims; ++c) out[p * dims + c] = static_cast<float>(sum[c]);
  }
  return out;
}

void MeanFieldFit::add(std::span<const float> field) {
  if (mean_.empty()) {
    mean_.assign(field.size(), 0);
    squares_.assign(field.size(), 0);
  }
  count_ += 1;
  for (std::size_t i = 0; i < mean_.size(); ++i) {  // Welford
    const double before = static_cast<double>(field[i]) - mean_[i];
    mean_[i] += before / count_;
    squares_[i] += before * (static_cast<double>(field[i]) - mean_[i]);
  }
}

MeanField MeanFieldFit::result() const {
  const auto points = static_cast<std::size_t>(element_count(shape_));
  if (mean_.empty() || points == 0) return {};
  const std::size_t dims = mean_.size() / points;
  std::vector<double> scale(dims, 0), size(dims, 0);
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    scale[i % dims] += squares_[i];
    size[i % dims] = std::max(size[i % dims], std::abs(mean_[i]));
  }
  for (std::size_t c = 0; c < dims; ++c) {
    const double deviation = std::sqrt(scale[c] / (count_ * static_cast<double>(points)));
    scale[c] = deviation > kRounding * size[c] ? deviation : 1;
  }
  return {shape_, std::vector<float>(mean_.begin(), mean_.end()), std::move(scale)};
}

}  // namespace lano
