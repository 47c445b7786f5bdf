// Cost per sample and head: 2 N M (2 dx + 1) for the bias in each of the two softmaxes, 2 M^2 D for the exchange.
#include "kernels/agent_places.h"

#include <array>
#include <cmath>
#include <numbers>

#include "kernels/geometry.h"
#include "model_spec/lano_sizes.h"

namespace lano::kernels {
namespace {

// Along one axis -|t - k|^2 = a(k) f(t) + b(k) g(t) + c(k), t and k counted from the middle of the trained patches, for
// float32's sake; on a periodic axis f and g are the cosine and sine of the angle.
struct AxisFeatures {
  double first = 0, second = 0;
};
struct AxisColumn {
  double first = 0, second = 0, constant = 0;
};

double centred(const AxisInterpolation& axis, double t) { return t - static_cast<double>(axis.extent - 1) / 2; }
double angle(const AxisInterpolation& axis, double t) {
  return 2 * std::numbers::pi * t / static_cast<double>(axis.extent);
}

AxisFeatures features_of(const AxisInterpolation& axis, double index) {
  const double t = centred(axis, axis.first + index * axis.step);
  if (axis.periodic) return {std::cos(angle(axis, t)), std::sin(angle(axis, t))};
  return {t, t * t};
}

AxisColumn column_of(const AxisInterpolation& axis, double place) {
  const double k = centred(axis, place);
  if (!axis.periodic) return {2 * k, -1, -k * k};
  const double m = static_cast<double>(axis.extent), chord = m * m / (2 * std::numbers::pi * std::numbers::pi);
  return {chord * std::cos(angle(axis, k)), chord * std::sin(angle(axis, k)), -chord};
}

std::vector<std::int64_t> index_of(std::int64_t flat, std::span<const AxisInterpolation> axes,
                                   std::int64_t AxisInterpolation::*size) {
  std::vector<std::int64_t> index(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    index[a] = flat % (axes[a].*size);
    flat /= axes[a].*size;
  }
  return index;
}

// up [agents, trained]: what interpolates a vector on the trained patches to each agent used; its rows add up to one.
// down [trained, agents]: the same weights the other way, each row divided by its sum.
void connect(AgentPlaces& p, std::span<const AxisInterpolation> agents) {
  const auto m = static_cast<std::size_t>(p.agents), padded_agents = static_cast<std::size_t>(p.padded);
  const auto n = static_cast<std::size_t>(p.trained), padded_trained = static_cast<std::size_t>(p.trained_padded);
  for (auto* matrix : {&p.up, &p.down_transposed}) matrix->assign(m * padded_trained, 0.0f);
  for (auto* matrix : {&p.up_transposed, &p.down}) matrix->assign(n * padded_agents, 0.0f);
  std::vector<float> unit(n), line(static_cast<std::size_t>(agents.back().extent)), at_agents(m);
  for (std::size_t b = 0; b < n; ++b) {
    unit.assign(n, 0.0f);
    unit[b] = 1;
    interpolate(agents, unit.data(), 0, p.agents, line.data(), at_agents.data());
    double sum = 0;
    for (const float weight : at_agents) sum += weight;
    for (std::size_t i = 0; i < m; ++i) {
      const float share = sum > 0 ? static_cast<float>(at_agents[i] / sum) : 0.0f;
      p.up[i * padded_trained + b] = p.up_transposed[b * padded_agents + i] = at_agents[i];
      p.down_transposed[i * padded_trained + b] = p.down[b * padded_agents + i] = share;
    }
  }
}

struct Product {
  std::int64_t rows, depth, columns;
  const float* a;
  std::int64_t a_stride;
  const float* b;
  float* c;
  const float* plus = nullptr;
};
// c = a b (+ plus), b and c in rows of `columns` floats.
void multiply(const Kernels& k, const Product& p) {
  k.gemm({.rows = p.rows,
          .depth = p.depth,
          .columns = p.columns,
          .a = p.a,
          .a_stride = p.a_stride,
          .b = p.b,
          .b_stride = p.columns,
          .c = p.c,
          .c_stride = p.columns,
          .plus = p.plus,
          .plus_stride = p.plus == nullptr ? 0 : p.columns});
}

}  // namespace

AgentPlaces make_agent_places(std::int64_t heads, std::span<const AxisInterpolation> axes,
                              std::span<const AxisInterpolation> agents) {
  AgentPlaces p;
  p.features = 2 * static_cast<std::int64_t>(axes.size()) + 1;
  p.trained = p.agents = 1;
  for (const AxisInterpolation& axis : axes) p.trained *= axis.extent;
  p.agents = p.trained;
  if (!agents.empty()) {
    p.agents = 1;
    for (const AxisInterpolation& axis : agents) p.agents *= axis.count;
  }
  p.padded = padded(p.agents);
  p.trained_padded = padded(p.trained);
  p.columns.assign(static_cast<std::size_t>(heads * p.features * p.padded), 0.0f);
  for (std::int64_t h = 0; h < heads; ++h) {
    const double near = nearness_of_head(h, heads);
    p.sees_all.push_back(near == 0 ? 1 : 0);
    for (std::int64_t m = 0; m < p.agents; ++m) {
      const auto index = agents.empty() ? index_of(m, axes, &AxisInterpolation::extent)
                                        : index_of(m, agents, &AxisInterpolation::count);
      double constant = 0;
      const auto at = [&](std::int64_t feature) -> float& {
        return p.columns[static_cast<std::size_t>((h * p.features + feature) * p.padded + m)];
      };
      for (std::size_t a = 0; a < axes.size(); ++a) {
        const auto i = static_cast<double>(index[a]);
        const AxisColumn column = column_of(axes[a], agents.empty() ? i : agents[a].first + i * agents[a].step);
        at(2 * static_cast<std::int64_t>(a)) = static_cast<float>(std::numbers::log2e * near * column.first);
        at(2 * static_cast<std::int64_t>(a) + 1) = static_cast<float>(std::numbers::log2e * near * column.second);
        constant += column.constant;
      }
      at(p.features - 1) = static_cast<float>(std::numbers::log2e * near * constant);
    }
  }
  if (!agents.empty()) connect(p, agents);
  return p;
}

void place_features(std::span<const AxisInterpolation> axes, std::int64_t first, std::int64_t count, float* rows) {
  std::array<double, 3> index{};
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = first + i;
    for (std::size_t a = axes.size(); a-- > 0;) {
      index[a] = static_cast<double>(rest % axes[a].count);
      rest /= axes[a].count;
    }
    place_features_at(axes, {index.data(), axes.size()}, rows + i * (2 * static_cast<std::int64_t>(axes.size()) + 1));
  }
}

