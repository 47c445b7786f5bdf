// Pooling and interpolation are products with small matrices, axis by axis on a patch grid (2 N C m1 operations: a
// hundredth of a block), with one [M, N] matrix along an order. The stencil is a depthwise convolution; on a mesh other
// than the trained one its edges fade and its taps spread as docs/model.md says, and along the order of a cloud, where
// the spread depends on N, each tap is two gathers.
#include "runtime/onnx/points.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace lano::onnx {
namespace {

constexpr std::int64_t kFloat = static_cast<std::int64_t>(Type::float32),
                       kDouble = static_cast<std::int64_t>(Type::float64),
                       kInt = static_cast<std::int64_t>(Type::int64);

Value cast(Graph& g, const Value& x, std::int64_t type) { return g.node("Cast", {x}, {{"to", type}}); }
Value reshape(Graph& g, const Value& x, const std::vector<std::int64_t>& shape) {
  return g.node("Reshape", {x, g.list(shape)});
}

// matrix [to, from] along the middle axis of x seen as [-1, from, behind].
Value along_axis(Graph& g, const Value& x, const std::vector<float>& matrix, std::int64_t to, std::int64_t from,
                 std::int64_t behind) {
  return g.node("MatMul", {g.floats({to, from}, matrix), reshape(g, x, {-1, from, behind})});
}

// [targets, extent]
std::vector<float> matrix_of(const kernels::AxisInterpolation& axis) {
  const auto extent = static_cast<std::size_t>(axis.extent);
  std::vector<float> matrix(static_cast<std::size_t>(axis.count) * extent);
  for (std::int64_t i = 0; i < axis.count; ++i) {
    const auto between = axis.at(static_cast<double>(i));
    float* const row = matrix.data() + static_cast<std::size_t>(i) * extent;
    row[between.low] += 1 - between.share;
    row[between.high] += between.share;
  }
  return matrix;
}

// [patches, points]
std::vector<float> matrix_of(const std::vector<kernels::PatchRange>& patches, std::int64_t points) {
  std::vector<float> matrix(patches.size() * static_cast<std::size_t>(points));
  for (std::size_t i = 0; i < patches.size(); ++i) {
    for (std::int64_t p = patches[i].begin; p < patches[i].end; ++p) {
      matrix[i * static_cast<std::size_t>(points) + static_cast<std::size_t>(p % points)] =
          1.0f / static_cast<float>(patches[i].end - patches[i].begin);
    }
  }
  return matrix;
}

bool reaches_whole_points(const std::vector<AxisLayout>& axes) {
  const auto whole = [](const AxisLayout& axis) {
    return axis.reach >= 1 && std::abs(axis.reach - std::round(axis.reach)) < 1e-3;
  };
  return std::all_of(axes.begin(), axes.end(), whole);
}

std::int64_t side_of(const AxisLayout& axis) { return static_cast<std::int64_t>(std::ceil(axis.reach - 1e-3)); }

// Three taps along `axis` of a filter [channels, extents...] become 2 side + 1: a tap between two points is
// shared linearly by them.
std::vector<double> spread(const std::vector<double>& filter, std::vector<std::int64_t>& extents, std::size_t axis,
                           double reach, std::int64_t side) {
  std::int64_t before = static_cast<std::int64_t>(filter.size()), behind = 1;
  for (std::size_t a = axis; a < extents.size(); ++a) before /= extents[a];
  for (std::size_t a = axis + 1; a < extents.size(); ++a) behind *= extents[a];
  extents[axis] = 2 * side + 1;
  std::vector<double> wide(static_cast<std::size_t>(before * extents[axis] * behind));
  for (std::int64_t tap = 0; tap < 3; ++tap) {
    const double place = std::clamp(static_cast<double>(side) + static_cast<double>(tap - 1) * reach, 0.0,
                                    static_cast<double>(2 * side));
    const auto low = static_cast<std::int64_t>(std::floor(place + 1e-9));
    const double share = std::max(0.0, place - static_cast<double>(low));
    for (std::int64_t k = 0; k < (share > 0 ? 2 : 1); ++k) {
      for (std::int64_t i = 0; i < before * behind; ++i) {
        const std::int64_t b = i / behind, c = i % behind;
        const double weight = filter[static_cast<std::size_t>((b * 3 + tap) * behind + c)];
        wide[static_cast<std::size_t>((b * extents[axis] + low + k) * behind + c)] +=
            (k == 0 ? 1 - share : share) * weight;
      }
    }
  }
  return wide;
}

// An axis of another mesh with `side` ghost points at both ends, which repeat the end points; all fade to zero over one
// trained step outside. The ghost points of a periodic axis are the points at its other end.
Value with_ghosts(Graph& g, const Value& image, std::size_t dim, std::size_t dims, const AxisLayout& axis,
                  std::int64_t points, std::int64_t side) {
  std::vector<std::int64_t> from;
  std::vector<float> weights;
  for (std::int64_t i = -side; i < points + side; ++i) {
    const double place = axis.place(static_cast<double>(i));
    from.push_back(axis.periodic ? wrapped(i, points) : std::clamp<std::int64_t>(i, 0, points - 1));
    weights.push_back(static_cast<float>(std::clamp(place + 1, 0.0, 1.0) *
                                         std::clamp(static_cast<double>(axis.trained) - place, 0.0, 1.0)));
  }
  Shape along(dims - dim, 1);
  along[0] = points + 2 * side;
  const Value read = g.node("Gather", {image, g.list(from)}, {{"axis", static_cast<std::int64_t>(dim)}});
  return axis.periodic || axis.held ? read : g.node("Mul", {read, g.floats(along, weights)});
}

}  // namespace

