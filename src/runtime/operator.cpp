// physical -> normalised features in the model's order -> kernels -> physical in the caller's order.
#include "runtime/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/hilbert.h"
#include "core/lano_sizes.h"
#include "kernels/geometry_cache.h"
#include "kernels/network.h"
#include "runtime/lano_weights.h"

namespace lano {
namespace {

constexpr const char* kDoing = "predicting";

void check_size(std::span<const float> values, std::int64_t points, std::int64_t channels, const char* what) {
  if (static_cast<std::int64_t>(values.size()) != points * channels) {
    fail(kDoing, fmt::format("{} values of {}: {} points of {} channels", points * channels, what, points, channels), std::to_string(values.size()));
  }
}

// W x + b of one vector, in double.
std::vector<double> affine(const float* weight, const float* bias, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = bias[i];
    for (std::size_t k = 0; k < x.size(); ++k) y[i] += static_cast<double>(weight[i * x.size() + k]) * x[k];
  }
  return y;
}

// The embedding of a time: sines and cosines of the steps since the first output, through two layers (docs/model.md).
std::vector<float> time_features(const TimeWeights& weights, std::int64_t width, double steps) {
  const auto half = static_cast<std::size_t>(std::max<std::int64_t>(1, width / 2));
  std::vector<double> wave(static_cast<std::size_t>(width));
  for (std::size_t k = 0; k < half; ++k) {
    const double angle = steps * std::exp(-std::log(10000.0) * static_cast<double>(k) / static_cast<double>(half));
    wave[k] = std::sin(angle);
    if (half + k < wave.size()) wave[half + k] = std::cos(angle);
  }
  std::vector<double> hidden = affine(weights.first, weights.first_bias, wave);
  for (double& value : hidden) value /= 1 + std::exp(-value);  // SiLU
  const std::vector<double> out = affine(weights.second, weights.second_bias, hidden);
  return {out.begin(), out.end()};
}

}  // namespace

struct Operator::Parts : LanoParts {
  ModelFile file;
  std::unique_ptr<kernels::Network> network;
  std::unique_ptr<kernels::GeometryCache> geometries;
  std::vector<std::int64_t> used_patches;
  std::vector<float> reference_nodes;  // [8^dx, dx]

  // The axes of the points: those said, or those of training where their number fits.
  Shape mesh_of(std::int64_t points, const Shape& said) const {
    if (shape.axes == 0) return {};
    const Shape mesh = said.empty() ? shape.mesh : said;
    if (static_cast<std::int64_t>(mesh.size()) != shape.axes || element_count(mesh) != points) {
      fail(kDoing, fmt::format("points of a mesh of {} axes, like {}", shape.axes, shape_text(shape.mesh)),
           fmt::format("{} points{}", points, said.empty() ? "" : " for " + shape_text(said)), "say the axes of your mesh");
    }
    return mesh;
  }

  void position(std::span<const float> coordinates, float* to) const {  // normalised [dx] of one point
    if (reference_nodes.empty()) {
      std::copy(coordinates.begin(), coordinates.end(), to);
      return;
    }
    const std::size_t dims = coordinates.size();
    for (std::size_t node = 0; node < reference_nodes.size() / dims; ++node) {
      float sum = 0;
      for (std::size_t a = 0; a < dims; ++a) {
        const float difference = coordinates[a] - reference_nodes[node * dims + a];
        sum += difference * difference;
      }
      to[node] = std::sqrt(sum);
    }
  }
};

Operator::Operator(ModelFile file) : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.file = std::move(file);
  const std::string doing = "loading a model";
  const std::string name = p.file.architecture.is_object() ? p.file.architecture.value("name", "") : "";
  if (name != "lano") fail(doing, "a LANO", fmt::format("'{}'", name), "other operators need lano-train");
  static_cast<LanoParts&>(p) = lano_parts(p.file, doing);
  p.network = std::make_unique<kernels::Network>(kernels::network_shape(p.config, p.shape), p.weights.network, false);
  p.geometries = std::make_unique<kernels::GeometryCache>(p.config, p.shape);
  p.used_patches = patches_for(p.config, p.shape, p.config.agents);
  if (p.config.position == Position::reference) p.reference_nodes = reference_nodes(p.shape);
}

