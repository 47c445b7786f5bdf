#include "normalise/mean_field.h"

#include <algorithm>
#include <cmath>

namespace lano {

MeanField::MeanField(Shape shape, std::vector<float> values, std::vector<double> scale)
    : shape_(std::move(shape)), values_(std::move(values)), scale_(std::move(scale)) {}

std::vector<float> MeanField::onto(const Shape& mesh, const std::vector<bool>& periodic,
                                   const std::vector<double>& stretch, bool wraps) const {
  if (mesh == shape_ && stretch.empty()) return values_;
  const std::size_t axes = mesh.size(), dims = scale_.size();
  std::vector<float> out(static_cast<std::size_t>(element_count(mesh)) * dims);
  std::vector<std::size_t> low(axes);
  std::vector<double> share(axes);
  for (std::size_t p = 0; p < out.size() / dims; ++p) {
    std::size_t rest = p;
    for (std::size_t a = axes; a-- > 0;) {
      const auto n = static_cast<std::size_t>(mesh[a]), known = static_cast<std::size_t>(shape_[a]);
      const bool round = !periodic.empty() && periodic[a];
      const std::size_t steps = round ? n : n - 1, known_steps = round ? known : known - 1;
      double place =
          steps > 0 ? static_cast<double>(rest % n) * static_cast<double>(known_steps) / static_cast<double>(steps) : 0;
      if (!stretch.empty() && !round) place *= stretch[a];
      rest /= n;
      low[a] = static_cast<std::size_t>(place);
      if (!round || !wraps) low[a] = std::min(low[a], known - std::min<std::size_t>(known, 2));
      share[a] = place - static_cast<double>(low[a]);
    }
    std::vector<double> sum(dims, 0);
    for (std::size_t corner = 0; corner < (std::size_t{1} << axes); ++corner) {
      double weight = 1;
      std::size_t at = 0;
      for (std::size_t a = 0; a < axes; ++a) {
        const bool upper = (corner >> a & 1) != 0;
        weight *= upper ? share[a] : 1 - share[a];
        const auto known = static_cast<std::size_t>(shape_[a]);
        const std::size_t next = low[a] + (upper ? 1 : 0);
        at = at * known + (next < known ? next : wraps && !periodic.empty() && periodic[a] ? 0 : known - 1);
      }
      for (std::size_t c = 0; weight != 0 && c < dims; ++c)
        sum[c] += weight * static_cast<double>(values_[at * dims + c]);
    }
    for (std::size_t c = 0; c < dims; ++c) out[p * dims + c] = static_cast<float>(sum[c]);
  }
  return out;
}

std::vector<float> MeanField::deviation(const Shape& mesh, std::span<const float> field,
                                        const std::vector<bool>& periodic, const std::vector<double>& stretch,
                                        std::int64_t first) const {
  const std::vector<float> mean = onto(mesh, periodic, stretch, false);
  const auto before = static_cast<std::size_t>(first * channels());
  std::vector<float> moved(field.size());
  for (std::size_t i = 0; i < moved.size(); ++i) {
    moved[i] = static_cast<float>((static_cast<double>(field[i]) - static_cast<double>(mean[before + i])) /
                                  scale_[i % scale_.size()]);
  }
  return moved;
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
    // Deviations at the level of float rounding are the same field, not data.
    scale[c] = deviation > 1e-7 * size[c] ? deviation : 1;
  }
  return {shape_, std::vector<float>(mean_.begin(), mean_.end()), std::move(scale)};
}

}  // namespace lano
