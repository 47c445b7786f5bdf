// A symmetry is three bits: mirror the first axis, mirror the second, exchange them. Together the eight of the square.
#include "train/sample_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace lano {

void check_augment(Augment augment, const SetDescription& set, const std::vector<double>& spacing,
                   const std::vector<double>& origin) {
  if (augment == Augment::none) return;
  const std::string doing = "training with train.augment";
  if (set.geometry != Geometry::grid || set.shape.size() != 2 || spacing.size() != 2) {
    fail_usage(doing, "a uniform grid of two axes",
               fmt::format("{} {}", geometry_name(set.geometry), shape_text(set.shape)),
               "set train.augment = \"none\"");
  }
  if (set.input_channels() != 1 || set.output_channels() != 1) {
    fail_usage(doing, "one input and one output channel",
               fmt::format("{} and {}", set.input_channels(), set.output_channels()),
               "the components of a vector field would have to be mirrored too");
  }
  for (std::size_t a = 0; a < 2; ++a) {
    const double centre = origin[a] + spacing[a] * static_cast<double>(set.shape[a] - 1) / 2,
                 middle = (set.box[2 * a] + set.box[2 * a + 1]) / 2;
    if (std::abs(centre - middle) > 1e-4 * (set.box[2 * a + 1] - set.box[2 * a])) {
      fail_usage(doing, "points that lie symmetrically in the domain",
                 fmt::format("their centre at {} of [{}, {}]", centre, set.box[2 * a], set.box[2 * a + 1]));
    }
  }
  if (augment == Augment::rotations && (set.shape[0] != set.shape[1] || std::abs(spacing[0] / spacing[1] - 1) > 1e-6)) {
    fail_usage(doing, "a square grid for \"rotations\"", shape_text(set.shape), "use \"flips\"");
  }
}

SampleChanges::SampleChanges(Augment augment, std::int64_t points, const std::vector<std::int64_t>& sizes,
                             std::uint64_t seed, std::uint64_t step, std::uint64_t place)
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

// shared: one set of values for all samples.
std::vector<float> SampleChanges::subset(const std::vector<float>& values, bool shared) const {
  std::int64_t all = 0, first = 0;
  for (const std::int64_t points : before_) all += points;
  const std::int64_t given = shared ? before_[0] : all;
  const auto channels = static_cast<std::int64_t>(values.size()) / given;
  std::vector<float> kept;
  for (std::size_t b = 0; b < kept_.size(); ++b) {
    for (const std::int64_t point : kept_[b]) {
      const auto row = values.begin() + ((shared ? 0 : first) + point) * channels;
      kept.insert(kept.end(), row, row + channels);
    }
    first += before_[b];
  }
  return kept;
}

std::vector<float> SampleChanges::apply(std::vector<float> field, const Shape& mesh) const {
  if (!kept_.empty()) return subset(field, false);
  if (symmetries_.empty()) return field;
  const std::int64_t n1 = mesh[0], n2 = mesh[1];
  const std::int64_t channels =
      static_cast<std::int64_t>(field.size()) / (n1 * n2 * static_cast<std::int64_t>(symmetries_.size()));
  std::vector<float> changed(field.size());
  auto to = changed.begin();
  for (std::size_t b = 0; b < symmetries_.size(); ++b) {
    const auto sample = field.begin() + static_cast<std::int64_t>(b) * n1 * n2 * channels;
    const bool exchanged = (symmetries_[b] & 4) != 0;
    for (std::int64_t i = 0; i < (exchanged ? n2 : n1); ++i) {
      for (std::int64_t j = 0; j < (exchanged ? n1 : n2); ++j) {
        const std::int64_t row = exchanged ? j : i, column = exchanged ? i : j;
        const std::int64_t from1 = (symmetries_[b] & 1) != 0 ? n1 - 1 - row : row;
        const std::int64_t from2 = (symmetries_[b] & 2) != 0 ? n2 - 1 - column : column;
        to = std::copy_n(sample + (from1 * n2 + from2) * channels, channels, to);
      }
    }
  }
  return changed;
}

void SampleChanges::apply(FieldBatch& batch) const {
  batch.input = apply(std::move(batch.input), batch.mesh);
  if (kept_.empty()) return;
  batch.coordinates = subset(batch.coordinates, batch.shared_coordinates);
  batch.shared_coordinates = false;
  batch.sizes = sizes_;
}

}  // namespace lano
