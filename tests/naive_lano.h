// LANO once more, from the equations of docs/model.md alone: nested loops in double over named weights, no LibTorch
// operator. The truth that every engine is compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/dropout.h"
#include "model_spec/lano_config.h"

namespace lano::test {

using Matrix = std::vector<std::vector<double>>;  // [rows][columns]

class NaiveLano {
 public:
  using Weights = std::map<std::string, std::vector<double>>;
  NaiveLano(Weights weights, LanoConfig config, LanoShape shape)
      : config_(std::move(config)), shape_(std::move(shape)), weights_(std::move(weights)) {}

  std::vector<double>& tensor(const std::string& name) { return weights_.at(name); }
  // What dropout lets through of a branch of a block; empty: everything.
  std::function<void(std::int64_t block, kernels::Branch, Matrix&)> drop;

  // features: rows [x, a(x)] of one sample; mesh empty for clouds (already in order).
  // At another resolution: reach, the distance of the stencil's outer taps in points per axis, and first, the place of
  // the first point in trained points. patches: the agents' grid at run time.
  Matrix forward(const Matrix& features, const Shape& mesh, std::vector<double> reach = {}, Shape patches = {},
                 double time = 0, std::vector<double> first = {}) {
    moved_ = !reach.empty();
    reach_ = reach.empty() ? std::vector<double>(3, 1.0) : std::move(reach);
    first_ = first.empty() ? std::vector<double>(3, 0.0) : std::move(first);
    trained_ = shape_.patches.empty() ? Shape{config_.agents} : shape_.patches;
    used_ = patches.empty() ? trained_ : std::move(patches);
    places_.clear();
    for (const auto& row : features) places_.emplace_back(row.begin(), row.begin() + shape_.dims);
    Matrix f = linear(gelu(linear(positioned(features), "encoder1")), "encoder2");
    for (auto& row : f) {
      for (std::size_t c = 0; c < row.size(); ++c) row[c] += w("placeholder")[c];
    }
    if (config_.task == Task::time_conditional) {
      const double tau = (time - shape_.time_origin) / shape_.time_step;
      const auto half = static_cast<std::size_t>(config_.width / 2);
      Matrix wave(1, std::vector<double>(2 * half));
      for (std::size_t k = 0; k < half; ++k) {
        const double angle = tau * std::pow(10000.0, -static_cast<double>(k) / static_cast<double>(half));
        wave[0][k] = std::sin(angle);
        wave[0][half + k] = std::cos(angle);
      }
      Matrix hidden = linear(wave, "time1");
      for (double& v : hidden[0]) v = v / (1 + std::exp(-v));
      const Matrix shift = linear(hidden, "time2");
      for (auto& row : f) {
        for (std::size_t c = 0; c < row.size(); ++c) row[c] += shift[0][c];
      }
    }
    for (std::int64_t l = 0; l < config_.layers; ++l) {
      const std::string b = "blocks." + std::to_string(l) + ".";
      Matrix attended = attention(layer_norm(f, b + "norm1"), b + "attention.", mesh);
      if (drop) drop(l, kernels::Branch::attention, attended);
      add(f, attended);
      Matrix hidden = linear(layer_norm(f, b + "norm2"), b + "ffn1");
      if (config_.ffn_stencil) add(hidden, stencil(hidden, w(b + "ffn_dwc"), mesh));
      Matrix fed = linear(gelu(hidden), b + "ffn2");
      if (drop) drop(l, kernels::Branch::feed_forward, fed);
      add(f, fed);
    }
    f = layer_norm(f, "norm");
    if (config_.decoder == Decoder::mlp) f = gelu(linear(f, "decoder_hidden"));
    return linear(f, "decoder");
  }

 private:
  const std::vector<double>& w(const std::string& name) const { return weights_.at(name); }
  bool has(const std::string& name) const { return weights_.contains(name); }

