// One function per operator, in the order of its constructor (src/libtorch). Sizes are doubles: no product of what a
// recipe may say overflows them.
#include "model_spec/baseline_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "model_spec/lano_sizes.h"

namespace lano {
namespace {

double linear(double in, double out) { return in * out + out; }
double feed_forward(double in, double hidden, double out) { return linear(in, hidden) + linear(hidden, out); }
double norm(double width) { return 2 * width; }
double convolution(double axes, double in, double out, double side, bool bias = true) {
  return in * out * std::pow(side, axes) + (bias ? out : 0);
}
double spectral_convolution(double in, double out, double axes, double modes) {
  return std::pow(2, axes) * in * out * std::pow(modes, axes);  // 2^(axes-1) blocks of pairs
}

struct Sizes {
  const BaselineConfig& config;
  const LanoShape& shape;
  double layers = static_cast<double>(config.layers), heads = static_cast<double>(config.heads),
         width = static_cast<double>(config.width), hidden = static_cast<double>(config.ffn_ratio) * width,
         modes = static_cast<double>(config.modes);
  double inputs = static_cast<double>(shape.input_channels), outputs = static_cast<double>(shape.output_channels),
         dims = static_cast<double>(shape.dims), axes = static_cast<double>(shape.axes),
         position = static_cast<double>(position_width(config.position, shape.dims));
  double points = [this] {
    double count = shape.axes == 0 ? static_cast<double>(shape.points) : 1;
    for (const std::int64_t n : shape.mesh) count *= static_cast<double>(n);
    return count;
  }();

  double per_head() const { return std::floor(width / heads); }
  double maps(double count) const { return count * linear(width, width); }
  double ffn() const { return feed_forward(width, hidden, width); }
  double time(double features) const {
    return config.task == Task::time_conditional ? linear(width, width) + linear(width, features) : 0;
  }
  double encoder(double features, bool placeholder) const {
    return linear(position + inputs, 2 * width) + linear(2 * width, features) + (placeholder ? features : 0);
  }
  double square_maps(double count) const { return count * width * width; }