Points::Points(Graph& graph, const LanoConfig& config, const LanoShape& shape, const Shape& mesh,
               const std::vector<double>& spacing, const std::vector<double>& origin,
               const std::vector<std::int64_t>& patches, const Value& coordinates)
    : g_(graph),
      config_(config),
      shape_(shape),
      trained_(shape.patches.empty() ? std::vector<std::int64_t>{config.agents} : shape.patches) {
  // Of a cloud only what does not depend on N is read from the geometry: one point will do.
  const std::int64_t points = mesh.empty() ? 1 : element_count(mesh);
  layout_ = lano_layout(config, shape, points, mesh, spacing, origin, {});
  geometry_ = kernels::make_geometry(config, trained_, patches, points, mesh, layout_.axes, /*training=*/false);
  for (std::size_t a = 0; pools_on_mesh() && a < mesh.size(); ++a) {
    const std::int64_t most = std::max(trained_[a], patches[a]);
    if (mesh[a] > (std::int64_t{1} << 28) / most) {
      fail("exporting a model", "axes of at most 2^28 points times patches", shape_text(mesh),
           "use model.pool = sequence");
    }
  }
  if (!mesh.empty()) return;
  batch_and_count_ = g_.node("Slice", {g_.node("Shape", {coordinates}), g_.list({0}), g_.list({2})});
  count_ = g_.node("Gather", {batch_and_count_, g_.number(std::int64_t{1})});
}

Value Points::count() {
  if (count_.empty()) count_ = g_.number(geometry_.points);
  return count_;
}

Value Points::indices() {
  if (indices_.empty()) indices_ = g_.node("Range", {g_.number(std::int64_t{0}), count(), g_.number(std::int64_t{1})});
  return indices_;
}

Value Points::shaped(const Value& x, const std::vector<std::int64_t>& tail) {
  Value& shape = shapes_[tail];
  if (shape.empty()) {
    std::vector<std::int64_t> whole{-1, geometry_.points};
    whole.insert(whole.end(), tail.begin(), tail.end());
    shape = batch_and_count_.empty()
                ? g_.list(whole)
                : g_.node("Concat", {batch_and_count_, g_.list(tail)}, {{"axis", std::int64_t{0}}});
  }
  return g_.node("Reshape", {x, shape});
}