  // Coordinates replaced by distances to the 8^dx nodes of the reference grid, last axis fastest.
  Matrix positioned(const Matrix& features) const {
    if (config_.position == Position::coordinates) return features;
    const auto dims = static_cast<std::size_t>(shape_.dims);
    const Shape grid(dims, 8);
    Matrix out;
    for (const auto& row : features) {
      std::vector<double> changed;
      for (std::int64_t node = 0; node < element_count(grid); ++node) {
        const auto index = index_of(node, grid);
        double squares = 0;
        for (std::size_t a = 0; a < dims; ++a) {
          const double low = shape_.reference_box[2 * a], high = shape_.reference_box[2 * a + 1];
          squares += std::pow(row[a] - (low + static_cast<double>(index[a]) / 7 * (high - low)), 2);
        }
        changed.push_back(std::sqrt(squares));
      }
      changed.insert(changed.end(), row.begin() + static_cast<std::ptrdiff_t>(dims), row.end());
      out.push_back(changed);
    }
    return out;
  }

  Matrix linear(const Matrix& x, const std::string& name) const {
    const auto& weight = w(name + ".weight");
    const std::size_t in = x[0].size(), out = weight.size() / in;
    Matrix y(x.size(), std::vector<double>(out, 0.0));
    for (std::size_t n = 0; n < x.size(); ++n) {
      for (std::size_t o = 0; o < out; ++o) {
        double sum = has(name + ".bias") ? w(name + ".bias")[o] : 0;
        for (std::size_t i = 0; i < in; ++i) sum += weight[o * in + i] * x[n][i];
        y[n][o] = sum;
      }
    }
    return y;
  }

  static Matrix gelu(Matrix x) {
    for (auto& row : x) {
      for (double& v : row) v = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    }
    return x;
  }

  static void add(Matrix& to, const Matrix& what) {
    for (std::size_t n = 0; n < to.size(); ++n) {
      for (std::size_t c = 0; c < to[n].size(); ++c) to[n][c] += what[n][c];
    }
  }