  // The frame of the transformers: encoder, blocks, norm, linear decoder.
  BaselineSize transformer(double block, double kept = 0) const {
    return {time(width) + encoder(width, true) + layers * block + norm(width) + linear(width, outputs), 0,
            layers * points * (width + hidden + kept)};
  }
  BaselineSize pre_norm(double attention, double kept = 0) const {
    return transformer(2 * norm(width) + attention + ffn(), kept);
  }
};

BaselineSize galerkin(const Sizes& s) {
  const double norms = s.config.attention == LinearAttentionKind::fourier ? 4 * s.width : 0;
  return s.transformer(3 * norm(s.width) + s.maps(4) + norms + s.ffn());
}

BaselineSize ht_net(const Sizes& s) {
  double levels = 1;
  std::int64_t side = s.shape.mesh.empty() ? 1 : *std::max_element(s.shape.mesh.begin(), s.shape.mesh.end());
  for (; side > s.config.window && levels < static_cast<double>(s.config.levels); side = (side + 1) / 2) ++levels;
  const double window = static_cast<double>(s.config.window), d = s.per_head();
  return s.pre_norm(s.square_maps(3) + s.maps(1) + (levels - 1) * s.heads * 8 * d * d,
                    s.heads * std::min(window * window, s.points));
}

BaselineSize oformer(const Sizes& s) {
  const double c = s.width, half = std::max(1.0, std::floor(c / 2)), attention = s.square_maps(3) + s.maps(1),
               gated = linear(c, 2 * s.hidden) + linear(s.hidden, c);
  const double decoder = c * half + half * half + linear(half, s.outputs);
  return {s.time(c) + s.encoder(c, false) + s.layers * (2 * norm(c) + attention + gated) + 2 * half * c +
              s.square_maps(1) + attention + gated + 2 * norm(c) + (c + s.dims) * c + s.square_maps(2) + decoder,
          0, s.layers * s.points * (c + 2 * s.hidden)};
}

BaselineSize gnot(const Sizes& s) {
  const double c = s.width, experts = static_cast<double>(s.config.experts);
  const double gate = linear(s.dims, s.hidden) + linear(s.hidden, s.hidden) + linear(s.hidden, experts);
  return {s.time(c) + s.encoder(c, true) + feed_forward(s.position, 2 * c, c) +
              s.layers * (5 * norm(c) + s.maps(8) + 2 * experts * s.ffn() + gate) + feed_forward(c, 2 * c, s.outputs),
          0, s.layers * s.points * 2 * experts * (c + s.hidden)};
}

BaselineSize factformer(const Sizes& s) {
  const double c = s.width, d = s.per_head(), averaged = s.axes > 1 ? c * c + norm(c) + s.maps(3) : 0;
  double sides = 0;
  for (const std::int64_t n : s.shape.mesh) sides += static_cast<double>(n) * static_cast<double>(n);
  return s.pre_norm(s.axes * (averaged + 2 * d * d) + d * d + s.maps(1), s.heads * sides / std::max(1.0, s.points));
}

BaselineSize ono(const Sizes& s) {
  const double c = s.width, features = static_cast<double>(s.config.features);
  const double block = 3 * norm(c) + s.maps(4) + s.ffn() + linear(c, features) + features;
  return {s.time(c) + s.encoder(c, true) + feed_forward(s.position + s.inputs, 2 * c, c) + s.layers * block +
              (s.layers - 1) * s.ffn() + linear(c, s.outputs),
          s.layers * features * features, s.layers * s.points * (c + s.hidden + features)};
}

BaselineSize transolver(const Sizes& s) {
  const double c = s.width, d = s.per_head(), slices = static_cast<double>(s.config.slices);
  const double maps = s.axes == 0 ? s.maps(2) : 2 * convolution(s.axes, c, c, 3);
  return s.pre_norm(maps + linear(d, slices) + s.heads + 3 * d * d + s.maps(1), s.heads * slices);
}

BaselineSize softmax(const Sizes& s) { return s.pre_norm(s.square_maps(3) + s.maps(1)); }

BaselineSize ano(const Sizes& s) {
  return {s.time(s.width) + s.encoder(s.width, false) + s.layers * s.maps(1) + linear(s.width, s.outputs), 0,
          s.layers * s.points * s.width};
}

BaselineSize deeponet(const Sizes& s) {
  const double c = s.width, out = c * s.outputs, sensors = s.points * (s.inputs > 0 ? s.inputs : s.dims);
  const auto network = [&](double in) { return linear(in, c) + s.maps(2) + linear(c, out); };
  return {s.time(c) + network(sensors) + network(s.position) + s.outputs, 0, s.points * (3 * c + out)};
}

// The frame of the spectral models: their image, the projection of clouds to it, encoder and decoder.
struct Spectral {
  const Sizes& s;
  bool everything = false;  // goes through the projection
  bool projected = s.axes == 0 || everything;
  double axes = projected ? 2 : s.axes;
  std::int64_t shortest = projected ? padded_points(s.config.latent_grid) : [this] {
    std::int64_t least = 0;
    for (const std::int64_t n : s.shape.mesh) least = least == 0 ? padded_points(n) : std::min(least, padded_points(n));
    return least;
  }();
  double pixels = [this] {
    double count = 1;
    if (projected) return static_cast<double>(shortest) * static_cast<double>(shortest);
    for (const std::int64_t n : s.shape.mesh) count *= static_cast<double>(padded_points(n));
    return count;
  }();

