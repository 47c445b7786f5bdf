// A symmetry is three bits: mirror the first axis, mirror the second, exchange them. Together the eight of the square.
#include "train/sample_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace lano {

void check_augment(Augment augment, const SetDescription& set, const std::vector<double>& spacing, const std::vector<double>& origin) {
  if (augment == Augment::none) return;
  const std::string doing = "training with train.augment";
  if (set.geometry != Geometry::grid || set.shape.size() != 2 || spacing.size() != 2) {
    fail_usage(doing, "a uniform grid of two axes", fmt::format("{} {}", geometry_name(set.geometry), shape_text(set.shape)), "set train.augment = \"none\"");
  }
  if (set.input_channels() != 1 || set.output_channels() != 1) {
    fail_usage(doing, "one input and one output channel", fmt::format("{} and {}", set.input_channels(), set.output_channels()),
               "the components of a vector field would have to be mirrored too");
  }
  for (std::size_t a = 0; a < 2; ++a) {
    const double centre = origin[a] + spacing[a] * static_cast<double>(set.shape[a] - 1) / 2, middle = (set.box[2 * a] + set.box[2 * a + 1]) / 2;
    if (std::abs(centre - middle) > 1e-4 * (set.box[2 * a + 1] - set.box[2 * a])) {
      fail_usage(doing, "points that lie symmetrically in the domain", fmt::format("their centre at {} of [{}, {}]", centre, set.box[2 * a], set.box[2 * a + 1]));
    }
  }
  if (augment == Augment::rotations && (set.shape[0] != set.shape[1] || std::abs(spacing[0] / spacing[1] - 1) > 1e-6)) {
    fail_usage(doing, "a square grid for \"rotations\"", shape_text(set.shape), "use \"flips\"");
  }
}

SampleChanges::SampleChanges(Augment augment, std::int64_t points, const std::vector<std::int64_t>& sizes, std::uint64_t seed, std::uint64_t step,
                             std::uint64_t place)
    : sizes_(sizes), before_(sizes) {
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    if (augment != Augment::none) {
      RandomStream stream(seed, Purpose::augment, step, place + b);
      symmetries_.push_back(static_cast<int>(stream.below(augment == Augment::rotations ? 8 : 4)));
    }
    if (points > 0) {
      RandomStream stream(seed, Purpose::subset, step, place + b);
      std::vector<std::int64_t> all(static_cast<std::size_t>(sizes[b]));
      std::iota(all.begin(), all.end(), std::int64_t{0});
      const auto keep = static_cast<std::size_t>(std::min(points, sizes[b]));
      for (std::size_t i = 0; i < keep; ++i) std::swap(all[i], all[i + stream.below(all.size() - i)]);
      all.resize(keep);
      std::sort(all.begin(), all.end());  // the order of the file or of the curve stays
      sizes_[b] = static_cast<std::int64_t>(keep);
      kept_.push_back(std::move(all));
    }
  }
}

torch::Tensor SampleChanges::subset(const torch::Tensor& values) const {
  if (kept_.empty()) return values;
  const bool packed = values.size(0) == 1 && kept_.size() > 1;
  std::vector<torch::Tensor> samples;
  std::int64_t first = 0;
  for (std::size_t b = 0; b < kept_.size(); ++b) {
    const torch::Tensor one = packed ? values[0].narrow(0, first, before_[b]) : values[static_cast<std::int64_t>(b)];
    samples.push_back(one.index_select(0, torch::tensor(kept_[b], torch::kInt64)));
    first += before_[b];
  }
  return packed ? torch::cat(samples, 0).unsqueeze(0) : torch::stack(samples);
}

torch::Tensor SampleChanges::apply(const torch::Tensor& field, const Shape& mesh) const {
  if (symmetries_.empty()) return subset(field);
  std::vector<torch::Tensor> samples;
  for (std::size_t b = 0; b < symmetries_.size(); ++b) {
    torch::Tensor one = field[static_cast<std::int64_t>(b)].unflatten(0, at::IntArrayRef(mesh));  // [n1, n2, c]
    if ((symmetries_[b] & 1) != 0) one = one.flip(0);
    if ((symmetries_[b] & 2) != 0) one = one.flip(1);
    if ((symmetries_[b] & 4) != 0) one = one.transpose(0, 1);
    samples.push_back(one.reshape({field.size(1), field.size(2)}));
  }
  return torch::stack(samples);
}

void SampleChanges::apply(Batch& batch) const {
  batch.input = apply(batch.input, batch.mesh);
  if (kept_.empty()) return;
  batch.coordinates = subset(batch.coordinates);
  if (!batch.counts.empty()) batch.counts = sizes_;
}

}  // namespace lano