  Matrix layer_norm(Matrix x, const std::string& name) const {
    for (auto& row : x) {
      double mean = 0, variance = 0;
      for (const double v : row) mean += v / static_cast<double>(row.size());
      for (const double v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      for (std::size_t c = 0; c < row.size(); ++c) {
        row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * w(name + ".weight")[c] + w(name + ".bias")[c];
      }
    }
    return x;
  }

  // Axes that pooling works on: the mesh, or the line of all points.
  Shape pooled_axes(const Shape& mesh, std::size_t points) const {
    return shape_.patches.empty() ? Shape{static_cast<std::int64_t>(points)} : mesh;
  }

  static std::vector<std::int64_t> index_of(std::int64_t flat, const Shape& axes) {
    std::vector<std::int64_t> index(axes.size());
    for (std::size_t a = axes.size(); a-- > 0;) {
      index[a] = flat % axes[a];
      flat /= axes[a];
    }
    return index;
  }

  Matrix pool(const Matrix& q, const Shape& mesh) const {
    const Shape axes = pooled_axes(mesh, q.size()), patches = used_;
    const std::int64_t agents = element_count(patches);
    Matrix out(static_cast<std::size_t>(agents), std::vector<double>(q[0].size(), 0.0));
    for (std::int64_t m = 0; m < agents; ++m) {
      const auto bin = index_of(m, patches);
      double count = 0;
      for (std::size_t n = 0; n < q.size(); ++n) {
        const auto at = index_of(static_cast<std::int64_t>(n), axes);
        bool inside = true;
        for (std::size_t a = 0; a < axes.size(); ++a) {
          // Bins hold trained points; at another resolution each point belongs to the trained point nearest to it.
          const bool by_place = moved_ && !shape_.patches.empty();
          const std::int64_t size = by_place ? shape_.mesh[a] : axes[a];
          const std::int64_t first = bin[a] * size / patches[a];
          const std::int64_t last = ((bin[a] + 1) * size + patches[a] - 1) / patches[a] - 1;
          std::int64_t cell = at[a];
          if (by_place) {
            cell =
                static_cast<std::int64_t>(std::floor(first_[a] + static_cast<double>(at[a]) / reach_[a] + 0.5 + 1e-6));
            cell = round(a) ? (cell % size + size) % size : std::clamp<std::int64_t>(cell, 0, size - 1);
          }
          inside = inside && cell >= first && cell <= last;
        }
        if (!inside) continue;
        ++count;
        for (std::size_t c = 0; c < q[n].size(); ++c) out[static_cast<std::size_t>(m)][c] += q[n][c];
      }
      for (double& v : out[static_cast<std::size_t>(m)]) v /= count;
    }
    return out;
  }

  // A vector on the trained patches, read at piece n of `axes`: multilinear at t = (n+1/2) m/N - 1/2, clamped, per
  // axis.
  double up(const std::vector<double>& vector, std::size_t n, const Shape& axes, bool of_points) const {
    const Shape& patches = trained_;
    const auto at = index_of(static_cast<std::int64_t>(n), axes);
    double sum = 0;
    for (std::size_t corner = 0; corner < (std::size_t{1} << axes.size()); ++corner) {
      double weight = 1;
      std::int64_t flat = 0;
      for (std::size_t a = 0; a < axes.size(); ++a) {
        const auto m = static_cast<double>(patches[a]);
        double place = static_cast<double>(at[a]), size = static_cast<double>(axes[a]);
        if (of_points && moved_ && !shape_.patches.empty()) {
          place = first_[a] + place / reach_[a];
          size = static_cast<double>(shape_.mesh[a]);
        }
        const bool wraps = !shape_.patches.empty() && round(a);
        double t = in_patches(place, m, size);
        t = wraps ? t + m * std::ceil(-t / m) : std::clamp(t, 0.0, m - 1);
        const auto low = static_cast<std::int64_t>(t);
        const bool high = (corner >> a & 1) != 0;
        weight *= high ? t - static_cast<double>(low) : 1 - (t - static_cast<double>(low));
        const std::int64_t corner_at = low + (high ? 1 : 0);
        flat = flat * patches[a] + (wraps ? corner_at % patches[a] : std::min(corner_at, patches[a] - 1));
      }
      sum += weight * vector[static_cast<std::size_t>(flat)];
    }
    return sum;
  }

  static double in_patches(double place, double patches, double size) { return (place + 0.5) * patches / size - 0.5; }

  // The squared distance of point n and agent m in trained patches; of the chord on a circle.
  double squared_distance(std::size_t n, const Shape& axes, std::size_t m) const {
    const auto point = index_of(static_cast<std::int64_t>(n), axes),
               agent = index_of(static_cast<std::int64_t>(m), used_);
    double sum = 0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const auto patches = static_cast<double>(trained_[a]);
      double place = static_cast<double>(point[a]), size = static_cast<double>(axes[a]);
      if (moved_ && !shape_.patches.empty()) {
        place = first_[a] + place / reach_[a];
        size = static_cast<double>(shape_.mesh[a]);
      }
      const double away = in_patches(place, patches, size) -
                          in_patches(static_cast<double>(agent[a]), patches, static_cast<double>(used_[a]));
      const bool wraps = !shape_.patches.empty() && round(a);
      sum += std::pow(wraps ? patches / M_PI * std::sin(M_PI * away / patches) : away, 2);
    }
    return sum;
  }