// Agent i of M reads the points floor(i N/M) .. ceil((i+1) N/M) - 1 of the order, each with 1 / their number.
Value Points::pool_of_order() {
  if (!pool_of_order_.empty()) return pool_of_order_;
  std::vector<std::int64_t> agents;
  for (std::int64_t i = 0; i <= this->agents(); ++i) agents.push_back(i);
  const std::span<const std::int64_t> all(agents);
  const Value m = g_.number(this->agents());
  const Value begin =
      g_.node("Div", {g_.node("Mul", {g_.ints({this->agents(), 1}, all.first(all.size() - 1)), count()}), m});
  const Value ends = g_.node("Mul", {g_.ints({this->agents(), 1}, all.last(all.size() - 1)), count()});
  const Value end = g_.node("Div", {g_.node("Add", {ends, g_.number(this->agents() - 1)}), m});
  const Value inside =
      g_.node("And", {g_.node("GreaterOrEqual", {indices(), begin}), g_.node("Less", {indices(), end})});
  return pool_of_order_ = g_.node("Div", {cast(g_, inside, kFloat), cast(g_, g_.node("Sub", {end, begin}), kFloat)});
}

Value Points::pooled(const Value& rows, std::int64_t width) {
  if (!pools_on_mesh()) return g_.node("MatMul", {pool_of_order(), shaped(rows, {width})});
  Value x = rows;
  std::int64_t behind = width * geometry_.points;
  for (std::size_t a = 0; a < geometry_.pool_shape.size(); ++a) {
    const auto patches = static_cast<std::int64_t>(geometry_.patches[a].size()), n = geometry_.pool_shape[a];
    behind /= n;
    x = along_axis(g_, x, matrix_of(geometry_.patches[a], n), patches, n, behind);
  }
  return reshape(g_, x, {-1, agents(), width});
}

Value Points::at_points(const std::string& name, const float* vector) {
  const Value trained =
      g_.weights(name, {geometry_.trained_agents}, {vector, static_cast<std::size_t>(geometry_.trained_agents)});
  if (pools_on_mesh()) {
    Value x = trained;
    std::int64_t behind = geometry_.trained_agents;
    for (const kernels::AxisInterpolation& axis : geometry_.at_points) {
      behind /= axis.extent;
      x = along_axis(g_, x, matrix_of(axis), axis.count, axis.extent, behind);
    }
    return reshape(g_, x, {-1});
  }
  if (low_high_share_.empty()) {
    // t = (n + 1/2) M/N - 1/2, clamped to the vector.
    const auto m = static_cast<double>(geometry_.trained_agents);
    const Value places = g_.node("Mul", {g_.node("Add", {cast(g_, indices(), kDouble), g_.number(0.5)}), g_.number(m)});
    const Value among = g_.node("Sub", {g_.node("Div", {places, cast(g_, count(), kDouble)}), g_.number(0.5)});
    const Value t = g_.node("Clip", {among, g_.number(0.0), g_.number(m - 1)});
    const Value below = g_.node("Floor", {t}), low = cast(g_, below, kInt);
    const Value high =
        g_.node("Min", {g_.node("Add", {low, g_.number(std::int64_t{1})}), g_.number(geometry_.trained_agents - 1)});
    const Value share = cast(g_, g_.node("Sub", {t, below}), kFloat);
    low_high_share_ = {low, high, share, g_.node("Sub", {g_.number(1.0f), share})};
  }
  return g_.node("Add", {g_.node("Mul", {low_high_share_[3], g_.node("Gather", {trained, low_high_share_[0]})}),
                         g_.node("Mul", {low_high_share_[2], g_.node("Gather", {trained, low_high_share_[1]})})});
}

