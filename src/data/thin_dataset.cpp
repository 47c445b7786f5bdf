#include "data/thin_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/error.h"
#include "data/dataset.h"
#include "data/sample_import.h"

namespace lano {
namespace {

// Rows of the points that stay, of `frames` fields [N, channels] one after the other.
std::vector<float> kept_rows(std::span<const float> values, const std::vector<std::size_t>& points, std::size_t all,
                             std::size_t channels, std::size_t frames = 1) {
  std::vector<float> rows;
  rows.reserve(frames * points.size() * channels);
  for (std::size_t frame = 0; frame < frames && !values.empty(); ++frame) {
    for (const std::size_t point : points) {
      const auto row = values.subspan((frame * all + point) * channels, channels);
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  return rows;
}

std::vector<std::size_t> points_kept(const Shape& shape, std::int64_t stride) {
  std::vector<std::size_t> points;
  for (std::int64_t p = 0; p < element_count(shape); ++p) {
    std::int64_t rest = p;
    bool stays = true;
    for (std::size_t a = shape.size(); a-- > 0;) {
      stays = stays && rest % shape[a] % stride == 0;
      rest /= shape[a];
    }
    if (stays) points.push_back(static_cast<std::size_t>(p));
  }
  return points;
}

std::string with_stride(const std::string& generator, std::int64_t stride) {
  nlohmann::json about = nlohmann::json::parse(generator, nullptr, false);
  if (!about.is_object()) about = nlohmann::json::object();
  about["kept_every"] = stride;
  return about.dump();
}

}  // namespace

Shape thinned_shape(const Shape& shape, std::int64_t stride) {
  Shape kept;
  for (const std::int64_t extent : shape) kept.push_back(kept_points(extent, stride));
  return kept;
}

void thin_dataset(const std::filesystem::path& from, std::int64_t stride, const std::filesystem::path& to) {
  const DatasetReader reader(from);
  const SetDescription& whole = reader.description();
  const std::string doing = fmt::format("thinning '{}'", from.string());
  if (whole.geometry == Geometry::points || !reader.has_output())
    fail_plainly(doing, "the dataset has no output on a grid or a mesh, whose points have neighbours by index");
  if (stride < 1 || *std::min_element(whole.shape.begin(), whole.shape.end()) <= stride)
    fail_usage(doing, fmt::format("a stride that leaves two points on each axis of {}", shape_text(whole.shape)),
               std::to_string(stride));
  for (std::size_t a = 0; a < whole.periodic.size(); ++a) {
    if (whole.periodic[a] && whole.shape[a] % stride != 0)
      fail_usage(doing, fmt::format("a stride that divides the {} points of a periodic axis", whole.shape[a]),
                 std::to_string(stride));
  }
  SetDescription thin = whole;
  thin.shape = thinned_shape(whole.shape, stride);
  thin.generator = with_stride(whole.generator, stride);
  if (whole.geometry == Geometry::mesh) thin.span = strided_span(whole.shape, whole.span, stride);
  const std::vector<std::size_t> points = points_kept(whole.shape, stride);
  const auto all = static_cast<std::size_t>(whole.points()), dims = static_cast<std::size_t>(whole.dims()),
             inputs = static_cast<std::size_t>(whole.input_channels()),
             outputs = static_cast<std::size_t>(whole.output_channels()),
             further = static_cast<std::size_t>(whole.kept_channels());
  std::vector<float> shared;
  if (reader.shared_coordinates()) {
    const std::int64_t first = 0;
    shared = kept_rows(reader.read({&first, 1}).coordinates, points, all, dims);
  }
  DatasetWriter writer(to, thin, reader.splits(), shared);
  for (std::int64_t i = 0; i < reader.size(); ++i) {
    const Samples sample = reader.read({&i, 1});
    const std::vector<float> x =
        shared.empty() ? kept_rows(sample.coordinates, points, all, dims) : std::vector<float>{};
    const std::vector<float> kept =
        further > 0 ? kept_rows(reader.read_kept(i), points, all, further) : std::vector<float>{};
    writer.write(i, x, kept_rows(sample.input, points, all, inputs),
                 kept_rows(sample.output, points, all, outputs, static_cast<std::size_t>(sample.frames)), kept);
  }
  writer.commit();
}

}  // namespace lano