  // The agents of a head after their exchange: y_i + sum_a U_ia sum_b T_ab (sum_j U_jb y_j / sum_j U_jb), where U reads
  // a vector on the trained patches at the agents used.
  Matrix exchanged(const Matrix& y, const std::vector<double>& maps, std::size_t head) const {
    const auto trained = static_cast<std::size_t>(config_.agents);
    const std::size_t used = y.size(), width = y[0].size();
    Matrix u(used, std::vector<double>(trained));
    for (std::size_t a = 0; a < trained; ++a) {
      std::vector<double> unit(trained, 0.0);
      unit[a] = 1;
      for (std::size_t i = 0; i < used; ++i) u[i][a] = up(unit, i, used_, false);
    }
    Matrix changed = y;
    for (std::size_t a = 0; a < trained; ++a) {
      for (std::size_t b = 0; b < trained; ++b) {
        const double t = maps[(head * trained + a) * trained + b];
        double sum = 0;
        for (std::size_t j = 0; j < used; ++j) sum += u[j][b];
        for (std::size_t j = 0; j < used && sum > 0; ++j) {
          for (std::size_t i = 0; i < used; ++i) {
            for (std::size_t c = 0; c < width; ++c) changed[i][c] += u[i][a] * t * u[j][b] / sum * y[j][c];
          }
        }
      }
    }
    return changed;
  }

  // How much a head prefers near agents: the first of several not at all, the others from 0.05 to 1 in equal ratios.
  static double nearness(std::size_t head, std::size_t heads) {
    if (heads <= 2) return head + 1 == heads ? 0.2 : 0;
    return head == 0 ? 0 : std::pow(0.05, 1 - static_cast<double>(head - 1) / static_cast<double>(heads - 2));
  }

  static void softmax(std::vector<double>& row) {
    double largest = -1e300, sum = 0;
    for (const double v : row) largest = std::max(largest, v);
    for (double& v : row) sum += v = std::exp(v - largest);
    for (double& v : row) v /= sum;
  }

  // Whether this axis of the mesh is a circle.
  bool round(std::size_t a) const { return !shape_.periodic.empty() && shape_.periodic[a]; }

  // At another resolution values fade linearly between the last trained point and the zero padding one step outside.
  double fading(std::size_t a, std::int64_t at, std::int64_t size) const {
    if (round(a) || (config_.padding == Padding::edge && shape_.axes > 0)) return 1;
    if (!moved_) return at >= 0 && at < size ? 1 : 0;
    const double n0 = static_cast<double>(shape_.axes == 0 ? shape_.points : shape_.mesh[a]);
    const double here = (shape_.axes == 0 ? 0.5 / reach_[a] - 0.5 : first_[a]) + static_cast<double>(at) / reach_[a];
    return std::clamp(here + 1, 0.0, 1.0) * std::clamp(n0 - here, 0.0, 1.0);
  }

  // The trained steps around a point of another mesh whose ends are held, over its own step: an end point stands for
  // half a trained step outside, too.
  double stands_for(std::size_t n, const Shape& mesh) const {
    if (config_.padding != Padding::edge || shape_.axes == 0 || !moved_) return 1;
    const auto at = index_of(static_cast<std::int64_t>(n), mesh);
    double product = 1;
    for (std::size_t a = 0; a < mesh.size(); ++a) {
      if (round(a)) continue;
      const double here = first_[a] + static_cast<double>(at[a]) / reach_[a], half = 0.5 / reach_[a];
      const double before = at[a] == 0 ? std::min(0.5, here + 0.5) : half;
      const double behind =
          at[a] + 1 == mesh[a] ? std::min(0.5, static_cast<double>(shape_.mesh[a]) - 0.5 - here) : half;
      product *= (before + behind) * reach_[a];
    }
    return product;
  }

  // V at a place between points along the axes: multilinear.
  double read(const Matrix& v, const Shape& axes, const std::vector<double>& place, std::size_t c) const {
    double sum = 0;
    for (std::size_t corner = 0; corner < (std::size_t{1} << axes.size()); ++corner) {
      double weight = 1;
      std::int64_t flat = 0;
      for (std::size_t a = 0; a < axes.size(); ++a) {
        const double low = std::floor(place[a] + 1e-9), share = std::max(0.0, place[a] - low);
        const bool high = (corner >> a & 1) != 0;
        const auto at = static_cast<std::int64_t>(low) + (high ? 1 : 0);
        weight *= (high ? share : 1 - share) * fading(a, at, axes[a]);
        flat = flat * axes[a] +
               (round(a) ? (at % axes[a] + axes[a]) % axes[a] : std::clamp<std::int64_t>(at, 0, axes[a] - 1));
      }
      if (weight != 0) sum += weight * v[static_cast<std::size_t>(flat)][c];
    }
    return sum;
  }