void place_features_at(std::span<const AxisInterpolation> axes, std::span<const double> index, float* row) {
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const AxisFeatures features = features_of(axes[a], index[a]);
    *row++ = static_cast<float>(features.first);
    *row++ = static_cast<float>(features.second);
  }
  *row = 1;
}

void exchange(const Kernels& k, const AgentPlaces& p, std::int64_t d, const float* y, const float* map, float* room,
              float* out) {
  if (!p.other_agents()) return multiply(k, {d, p.agents, p.padded, y, p.padded, map, out, y});
  float *const at_trained = room, *const changed = room + d * p.trained_padded;
  multiply(k, {d, p.agents, p.trained_padded, y, p.padded, p.down_transposed.data(), at_trained});
  multiply(k, {d, p.trained, p.trained_padded, at_trained, p.trained_padded, map, changed});
  multiply(k, {d, p.trained, p.padded, changed, p.trained_padded, p.up_transposed.data(), out, y});
}

void exchange_backward(const Kernels& k, const AgentPlaces& p, std::int64_t d, const float* y, const float* dout,
                       const float* map, float* room, float* dy, float* dmap) {
  // dT = (U^T dY')(D Y)^T over the D channels, dY = dY' + D^T T^T U^T dY'; U = D = 1 where agents are those trained.
  const float *at_trained = y, *dchanged = dout;
  if (p.other_agents()) {
    multiply(k, {d, p.agents, p.trained_padded, y, p.padded, p.down_transposed.data(), room});
    multiply(k, {d, p.agents, p.trained_padded, dout, p.padded, p.up.data(), room + d * p.trained_padded});
    at_trained = room;
    dchanged = room + d * p.trained_padded;
  }
  k.gemm({.rows = p.trained,
          .depth = d,
          .columns = p.trained_padded,
          .a = dchanged,
          .a_stride = p.trained_padded,
          .transposed = true,
          .b = at_trained,
          .b_stride = p.trained_padded,
          .c = dmap,
          .c_stride = p.trained_padded});
  if (!p.other_agents()) return multiply(k, {d, p.agents, p.padded, dout, p.padded, map, dy, dout});
  multiply(k, {d, p.trained, p.trained_padded, dchanged, p.trained_padded, map, room});
  multiply(k, {d, p.trained, p.padded, room, p.trained_padded, p.down.data(), dy, dout});
}

}  // namespace lano::kernels