Operator::~Operator() = default;
Operator::Operator(Operator&&) noexcept = default;
Operator& Operator::operator=(Operator&&) noexcept = default;

Operator Operator::load(const std::filesystem::path& path) { return Operator(read_model_file(path)); }

const SetDescription& Operator::set() const { return parts_->file.set; }
const std::vector<float>& Operator::coordinates() const { return parts_->file.coordinates; }
Task Operator::task() const { return parts_->config.task; }
std::int64_t Operator::parameter_count() const { return parts_->file.parameter_count(); }
std::int64_t Operator::agents() const { return element_count(parts_->used_patches); }

std::int64_t Operator::use_agents(std::int64_t agents) {
  parts_->used_patches = patches_for(parts_->config, parts_->shape, agents);
  return this->agents();
}

std::vector<float> Operator::predict(std::span<const float> coordinates, std::span<const float> input, const Call& call) const {
  const auto dims = static_cast<std::size_t>(set().dims());
  const std::size_t points = (coordinates.empty() ? this->coordinates().size() : coordinates.size()) / dims;
  std::vector<float> output(points * static_cast<std::size_t>(set().output_channels()));
  predict(coordinates, input, output, call);
  return output;
}

void Operator::predict(std::span<const float> coordinates, std::span<const float> input, std::span<float> output, const Call& call) const {
  const Parts& p = *parts_;
  const SetDescription& set = p.file.set;
  if (coordinates.empty()) {
    if (p.file.coordinates.empty()) fail(kDoing, "coordinates: this model was trained on a mesh for each sample", "none");
    coordinates = p.file.coordinates;
  }
  const std::int64_t dims = set.dims(), in = set.input_channels(), out = set.output_channels(), state = p.shape.input_channels - in;
  const std::int64_t points = static_cast<std::int64_t>(coordinates.size()) / dims;
  if (points < 1) fail(kDoing, "at least one point", "none");
  check_size(coordinates, points, dims, "coordinates");
  check_size(input, points, in, "input");
  check_size(output, points, out, "output");
  check_size(call.state, points, state, "state");
  const Shape mesh = p.mesh_of(points, call.mesh);
  std::vector<double> spacing, origin;
  if (set.geometry == Geometry::grid && uniform_grid_spacing(mesh, coordinates, &spacing)) origin.assign(coordinates.begin(), coordinates.begin() + dims);
  std::vector<std::int64_t> order;
  if (!p.shape.order_box.empty()) order = hilbert_order(coordinates, dims, input, in, p.shape.order_box);
  const auto geometry = p.geometries->of(points, mesh, spacing, origin, p.used_patches);

  const std::int64_t position = position_width(p.config.position, p.shape.dims), width = position + p.shape.input_channels;
  kernels::Buffer features(points * width), network(points * out);
#pragma omp parallel
  {
    std::vector<float> x(static_cast<std::size_t>(dims));
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < points; ++i) {
      const auto from = static_cast<std::size_t>(order.empty() ? i : order[static_cast<std::size_t>(i)]);
      const auto of = [from](std::span<const float> values, std::int64_t channels) {
        return values.subspan(from * static_cast<std::size_t>(channels), static_cast<std::size_t>(channels));
      };
      float* const to = features.data() + i * width;
      p.file.normaliser.coordinates.encode(of(coordinates, dims), x);
      p.position(x, to);
      p.file.normaliser.input.encode(of(input, in), {to + position, static_cast<std::size_t>(in)});
      if (state > 0) p.file.normaliser.output.encode(of(call.state, state), {to + position + in, static_cast<std::size_t>(state)});
    }
  }
  std::vector<float> time;
  if (p.config.task == Task::time_conditional) time = time_features(p.weights.time, p.config.width, (call.time - p.shape.time_origin) / p.shape.time_step);
  const kernels::Sample sample{0, geometry.get()};
  p.network->predict({&sample, 1}, features.data(), time.empty() ? nullptr : time.data(), network.data());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < points; ++i) {
    const std::int64_t to = order.empty() ? i : order[static_cast<std::size_t>(i)];
    p.file.normaliser.output.decode({network.data() + i * out, static_cast<std::size_t>(out)}, output.subspan(static_cast<std::size_t>(to * out), static_cast<std::size_t>(out)));
  }
}

}  // namespace lano
