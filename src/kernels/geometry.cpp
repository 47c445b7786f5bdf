#include "kernels/geometry.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace lano::kernels {
namespace {

// t = (i + 1/2) m/n - 1/2, the place of i of n among m.
AxisInterpolation even_interpolation(std::int64_t n, std::int64_t m) {
  const double step = static_cast<double>(m) / static_cast<double>(n);
  return {n, m, 0.5 * step - 0.5, step};
}

// The same on a periodic axis, where places are modulo n0: the points of a patch are one run round the axis.
PatchRange wrapped_patch(std::int64_t i, std::int64_t m, std::int64_t n, const AxisLayout& layout) {
  const auto n0 = static_cast<double>(layout.trained);
  const double low = static_cast<double>(i * layout.trained / m) - 0.5,
               size = static_cast<double>(((i + 1) * layout.trained + m - 1) / m) - 0.5 - low;
  std::int64_t count = 0, first = 0, nearest = 0;
  double least = n0, closest = n0;
  for (std::int64_t p = 0; p < n; ++p) {
    const double place = layout.place(static_cast<double>(p)) - low + 1e-6,
                 inside = place - n0 * std::floor(place / n0);
    if (inside < size) ++count;
    if (inside < least) {
      least = inside;
      first = p;
    }
    const double away = std::abs(inside - size / 2), apart = std::min(away, n0 - away);
    if (apart < closest) {
      closest = apart;
      nearest = p;
    }
  }
  return count > 0 ? PatchRange{first, first + count} : PatchRange{nearest, nearest + 1};
}

// The points of patch i of m on an axis of n points; `layout` where the axis is another than the trained one.
PatchRange patch(std::int64_t i, std::int64_t m, std::int64_t n, const AxisLayout* layout) {
  if (layout == nullptr) return {i * n / m, ((i + 1) * n + m - 1) / m};
  if (layout->periodic) return wrapped_patch(i, m, n, *layout);
  // Trained points floor(i n0/m) .. ceil((i+1) n0/m) - 1, each reaching half a trained step to both sides; what lies
  // beyond the trained axis belongs to the end patches.
  const std::int64_t n0 = layout->trained;
  const double low = i == 0 ? -1e300 : static_cast<double>(i * n0 / m) - 0.5;
  const double high = i + 1 == m ? 1e300 : static_cast<double>(((i + 1) * n0 + m - 1) / m) - 0.5;
  const auto place = [&](std::int64_t p) { return layout->place(static_cast<double>(p)); };
  const double middle = (std::max(low, -0.5) + std::min(high, static_cast<double>(n0) - 0.5)) / 2;
  PatchRange range{n, 0};
  std::int64_t nearest = 0;
  for (std::int64_t p = 0; p < n; ++p) {
    if (place(p) >= low - 1e-6 && place(p) < high - 1e-6) {
      range.begin = std::min(range.begin, p);
      range.end = p + 1;
    }
    if (std::abs(place(p) - middle) < std::abs(place(nearest) - middle)) nearest = p;
  }
  if (range.begin >= range.end) range = {nearest, nearest + 1};  // a mesh coarser than the patches
  return range;
}

// The same entries listed by what they read: of(j) holds the targets i, in rising order.
AxisTable inverted(const AxisTable& table, std::int64_t others) {
  AxisTable back;
  back.first.assign(static_cast<std::size_t>(others) + 1, 0);
  for (const auto& entry : table.entries) ++back.first[static_cast<std::size_t>(entry.other) + 1];
  for (std::size_t j = 0; j < static_cast<std::size_t>(others); ++j) back.first[j + 1] += back.first[j];
  back.entries.resize(table.entries.size());
  std::vector<std::int32_t> next(back.first.begin(), back.first.end() - 1);
  for (std::size_t i = 0; i + 1 < table.first.size(); ++i) {
    for (const auto& entry : table.of(static_cast<std::int64_t>(i))) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(entry.other)]++);
      back.entries[place] = {static_cast<std::int32_t>(i), entry.tap, entry.weight};
    }
  }
  return back;
}

// Calls see(corner, weight) for the corners of the cell around index `lead` of all axes but the last, in floats of
// vector.
template <class See>
void leading_corners(std::span<const AxisInterpolation> axes, std::int64_t lead, See&& see) {
  const std::size_t leading = axes.size() - 1;
  for (unsigned corner = 0; corner < 1u << leading; ++corner) {
    std::int64_t rest = lead, at = 0, stride = axes[leading].extent;
    float weight = 1;
    for (std::size_t a = leading; a-- > 0;) {
      const auto between = axes[a].at(static_cast<double>(rest % axes[a].count));
      rest /= axes[a].count;
      const bool high = (corner >> a & 1u) != 0;
      at += stride * (high ? between.high : between.low);
      weight *= high ? between.share : 1 - between.share;
      stride *= axes[a].extent;
    }
    if (weight != 0) see(at, weight);
  }
}