Value Points::at_agents(const std::string& name, const float* vector) {
  std::vector<float> values(vector, vector + geometry_.trained_agents);
  if (!geometry_.at_agents.empty()) {
    std::vector<float> row(values.size());
    values.resize(static_cast<std::size_t>(agents()));
    kernels::interpolate(geometry_.at_agents, vector, 0, agents(), row.data(), values.data());
  }
  return g_.weights(name, {agents()}, values);
}

Value Points::nearness(std::int64_t heads) {
  if (!nearness_.empty()) return nearness_;
  const kernels::AgentPlaces& p = geometry_.places;
  Value features;  // [N, features] of the points' places
  if (pools_on_mesh()) {
    std::vector<float> rows(static_cast<std::size_t>(geometry_.points * p.features));
    kernels::place_features(geometry_.at_points, 0, geometry_.points, rows.data());
    features = g_.floats({geometry_.points, p.features}, rows);
  } else {
    // t = (n + 1/2) M/N - M/2, counted from the middle of the trained agents: t, t^2 and one.
    const auto m = static_cast<double>(geometry_.trained_agents);
    const Value scaled = g_.node("Mul", {g_.node("Add", {cast(g_, indices(), kDouble), g_.number(0.5)}), g_.number(m)});
    const Value t = g_.node("Sub", {g_.node("Div", {scaled, cast(g_, count(), kDouble)}), g_.number(m / 2)});
    const Value square = g_.node("Mul", {t, t}), one = g_.node("Sub", {t, g_.node("Sub", {t, g_.number(1.0)})});
    const auto column = [&](const Value& x) { return g_.node("Unsqueeze", {cast(g_, x, kFloat), g_.list({1})}); };
    features = g_.node("Concat", {column(t), column(square), column(one)}, {{"axis", std::int64_t{1}}});
  }
  std::vector<float> columns;  // [H, features, M], to the base e
  for (std::int64_t row = 0; row < heads * p.features; ++row) {
    for (std::int64_t m = 0; m < p.agents; ++m)
      columns.push_back(
          static_cast<float>(p.columns[static_cast<std::size_t>(row * p.padded + m)] / std::numbers::log2e));
  }
  return nearness_ = g_.node("MatMul", {features, g_.floats({heads, p.features, p.agents}, columns)});
}

Value Points::log_cells() {
  if (geometry_.cells.empty() || !log_cells_.empty()) return log_cells_;
  std::vector<float> logs;
  for (std::int64_t n = 0; n < geometry_.points; ++n)
    logs.push_back(kernels::log_cell(geometry_, n) / static_cast<float>(std::numbers::log2e));
  return log_cells_ = g_.floats({geometry_.points}, logs);
}

Value Points::exchange_maps(const std::string& name, const float* maps, std::int64_t heads) {
  const kernels::AgentPlaces& p = geometry_.places;
  const std::int64_t n = p.trained, m = p.agents;
  std::vector<float> used(maps, maps + heads * n * n);
  if (p.other_agents()) {  // U T D
    used.assign(static_cast<std::size_t>(heads * m * m), 0.0f);
    for (std::int64_t h = 0; h < heads; ++h) {
      std::vector<double> told(static_cast<std::size_t>(n * m), 0.0);  // T D
      for (std::int64_t a = 0; a < n; ++a) {
        for (std::int64_t b = 0; b < n; ++b) {
          const double t = maps[(h * n + a) * n + b];
          for (std::int64_t j = 0; j < m; ++j)
            told[static_cast<std::size_t>(a * m + j)] += t * p.down[static_cast<std::size_t>(b * p.padded + j)];
        }
      }
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < m; ++j) {
          double sum = 0;
          for (std::int64_t a = 0; a < n; ++a)
            sum += p.up[static_cast<std::size_t>(i * p.trained_padded + a)] * told[static_cast<std::size_t>(a * m + j)];
          used[static_cast<std::size_t>((h * m + i) * m + j)] = static_cast<float>(sum);
        }
      }
    }
  }
  return g_.weights(name, {heads, m, m}, used);
}