  // Clouds in space: each point reads the K nearest of all, sorted by distance; weights and places on the taps are
  // numbers of float32, as coordinates are.
  Matrix neighbour_stencil(const Matrix& v, const std::vector<double>& filter) const {
    const auto dims = static_cast<std::size_t>(shape_.dims);
    const double taps = std::pow(3.0, static_cast<double>(dims)), n = static_cast<double>(v.size());
    const bool scaled = config_.dwc_spacing == DwcSpacing::physical && shape_.points > 0;
    const auto nearest = static_cast<std::size_t>(
        std::max(2.0, std::round(taps * (scaled ? n / static_cast<double>(shape_.points) : 1))));
    Matrix out(v.size(), std::vector<double>(v[0].size(), 0.0));
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto away = [&](std::size_t j, std::size_t a) {
        return static_cast<double>(static_cast<float>(places_[i][a]) - static_cast<float>(places_[j][a]));
      };
      std::vector<std::pair<double, std::size_t>> all;
      for (std::size_t j = 0; j < v.size(); ++j) {
        double square = 0;
        for (std::size_t a = 0; a < dims; ++a) square += away(j, a) * away(j, a);
        all.emplace_back(square, j);
      }
      std::sort(all.begin(), all.end());
      const double beyond = all.size() > nearest ? all[nearest].first : 2 * all.back().first;
      if (!(beyond > 0)) all = {{0.0, i}};  // more points in one place than it reads: itself alone
      double sum = 0;
      for (const auto& [square, j] : all) sum += beyond > 0 ? std::max(0.0, 1 - square / beyond) : 1;
      for (const auto& [square, j] : all) {
        const float share = static_cast<float>(beyond > 0 ? std::max(0.0, 1 - square / beyond) : 1.0);
        const double weight = share * static_cast<float>(taps / sum);
        if (weight == 0) continue;
        for (std::int64_t tap = 0; tap < static_cast<std::int64_t>(taps); ++tap) {
          const auto at = index_of(tap, Shape(dims, 3));
          double hat = weight;
          for (std::size_t a = 0; a < dims; ++a) {
            const float place =
                beyond > 0 ? static_cast<float>(std::clamp(-2 * away(j, a) / std::sqrt(beyond), -1.0, 1.0)) : 0.0f;
            hat *= std::max(0.0, 1 - std::abs(place - static_cast<double>(at[a] - 1)));
          }
          for (std::size_t c = 0; c < v[i].size(); ++c)
            out[i][c] += hat * filter[c * static_cast<std::size_t>(taps) + static_cast<std::size_t>(tap)] * v[j][c];
        }
      }
    }
    return out;
  }