AxisTable stencil_table(const StencilAxis& axis) {
  AxisTable table;
  for (std::int64_t i = 0; i < axis.points; ++i) {
    const StencilAxis::Entries found = axis.at(static_cast<double>(i));
    table.entries.insert(table.entries.end(), found.entries.begin(),
                         found.entries.begin() + static_cast<std::ptrdiff_t>(found.count));
    table.first.push_back(static_cast<std::int32_t>(table.entries.size()));
  }
  return table;
}

void write_table(Geometry& g) {
  std::int64_t taps = 1;
  for (std::size_t a = 0; a < g.stencil_shape.size(); ++a) taps *= 3;
  g.table = TapTable(taps);
  std::vector<TapTable::Read> reads;
  for (std::int64_t point = 0; point < g.points; ++point) {
    reads.clear();
    for_stencil(g, point, [&](std::int64_t row, std::int64_t tap, float weight) {
      reads.push_back({tap, {static_cast<std::int32_t>(row), weight}});
    });
    g.table.add_point(reads);
  }
}

}  // namespace

AxisInterpolation::Between AxisInterpolation::at(double i) const {
  if (periodic) {
    const double t = first + i * step, below = std::floor(t);
    const std::int64_t low = wrapped(static_cast<std::int64_t>(below), extent);
    return {low, wrapped(low + 1, extent), static_cast<float>(t - below)};
  }
  const double t = std::clamp(first + i * step, 0.0, static_cast<double>(extent - 1));
  const auto low = static_cast<std::int64_t>(t);
  return {low, std::min(low + 1, extent - 1), static_cast<float>(t - static_cast<double>(low))};
}

// On another axis than the trained one, values fade to zero over one trained step outside the trained points, where the
// zero padding of the training began; beyond the ends the end point is read. Where ends are held, nothing fades; a
// periodic axis has no ends.
StencilAxis::Entries StencilAxis::at(double i) const {
  const auto side = std::ceil(layout.reach - 1e-3);
  const auto fade = [&](std::int64_t j) {
    if (layout.periodic || layout.held) return 1.0;
    if (!layout.moved) return j >= 0 && j < points ? 1.0 : 0.0;
    const double place = layout.place(static_cast<double>(j));
    return std::clamp(place + 1, 0.0, 1.0) * std::clamp(static_cast<double>(layout.trained) - place, 0.0, 1.0);
  };
  Entries found;
  for (std::int32_t tap = 0; tap < 3; ++tap) {
    const double away = i + (whole ? (tap - 1) * side : std::clamp((tap - 1) * layout.reach, -side, side));
    const auto low = static_cast<std::int64_t>(std::floor(away + 1e-9));
    const double share = std::max(0.0, away - static_cast<double>(low));
    for (std::int64_t k = 0; k < 2; ++k) {
      const double weight = (k == 0 ? 1 - share : share) * fade(low + k);
      if (weight == 0) continue;
      const std::int64_t other =
          layout.periodic ? wrapped(low + k, points) : std::clamp<std::int64_t>(low + k, 0, points - 1);
      found.entries[found.count++] = {static_cast<std::int32_t>(other), tap, static_cast<float>(weight)};
    }
  }
  return found;
}