Value Points::conv(const Value& image, const std::string& name, const float* values, std::int64_t width) {
  const std::size_t axes = layout_.axes.size();
  const std::int64_t channels = width;
  std::vector<std::int64_t> extents(axes, 3), pads(2 * axes), dilations(axes, 1);
  std::int64_t taps = 1;
  for (std::size_t a = 0; a < axes; ++a) taps *= 3;
  std::vector<double> filter(values, values + channels * taps);
  Value x = image;
  const bool whole = reaches_whole_points(layout_.axes);
  for (std::size_t a = 0; a < axes; ++a) {
    const AxisLayout& axis = layout_.axes[a];
    const std::int64_t side = side_of(axis);
    if (!axis.moved && !axis.periodic && !axis.held) {
      pads[a] = pads[axes + a] = side;
    } else {
      x = with_ghosts(g_, x, 2 + a, 2 + axes, axis, layout_.mesh[a], side);
    }
    if (whole) dilations[a] = side;
    if (!whole) filter = spread(filter, extents, a, axis.reach, side);
  }
  Shape shape{channels, 1};
  shape.insert(shape.end(), extents.begin(), extents.end());
  const Value weight = g_.weights(name, shape, std::vector<float>(filter.begin(), filter.end()));
  return g_.node("Conv", {x, weight},
                 {{"kernel_shape", extents}, {"pads", pads}, {"dilations", dilations}, {"group", channels}});
}

// Along the Hilbert order of N points the taps lie r = N/N0 points away (N0: points in training), between two points
// where r is not whole, and values fade outside the trained places; for N = N0 this is the plain stencil with zeros
// outside.
void Points::find_cloud_taps() {
  const auto one = [&](double value) { return g_.number(value); };
  const auto trained = static_cast<double>(shape_.points);
  const Value reach = g_.node("Div", {cast(g_, count(), kDouble), one(trained)});
  const Value side = g_.node("Ceil", {g_.node("Sub", {reach, one(1e-3)})});
  const Value off = g_.node("Abs", {g_.node("Sub", {reach, g_.node("Round", {reach})})});
  const Value whole = g_.node("And", {g_.node("GreaterOrEqual", {reach, one(1.0)}), g_.node("Less", {off, one(1e-3)})});
  const Value away = g_.node("Where", {whole, side, g_.node("Min", {reach, side})});
  const Value first = g_.node("Sub", {g_.node("Div", {one(0.5), reach}), one(0.5)}),
              last = g_.node("Sub", {count(), g_.number(std::int64_t{1})});
  const auto read = [&](const Value& share, const Value& shift) {
    const Value at = g_.node("Add", {indices(), shift});
    const Value place = g_.node("Add", {first, g_.node("Div", {cast(g_, at, kDouble), reach})});
    const Value before = g_.node("Clip", {g_.node("Add", {place, one(1.0)}), one(0.0), one(1.0)});
    const Value behind = g_.node("Clip", {g_.node("Sub", {one(trained), place}), one(0.0), one(1.0)});
    const Value fade = g_.node("Mul", {g_.node("Mul", {before, behind}), share});
    const Value points = g_.node("Min", {g_.node("Max", {at, g_.number(std::int64_t{0})}), last});
    return Read{points, g_.node("Unsqueeze", {cast(g_, fade, kFloat), g_.list({1})})};
  };
  for (const double tap : {-1.0, 0.0, 1.0}) {
    if (tap == 0) {
      cloud_taps_.push_back({read(one(1.0), g_.number(std::int64_t{0}))});
      continue;
    }
    const Value distance = g_.node("Mul", {away, one(tap)});
    const Value low = g_.node("Floor", {g_.node("Add", {distance, one(1e-9)})});
    const Value share = g_.node("Max", {g_.node("Sub", {distance, low}), one(0.0)});
    const Value shift = cast(g_, low, kInt);
    cloud_taps_.push_back({read(g_.node("Sub", {one(1.0), share}), shift),
                           read(share, g_.node("Add", {shift, g_.number(std::int64_t{1})}))});
  }
}