  Matrix stencil(const Matrix& v, const std::vector<double>& filter, const Shape& mesh) const {
    if (shape_.axes == 0 && config_.stencil == Stencil::neighbours) return neighbour_stencil(v, filter);
    const Shape axes = shape_.axes == 0 ? Shape{static_cast<std::int64_t>(v.size())} : mesh;
    std::int64_t taps = 1;
    for (std::size_t a = 0; a < axes.size(); ++a) taps *= 3;
    Matrix out(v.size(), std::vector<double>(v[0].size(), 0.0));
    for (std::size_t n = 0; n < v.size(); ++n) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const auto offset = index_of(tap, Shape(axes.size(), 3)), at = index_of(static_cast<std::int64_t>(n), axes);
        std::vector<double> place(axes.size());
        for (std::size_t a = 0; a < axes.size(); ++a) {
          place[a] = static_cast<double>(at[a]) + static_cast<double>(offset[a] - 1) * reach_[a];
        }
        for (std::size_t c = 0; c < v[n].size(); ++c) {
          out[n][c] +=
              filter[c * static_cast<std::size_t>(taps) + static_cast<std::size_t>(tap)] * read(v, axes, place, c);
        }
      }
    }
    return out;
  }

  Matrix attention(const Matrix& x, const std::string& name, const Shape& mesh) const {
    const std::size_t points = x.size(), width = x[0].size(), heads = static_cast<std::size_t>(config_.heads),
                      d = width / heads;
    const auto agents = static_cast<std::size_t>(element_count(used_));
    const Shape axes = pooled_axes(mesh, points);
    const Matrix qkv = linear(x, name + "qkv");
    Matrix q(points), k(points), v(points);
    for (std::size_t n = 0; n < points; ++n) {
      const auto at = qkv[n].begin();
      const auto step = static_cast<std::ptrdiff_t>(width);
      q[n].assign(at, at + step);
      k[n].assign(at + step, at + 2 * step);
      v[n].assign(at + 2 * step, at + 3 * step);
    }
    Matrix a;
    if (config_.agent_tokens == Agents::latent) {
      for (std::size_t m = 0; m < agents; ++m) {
        const auto from = w(name + "latent").begin() + static_cast<std::ptrdiff_t>(m * width);
        a.emplace_back(from, from + static_cast<std::ptrdiff_t>(width));
      }
    } else {
      a = pool(q, mesh);
    }
    const auto bias1 = [&](std::size_t m, std::size_t n) {
      if (config_.bias == Bias::none) return 0.0;
      const double left = up(w(name + "bias1"), m, used_, false), right = up(w(name + "bias2"), n, axes, true);
      return config_.bias == Bias::outer ? left * right : left + right;
    };
    const auto bias2 = [&](std::size_t n, std::size_t m) {
      if (config_.bias == Bias::none) return 0.0;
      const double left = up(w(name + "bias3"), n, axes, true), right = up(w(name + "bias4"), m, used_, false);
      return config_.bias == Bias::outer ? left * right : left + right;
    };
    Matrix out(points, std::vector<double>(width, 0.0));
    for (std::size_t h = 0; h < heads; ++h) {
      const auto dot = [&](const std::vector<double>& l, const std::vector<double>& r) {
        double sum = 0;
        for (std::size_t c = h * d; c < (h + 1) * d; ++c) sum += l[c] * r[c];
        return sum / std::sqrt(static_cast<double>(d));
      };
      const auto apart = [&](std::size_t n, std::size_t m) {
        return config_.exchange ? nearness(h, heads) * squared_distance(n, axes, m) : 0;
      };
      Matrix y(agents, std::vector<double>(width, 0.0));
      for (std::size_t m = 0; m < agents; ++m) {
        std::vector<double> p(points);
        for (std::size_t n = 0; n < points; ++n)
          p[n] = dot(a[m], k[n]) + bias1(m, n) - apart(n, m) + std::log(stands_for(n, mesh));
        softmax(p);
        for (std::size_t n = 0; n < points; ++n) {
          for (std::size_t c = h * d; c < (h + 1) * d; ++c) y[m][c] += p[n] * v[n][c];
        }
      }
      if (config_.exchange) y = exchanged(y, w(name + "exchange"), h);
      for (std::size_t n = 0; n < points; ++n) {
        std::vector<double> p(agents);
        for (std::size_t m = 0; m < agents; ++m) p[m] = dot(q[n], a[m]) + bias2(n, m) - apart(n, m);
        softmax(p);
        for (std::size_t m = 0; m < agents; ++m) {
          for (std::size_t c = h * d; c < (h + 1) * d; ++c) out[n][c] += p[m] * y[m][c];
        }
      }
    }
    if (config_.dwc) add(out, stencil(v, w(name + "dwc"), mesh));
    return linear(out, name + "out");
  }

  LanoConfig config_;
  LanoShape shape_;
  std::vector<double> reach_, first_;
  bool moved_ = false;
  Matrix places_;  // coordinates of the points
  Shape trained_, used_;
  Weights weights_;
};

}  // namespace lano::test