  // `weights` and `kept` numbers per point of the image are the transform's.
  BaselineSize frame(double channels, double decoder, double weights, double kept) const {
    constexpr double kFeatures = 32, kCode = 42, kHidden = 4 * kFeatures;
    double projection = 0, waves = 0;
    if (projected) {
      projection = linear(4, kFeatures) + linear(kCode, kFeatures) + linear(3 * kFeatures, kHidden) +
                   3 * linear(kHidden, kHidden) + linear(kHidden, 2) +
                   2 * spectral_convolution(channels, channels, 2, s.modes);
      waves = 4 * s.points * 2 * s.modes * s.modes;
    }
    return {s.time(channels) + s.encoder(channels, false) + projection + linear(channels, decoder) +
                linear(decoder, s.outputs) + weights,
            0, pixels * kept + waves};
  }
};

constexpr int kScales = 5;
double down_channels(double width, int scale) { return width * (1 << std::min(scale, 3)); }
double up_channels(double width, int scale) { return scale == 0 ? width : width * (1 << (scale - 1)); }

double double_convolution(double axes, double in, double middle, double out) {
  return convolution(axes, in, middle, 3, false) + norm(middle) + convolution(axes, middle, out, 3, false) + norm(out);
}

double unet(double axes, double width) {
  double sum = convolution(axes, width, width, 1);
  for (int scale = 0; scale < kScales; ++scale) {
    const double out = down_channels(width, scale), in = scale == 0 ? width : down_channels(width, scale - 1);
    sum += double_convolution(axes, in, out, out);
    if (scale + 1 < kScales) sum += double_convolution(axes, 2 * out, out, up_channels(width, scale));
  }
  return sum;
}

constexpr double kFourierLayers = 4;
double fourier_layers(const Spectral& f) {
  const double c = f.s.width;
  return kFourierLayers * (spectral_convolution(c, c, f.axes, f.s.modes) + convolution(f.axes, c, c, 1));
}

BaselineSize fno(const Sizes& s) {
  const Spectral f{s};
  return f.frame(s.width, s.width, fourier_layers(f), kFourierLayers * s.width);
}

BaselineSize geo_fno(const Sizes& s) {
  const Spectral f{s, true};
  return f.frame(s.width, s.width, fourier_layers(f), kFourierLayers * s.width);
}

BaselineSize u_fno(const Sizes& s) {
  const Spectral f{s};
  return f.frame(s.width, s.width, fourier_layers(f) + 2 * unet(f.axes, s.width), kFourierLayers * s.width);
}

BaselineSize u_no(const Sizes& s) {
  const Spectral f{s};
  double weights = unet(f.axes, s.width);
  for (int scale = 0; scale < kScales; ++scale) {
    const auto modes = static_cast<double>(std::clamp<std::int64_t>(f.shortest >> (scale + 1), 1, s.config.modes));
    const double below = down_channels(s.width, scale),
                 above = scale + 1 < kScales ? up_channels(s.width, scale) : below;
    for (const double channels : {below, above}) {
      weights +=
          spectral_convolution(channels, channels, f.axes, modes) + double_convolution(f.axes, channels, 1, channels);
    }
  }
  return f.frame(s.width, 2 * s.width, weights, 2 * s.width);
}

BaselineSize f_fno(const Sizes& s) {
  const Spectral f{s};
  return f.frame(s.width, s.width, s.layers * f.axes * s.width * s.width * s.modes * 2, s.layers * s.width);
}

BaselineSize lsm(const Sizes& s) {
  const Spectral f{s};
  const auto basis = static_cast<double>(s.config.basis), tokens = static_cast<double>(s.config.tokens);
  double weights = unet(f.axes, s.width);
  for (int scale = 0; scale < kScales; ++scale) {
    const double c = down_channels(s.width, scale);
    weights += c * 2 * basis + s.heads * tokens * std::floor(c / s.heads) + linear(c, 2 * c) + linear(c, c);
  }
  BaselineSize size = f.frame(s.width, 2 * s.width, weights, 2 * s.width);
  size.pass += std::pow(16, f.axes) * tokens * s.width * 2 * basis;  // the waves of the finest patches
  return size;
}

BaselineSize wmt(const Sizes& s) {
  const Spectral f{s};
  const auto k = static_cast<double>(s.config.wavelets), c = s.axes == 1 ? k : k * k;
  constexpr double kModes = 2;
  const double spectral = spectral_convolution(c, c, f.axes, kModes), map = linear(c, c);
  const double scales = f.axes == 1 ? 3 * spectral : spectral + map + 2 * (convolution(f.axes, c, c, 3) + map);
  return f.frame(c, s.width, s.layers * (scales + map), s.layers * c);
}

struct Entry {
  std::string_view name;
  BaselineSize (*size)(const Sizes&);
};
constexpr Entry kSizes[] = {
    {"fno", fno},           {"wmt", wmt},           {"u-fno", u_fno},
    {"geo-fno", geo_fno},   {"u-no", u_no},         {"f-fno", f_fno},
    {"lsm", lsm},           {"galerkin", galerkin}, {"ht-net", ht_net},
    {"oformer", oformer},   {"gnot", gnot},         {"factformer", factformer},
    {"ono", ono},           {"softmax", softmax},   {"transolver", transolver},
    {"deeponet", deeponet}, {"ano", ano},
};

}  // namespace

BaselineSize baseline_size(const BaselineConfig& config, const LanoShape& shape) {
  for (const Entry& entry : kSizes) {
    if (entry.name == config.name) return entry.size(Sizes{config, shape});
  }
  return {};
}

void check_baseline_fits(const BaselineConfig& config, const LanoShape& shape) {
  // The others have no Fourier modes of the mesh: U-NO takes those that fit, geo-FNO and clouds have a latent grid.
  if ((config.name != "fno" && config.name != "u-fno" && config.name != "f-fno") || shape.mesh.empty()) return;
  const std::int64_t longest = *std::max_element(shape.mesh.begin(), shape.mesh.end()),
                     most = padded_points(longest) / 2 + 1;
  if (config.modes > most) {
    fail_usage("training",
               fmt::format("model.modes of at most {}, the frequencies of a mesh {}", most, shape_text(shape.mesh)),
               std::to_string(config.modes), "weights of other frequencies would never be used");
  }
}

}  // namespace lano