Value Points::cloud_stencil(const Value& rows, const std::string& name, const float* filter, std::int64_t width) {
  if (cloud_taps_.empty()) find_cloud_taps();
  const Value weight = g_.weights(name, {width, 1, 3}, {filter, static_cast<std::size_t>(3 * width)});
  const Value x = shaped(rows, {width});
  Value sum;
  for (std::size_t tap = 0; tap < 3; ++tap) {
    Value values;
    for (const Read& each : cloud_taps_[tap]) {
      const Value part =
          g_.node("Mul", {g_.node("Gather", {x, each.points}, {{"axis", std::int64_t{1}}}), each.weight});
      values = values.empty() ? part : g_.node("Add", {values, part});
    }
    const Value column =
        g_.node("Gather", {weight, g_.number(static_cast<std::int64_t>(tap))}, {{"axis", std::int64_t{2}}});
    const Value term = g_.node("Mul", {values, reshape(g_, column, {width})});
    sum = sum.empty() ? term : g_.node("Add", {sum, term});
  }
  return reshape(g_, sum, {-1, width});
}

// Distances of all pairs, [B, N, N]: fine for clouds of thousands of points; liblano searches a tree. TopK finds the K
// nearest and the one beyond, whose weight is zero (kernels/neighbours.h).
void Points::find_neighbours() {
  const auto one = [&](double value) { return g_.number(value); };
  const std::int64_t dims = shape_.dims;
  std::int64_t taps = 1;
  for (std::int64_t a = 0; a < dims; ++a) taps *= 3;
  const bool scaled = config_.dwc_spacing == DwcSpacing::physical && shape_.points > 0;
  const Value n = cast(g_, count(), kDouble);
  // K = max(2, round(taps N/N0)); half away from zero, as the runtime rounds
  Value nearest = one(static_cast<double>(taps));
  if (scaled) {
    nearest = g_.node("Div", {g_.node("Mul", {n, nearest}), one(static_cast<double>(shape_.points))});
    nearest = g_.node("Max", {g_.node("Floor", {g_.node("Add", {nearest, one(0.5)})}), one(2.0)});
  }
  const Value wanted = cast(g_, g_.node("Min", {g_.node("Add", {nearest, one(1.0)}), n}), kInt);
  const Value apart = cast(
      g_,
      g_.node("Sub", {g_.node("Unsqueeze", {places_, g_.list({1})}), g_.node("Unsqueeze", {places_, g_.list({2})})}),
      kDouble);  // [B, N, N, dx]
  const Value squares =
      g_.node("ReduceSum", {g_.node("Mul", {apart, apart}), g_.list({3})}, {{"keepdims", std::int64_t{0}}});
  const std::vector<Value> found = g_.nodes("TopK", 2, {squares, reshape(g_, wanted, {1})},
                                            {{"axis", std::int64_t{2}}, {"largest", std::int64_t{0}}});
  const Value farthest = g_.node("ReduceMax", {found[0]}, {{"axes", std::vector<std::int64_t>{2}}});  // [B, N, 1]
  const Value beyond =
      g_.node("Where", {g_.node("Greater", {n, nearest}), farthest, g_.node("Mul", {farthest, one(2.0)})});
  const Value spread = g_.node("Greater", {beyond, one(0.0)});
  // More than K points in one place: each reads itself alone.
  const Value own = g_.node("Unsqueeze", {indices(), g_.list({1})});
  near_ = g_.node("Unsqueeze", {g_.node("Where", {spread, found[1], own}), g_.list({3})});
  const Value reach = g_.node("Where", {spread, beyond, one(1.0)});  // no division by zero where all points are one
  const Value weight = g_.node(
      "Where",
      {spread, g_.node("Max", {g_.node("Sub", {one(1.0), g_.node("Div", {found[0], reach})}), one(0.0)}), one(1.0)});
  const Value sum = g_.node("ReduceSum", {weight, g_.list({2})}, {{"keepdims", std::int64_t{1}}});
  const Value share = g_.node("Div", {g_.node("Mul", {weight, one(static_cast<double>(taps))}), sum});  // [B, N, K]
  const Value others = g_.node("GatherND", {places_, near_}, {{"batch_dims", std::int64_t{1}}});        // [B, N, K, dx]
  const Value away = cast(g_, g_.node("Sub", {others, g_.node("Unsqueeze", {places_, g_.list({2})})}), kDouble);
  const Value scale = g_.node("Unsqueeze", {g_.node("Div", {one(2.0), g_.node("Sqrt", {reach})}), g_.list({3})});
  const Value place = g_.node("Clip", {g_.node("Mul", {away, scale}), one(-1.0), one(1.0)});
  std::vector<Value> axes;
  for (std::int64_t a = 0; a < dims; ++a)
    axes.push_back(g_.node("Gather", {place, g_.number(a)}, {{"axis", std::int64_t{3}}}));
  std::vector<Value> rows;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    Value hat = share;
    std::int64_t stride = taps;
    for (std::int64_t a = 0; a < dims; ++a) {
      stride /= 3;
      const Value off = g_.node(
          "Abs", {g_.node("Sub", {axes[static_cast<std::size_t>(a)], one(static_cast<double>(tap / stride % 3 - 1))})});
      hat = g_.node("Mul", {hat, g_.node("Max", {g_.node("Sub", {one(1.0), off}), one(0.0)})});
    }
    rows.push_back(g_.node("Unsqueeze", {cast(g_, hat, kFloat), g_.list({2})}));
  }
  shares_ = g_.node("Concat", rows, {{"axis", std::int64_t{2}}});
}