Geometry make_geometry(const LanoConfig& config, const std::vector<std::int64_t>& trained,
                       const std::vector<std::int64_t>& used, std::int64_t points, const Shape& mesh,
                       const std::vector<AxisLayout>& axes, bool training, bool tables) {
  if (points > (std::int64_t{1} << 28))
    fail("arranging the points of a sample", "at most 2^28", std::to_string(points));
  Geometry g;
  g.points = points;
  g.agents = element_count(used);
  g.trained_agents = element_count(trained);
  const bool grid = pools_on_grid(config, trained, mesh);
  bool moved = false;
  for (const AxisLayout& axis : axes) moved = moved || axis.moved;
  g.pool_shape = grid ? mesh : Shape{points};
  for (std::size_t a = 0; a < g.pool_shape.size(); ++a) {
    const std::int64_t n = g.pool_shape[a], m = used[a];
    std::vector<PatchRange> ranges;
    AxisTable bins;
    for (std::int64_t i = 0; i < m; ++i) {
      ranges.push_back(patch(i, m, n, grid && moved ? &axes[a] : nullptr));
      const PatchRange& range = ranges.back();
      for (std::int64_t p = range.begin; training && p < range.end; ++p) {
        bins.entries.push_back(
            {static_cast<std::int32_t>(p % n), 0, 1.0f / static_cast<float>(range.end - range.begin)});
      }
      bins.first.push_back(static_cast<std::int32_t>(bins.entries.size()));
    }
    g.patches.push_back(std::move(ranges));
    if (training) g.patches_of.push_back(inverted(bins, n));

    g.at_points.push_back(even_interpolation(n, trained[a]));
    if (grid && axes[a].moved) {  // at another resolution n and N are those of the training
      const double patches = static_cast<double>(trained[a]) / static_cast<double>(axes[a].trained);
      g.at_points.back().first = (axes[a].first + 0.5) * patches - 0.5;
      g.at_points.back().step = patches / axes[a].reach;
    }
    if (used != trained) g.at_agents.push_back(even_interpolation(m, trained[a]));
    const bool round = grid && axes[a].periodic;
    g.at_points.back().periodic = round;
    if (used != trained) g.at_agents.back().periodic = round;
  }
  if (std::any_of(axes.begin(), axes.end(), [](const AxisLayout& axis) { return axis.held && axis.moved; })) {
    for (std::size_t a = 0; a < mesh.size(); ++a) {
      std::vector<float>& logs = g.cells.emplace_back();
      for (std::int64_t i = 0; i < mesh[a]; ++i)
        logs.push_back(static_cast<float>(std::log2(axes[a].cell(i, mesh[a]))));
    }
  }
  if (config.exchange) g.places = make_agent_places(config.heads, g.at_points, g.at_agents);
  if (has_stencil(config) && !(mesh.empty() && config.stencil == Stencil::neighbours)) {
    g.stencil_shape = mesh.empty() ? Shape{points} : mesh;
    bool whole = true;
    for (const AxisLayout& axis : axes)
      whole = whole && axis.reach >= 1 && std::abs(axis.reach - std::round(axis.reach)) < 1e-3;
    for (std::size_t a = 0; a < g.stencil_shape.size(); ++a) {
      const StencilAxis& axis = g.stencil.emplace_back(StencilAxis{axes[a], g.stencil_shape[a], whole});
      if (g.stencil_shape.size() > 1) g.taps.push_back(stencil_table(axis));
      g.most_taps *= static_cast<std::int64_t>(axis.at(0).entries.size());
    }
    tables = tables && (training || points <= kWorthATable);
    if (tables) write_table(g);
    if (tables && training) g.table_back = g.table.transposed(points);
  }
  return g;
}

float log_cell(const Geometry& g, std::int64_t point) {
  float sum = 0;
  for (std::size_t a = g.cells.size(); a-- > 0;) {
    const auto extent = static_cast<std::int64_t>(g.cells[a].size());
    sum += g.cells[a][static_cast<std::size_t>(point % extent)];
    point /= extent;
  }
  return sum;
}

void interpolate(std::span<const AxisInterpolation> axes, const float* vector, std::int64_t first, std::int64_t count,
                 float* row, float* out) {
  const AxisInterpolation& last = axes.back();
  std::int64_t known = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t lead = (first + i) / last.count;
    if (lead != known) {
      known = lead;
      std::fill_n(row, last.extent, 0.0f);
      leading_corners(axes, lead, [&](std::int64_t at, float weight) {
        for (std::int64_t j = 0; j < last.extent; ++j) row[j] += weight * vector[at + j];
      });
    }
    const auto between = last.at(static_cast<double>(first + i - lead * last.count));
    out[i] = (1 - between.share) * row[between.low] + between.share * row[between.high];
  }
}

float interpolate_at(std::span<const AxisInterpolation> axes, const float* vector, std::span<const double> index) {
  float sum = 0;
  for (unsigned corner = 0; corner < 1u << axes.size(); ++corner) {
    std::int64_t at = 0;
    float weight = 1;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const auto between = axes[a].at(index[a]);
      const bool high = (corner >> a & 1u) != 0;
      at = at * axes[a].extent + (high ? between.high : between.low);
      weight *= high ? between.share : 1 - between.share;
    }
    sum += weight * vector[at];
  }
  return sum;
}

void interpolate_back(std::span<const AxisInterpolation> axes, const float* slopes, std::int64_t first,
                      std::int64_t count, float* row, float* gradient) {
  const AxisInterpolation& last = axes.back();
  const std::int64_t n = last.count;
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t lead = (first + i) / n, end = std::min(count, (lead + 1) * n - first);
    std::fill_n(row, last.extent, 0.0f);
    for (; i < end; ++i) {
      const auto between = last.at(static_cast<double>(first + i - lead * n));
      row[between.low] += (1 - between.share) * slopes[i];
      row[between.high] += between.share * slopes[i];
    }
    leading_corners(axes, lead, [&](std::int64_t at, float weight) {
      for (std::int64_t j = 0; j < last.extent; ++j) gradient[at + j] += weight * row[j];
    });
  }
}

}  // namespace lano::kernels
