#include "data/import_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/import_field.h"

namespace lano {
namespace {

Shape without(Shape shape, std::size_t axis) {
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return shape;
}

}  // namespace

ImportCells::ImportCells(NamedArray named, SampleAxis axis, const std::string& asked, const For& whom)
    : named_(std::move(named)) {
  Shape one = shape_of(0);
  if (!named_.list.empty() || named_.by_sample || one.size() == 3) {
    samples_ = named_.list.empty() ? sample_axis(named_, axis) : 0;
    if (named_.list.empty() && !one.empty()) one = without(one, *samples_);
  }
  std::optional<CellKind> kind;
  if (!asked.empty()) {
    kind = parse_cell_kind(asked);
    if (!kind)
      fail_usage("reading cells", "--cell-kind line, triangle, quadrilateral, tetrahedron or hexahedron", asked);
  } else if (one.size() == 2) {
    // Corners last, otherwise first; lines only on request.
    for (const std::int64_t corners : {one[1], one[0]}) {
      if (!kind && corners != cell_corners(CellKind::line)) kind = cell_kind_of(corners, whom.dims);
    }
  }
  const std::int64_t corners = kind ? cell_corners(*kind) : 0;
  if (one.size() != 2 || (one[0] != corners && one[1] != corners)) {
    fail(named_.doing(), "cells [cells, corners], with 3 corners for triangles, 4 for quadrilaterals or tetrahedra",
         shape_text(shape_of(0)), "see --cells in 'lano import --help'");
  }
  kind_ = *kind;
  const std::int64_t samples = !samples_             ? whom.samples
                               : named_.list.empty() ? named_.array->shape()[*samples_]
                                                     : std::ssize(named_.list);
  if (samples != whom.samples)
    fail(named_.doing(), fmt::format("cells for {} samples, or one array for all", whom.samples),
         std::to_string(samples));
  if (!samples_ && whom.ragged)
    fail_plainly(named_.doing(), "there is one array of cells for all samples, but the clouds differ in size",
                 "give one array of cells per sample");
}

const Shape& ImportCells::shape_of(std::int64_t sample) const {
  return named_.list.empty() ? named_.array->shape() : named_.list[static_cast<std::size_t>(sample)]->shape();
}

bool ImportCells::transposed(const Shape& shape) const {
  return shape.size() == 2 && shape[1] != cell_corners(kind_) && shape[0] == cell_corners(kind_);
}

std::int64_t ImportCells::count_of(std::int64_t sample) const {
  Shape shape = shape_of(sample);
  if (named_.list.empty() && samples_) shape = without(shape, *samples_);
  return transposed(shape) ? shape[1] : shape[0];
}

std::vector<std::int64_t> ImportCells::read(std::int64_t sample, std::int64_t points) const {
  const ArraySource& source = named_.list.empty() ? *named_.array : *named_.list[static_cast<std::size_t>(sample)];
  std::vector<AxisRange> ranges = source.whole();
  Shape shape = source.shape();
  if (named_.list.empty() && samples_) {
    ranges[*samples_] = {sample, 1, 1};
    shape = without(shape, *samples_);
  }
  std::vector<float> values = source.read(ranges);
  if (transposed(shape)) values = permuted(values, shape, {1, 0});
  constexpr std::int64_t kExact = std::int64_t{1} << 24;  // arrays are read as float32
  if (points > kExact)
    fail(source.doing(), fmt::format("at most {} points with cells", kExact), std::to_string(points));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const bool from_one = low != values.end() && *low >= 1 && *high == static_cast<float>(points);
  std::vector<std::int64_t> corners;
  for (const float value : values) {
    const auto corner = std::isfinite(value) && std::abs(value) <= static_cast<float>(kExact)
                            ? std::llround(value) - (from_one ? 1 : 0)
                            : -1;
    if (corner < 0 || corner >= points || static_cast<float>(corner + (from_one ? 1 : 0)) != value) {
      fail(source.doing(), fmt::format("whole numbers from 0 to {} as corners", points - 1),
           fmt::format("{} in sample {}", value, sample), "corners are indices of the output's points");
    }
    corners.push_back(corner);
  }
  return corners;
}

}  // namespace lano