Value Points::neighbour_stencil(const Value& rows, const std::string& name, const float* filter, std::int64_t width) {
  if (near_.empty()) find_neighbours();
  std::int64_t taps = 1;
  Shape shape{width, 1};
  for (std::int64_t a = 0; a < shape_.dims; ++a) {
    taps *= 3;
    shape.push_back(3);
  }
  const Value weight = g_.weights(name, shape, {filter, static_cast<std::size_t>(taps * width)});
  const Value by_tap = g_.node("Transpose", {reshape(g_, weight, {width, taps})},
                               {{"perm", std::vector<std::int64_t>{1, 0}}});  // [taps, C]
  const Value read =
      g_.node("GatherND", {shaped(rows, {width}), near_}, {{"batch_dims", std::int64_t{1}}});  // [B, N, K, C]
  const Value terms = g_.node("Mul", {g_.node("MatMul", {shares_, read}), by_tap});            // [B, N, taps, C]
  const Value sum = g_.node("ReduceSum", {terms, g_.list({2})}, {{"keepdims", std::int64_t{0}}});
  return reshape(g_, sum, {-1, width});
}

Value Points::stencil(const Value& rows, const std::string& name, const float* filter, std::int64_t width) {
  if (layout_.mesh.empty() && config_.stencil == Stencil::neighbours)
    return neighbour_stencil(rows, name, filter, width);
  const bool scaled =
      config_.dwc_spacing == DwcSpacing::physical && config_.order == Order::hilbert && shape_.points > 0;
  if (layout_.mesh.empty() && scaled) return cloud_stencil(rows, name, filter, width);
  const std::vector<std::int64_t> swap{0, 2, 1};
  const Value columns = g_.node("Transpose", {shaped(rows, {width})}, {{"perm", swap}});  // [B, C, N]
  std::vector<std::int64_t> image{0, width};
  image.insert(image.end(), layout_.mesh.begin(), layout_.mesh.end());
  const Value read = conv(layout_.mesh.size() > 1 ? reshape(g_, columns, image) : columns, name, filter, width);
  const Value flat = layout_.mesh.size() > 1 ? reshape(g_, read, {0, width, -1}) : read;
  return reshape(g_, g_.node("Transpose", {flat}, {{"perm", swap}}), {-1, width});
}

}  // namespace lano::onnx
