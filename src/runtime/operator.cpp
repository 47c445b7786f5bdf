// physical -> normalised features in the model's order -> kernels -> physical in the caller's order.
#include "runtime/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/hilbert.h"
#include "core/ranks.h"
#include "model_spec/architecture.h"
#include "model_spec/lano_sizes.h"
#include "runtime/operator_parts.h"
#include "runtime/roll_out.h"
#include "runtime/time_embedding.h"

namespace lano {
namespace {

// Coordinates of every rank's points, in the order of ranks: those of the whole mesh.
std::vector<float> of_all_ranks(std::span<const float> mine) {
  const double count = static_cast<double>(mine.size());
  std::vector<std::size_t> counts;
  for (const double each : mesh_ranks().gather(std::span(&count, 1))) counts.push_back(static_cast<std::size_t>(each));
  std::vector<float> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  mesh_ranks().gather_floats(mine, counts, all);
  return all;
}

constexpr const char* kDoing = "predicting";

// A NaN would spread from one point to all others through the agents.
void check_finite(std::span<const float> values, const char* what) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad != values.end())
    fail(kDoing, fmt::format("finite numbers in {}", what), fmt::format("{} at value {}", *bad, bad - values.begin()));
}

void check_size(std::span<const float> values, std::int64_t points, std::int64_t channels, const char* what) {
  if (static_cast<std::int64_t>(values.size()) != points * channels) {
    fail(kDoing, fmt::format("{} values of {}: {} points of {} channels", points * channels, what, points, channels),
         std::to_string(values.size()));
  }
}

}  // namespace

Operator::Operator(ModelFile file) : parts_(std::make_shared<Parts>()) {
  Parts& p = *parts_;
  p.file = std::move(file);
  const std::string doing = "loading a model";
  const std::string name = architecture_name(p.file.architecture);
  if (!is_lano(name)) fail(doing, "a LANO", fmt::format("'{}'", name), "other operators need lano-torch");
  static_cast<LanoParts&>(p) = lano_parts(p.file, doing);
  p.network = std::make_unique<kernels::Network>(kernels::network_shape(p.config, p.shape), p.weights.network, false);
  p.geometries = std::make_unique<kernels::GeometryCache>(p.config, p.shape, false);
  use_agents(p.config.agents);
  p.positions = PositionFeatures(p.config, p.shape);
}

Operator::~Operator() = default;
Operator::Operator(Operator&&) noexcept = default;
Operator& Operator::operator=(Operator&&) noexcept = default;

Operator Operator::load(const std::filesystem::path& path) { return Operator(read_model_file(path)); }

const ModelFile& Operator::file() const { return parts_->file; }
const SetDescription& Operator::set() const { return parts_->file.set; }
const std::vector<float>& Operator::coordinates() const { return parts_->file.coordinates; }
Task Operator::task() const { return parts_->config.task; }
std::int64_t Operator::state_frames() const { return parts_->state_frames(); }
std::int64_t Operator::parameter_count() const { return parts_->file.parameter_count(); }
std::int64_t Operator::agents() const { return element_count(*parts_->used_patches.load()); }

std::int64_t Operator::use_agents(std::int64_t agents) {
  const auto patches =
      std::make_shared<const std::vector<std::int64_t>>(patches_for(parts_->config, parts_->shape, agents));
  parts_->used_patches = patches;
  return element_count(*patches);
}

std::vector<float> Operator::predict(std::span<const float> coordinates, std::span<const float> input,
                                     const Call& call) const {
  const auto dims = static_cast<std::size_t>(set().dims());
  const std::size_t points = (coordinates.empty() ? this->coordinates().size() : coordinates.size()) / dims;
  std::vector<float> output(points * static_cast<std::size_t>(set().output_channels()));
  predict(coordinates, input, output, call);
  return output;
}

// The axes of the points: those given, or those of training if their number fits.
Shape Operator::Parts::mesh_of(std::int64_t points, const Shape& said) const {
  if (shape.axes == 0) return {};
  const Shape mesh = said.empty() ? file.set.shape : said;
  bool fits = static_cast<std::int64_t>(mesh.size()) == shape.axes;
  std::int64_t product = 1;
  for (const std::int64_t extent : mesh) {  // a caller's numbers: their product may not overflow
    fits = fits && extent >= 1 && extent <= points / product;
    if (fits) product *= extent;
  }
  if (!fits || product != points) {
    fail(kDoing, fmt::format("points of a mesh of {} axes, like {}", shape.axes, shape_text(shape.mesh)),
         fmt::format("{} points{}", points, said.empty() ? "" : " for " + shape_text(said)),
         "give the axes of your mesh");
  }
  return mesh;
}

Operator::Parts::Points Operator::Parts::points_of(std::span<const float> coordinates, std::span<const float> input,
                                                   std::span<const float> state, double time) const {
  const SetDescription& set = file.set;
  Points points{coordinates, input, state, static_cast<std::int64_t>(coordinates.size()) / set.dims(), false, 0, {},
                {},          {},    {}};
  if (points.count < 1) fail_plainly(kDoing, "there are no points");
  check_size(coordinates, points.count, set.dims(), "coordinates");
  check_size(input, points.count, set.input_channels(), "input");
  check_size(state, points.count, state_channels(), "state");
  check_finite(coordinates, "coordinates");
  check_finite(input, "input");
  check_finite(state, "state");
  if (config.task == Task::time_conditional && !std::isfinite(time))
    fail(kDoing, "a finite time", std::to_string(time));
  if (config.task == Task::time_conditional)
    points.time = embed_time(weights.time, config.width, (time - shape.time_origin) / shape.time_step).features;
  return points;
}

kernels::PointStream Operator::Parts::stream(const Points& points, std::span<float> output) const {
  const auto row = [](std::span<const float> values, std::int64_t point, std::int64_t channels) {
    return values.subspan(static_cast<std::size_t>(point * channels), static_cast<std::size_t>(channels));
  };
  const auto at = [&points](std::int64_t i) {
    return points.order.empty() ? i - points.before : points.order[static_cast<std::size_t>(i)];
  };
  const std::int64_t dims = file.set.dims(), in = file.set.input_channels(), out = file.set.output_channels(),
                     states = state_channels(), moved = displaced();
  const std::int64_t place_width = positions.width(), width = place_width + shape.input_channels;
  kernels::PointStream stream;
  stream.read = [=, this, &points](std::int64_t first, std::int64_t count, float* room) {
    std::array<float, 3> room_for_x;  // no allocation: nothing may be thrown here
    const std::span<float> x(room_for_x.data(), static_cast<std::size_t>(dims));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t from = at(first + i);
      float* const to = room + i * width;
      file.normaliser.coordinates.encode(row(points.coordinates, from, dims), x);
      positions.write(x, to);
      file.normaliser.input.encode(row(points.input, from, in), {to + place_width, static_cast<std::size_t>(in)});
      if (moved > 0) std::copy_n(row(points.displacement, from, moved).begin(), moved, to + place_width + in);
      for (std::int64_t frame = 0; frame < states / out; ++frame)
        file.normaliser.output.encode(row(points.state, frame * points.count + from, out),
                                      {to + place_width + in + moved + frame * out, static_cast<std::size_t>(out)});
    }
    return room;
  };
  stream.own_alone = points.alone;
  if (output.empty()) return stream;
  stream.write = [=, this, &points](std::int64_t first, std::int64_t count, const float* rows, std::int64_t stride) {
    const std::vector<double>& increment = file.normaliser.increment;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t to = at(first + i);
      const std::span<float> answer = output.subspan(static_cast<std::size_t>(to * out), static_cast<std::size_t>(out));
      const std::span<const float> given(rows + i * stride, static_cast<std::size_t>(out));
      if (increment.empty()) {
        file.normaliser.output.decode(given, answer);
        if (!points.base.empty()) {
          const std::span<const float> base = row(points.base, to, out);
          for (std::size_t c = 0; c < answer.size(); ++c) answer[c] += base[c];
        }
        continue;
      }
      // u + s (scale of the output) network, channel by channel: the state is physical already.
      const std::span<const float> state = row(points.state, (states / out - 1) * points.count + to, out);
      for (std::size_t c = 0; c < answer.size(); ++c) {
        answer[c] =
            static_cast<float>(static_cast<double>(state[c]) +
                               increment[c] * file.normaliser.output.scale()[c] * static_cast<double>(given[c]));
      }
    }
  };
  return stream;
}

// The points as the network sees them, in the model's order.
std::vector<float> Operator::Parts::ordered_coordinates(const Points& points) const {
  const auto dims = static_cast<std::size_t>(file.set.dims());
  std::vector<float> all(points.coordinates.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(points.count); ++i) {
    const std::size_t from = points.order.empty() ? i : static_cast<std::size_t>(points.order[i]);
    file.normaliser.coordinates.encode(points.coordinates.subspan(from * dims, dims),
                                       std::span(all).subspan(i * dims, dims));
  }
  return all;
}

Operator::Parts::Arranged Operator::Parts::arrange(std::span<const float> coordinates, std::span<const float> input,
                                                   const Call& call, kernels::GeometryCache& cache) const {
  if (coordinates.empty()) {
    if (file.coordinates.empty())
      fail_plainly(kDoing, "the coordinates are missing: this model was trained with a mesh per sample", "give them");
    coordinates = file.coordinates;
  }
  Arranged a{points_of(coordinates, input, call.state, call.time), {}, {}, nullptr, nullptr, nullptr};
  const std::int64_t dims = file.set.dims();
  const std::int64_t all = call.part ? element_count(call.mesh) : a.points.count;
  if (call.part) {
    a.points.alone = true;
    a.points.before = call.part->first;
    if (!shape.order_box.empty() || stencil_in_space() || all < a.points.before + a.points.count)
      fail(kDoing, "a part of a mesh whose axes are said",
           fmt::format("{} points of a cloud or of {}", a.points.count, shape_text(call.mesh)));
  }
  const Shape mesh = mesh_of(all, call.mesh);
  const std::vector<double> reach = stretch_of(file.set, mesh, call.span);
  if (const MeanField& mean = file.normaliser.mean_output; !mean.empty()) {
    a.points.base = mean.resampled(mesh, shape.periodic, reach);
    if (call.part) {
      const auto first = a.points.base.begin() + static_cast<std::ptrdiff_t>(a.points.before * mean.channels());
      a.points.base = std::vector<float>(first, first + static_cast<std::ptrdiff_t>(a.points.count * mean.channels()));
    }
  }
  if (displaced() > 0) {
    a.displacement = std::make_shared<const Displacement>(file.normaliser.mean_mesh, mesh, shape.periodic, reach);
    if (call.part && !a.displacement->pointwise()) {
      const std::vector<float> whole = of_all_ranks(coordinates);
      a.points.displacement = a.displacement->of(whole, 0, a.points.before, a.points.count);
    } else {
      a.points.displacement = a.displacement->of(coordinates, a.points.before, a.points.before, a.points.count);
    }
  }
  if (file.set.geometry == Geometry::grid && is_uniform(mesh, coordinates, call, &a.spacing)) {
    const std::span<const float> first = call.part ? std::span<const float>(call.part->corners) : coordinates;
    a.origin.assign(first.begin(), first.begin() + dims);
  } else {
    a.spacing.clear();
  }
  if (!shape.order_box.empty())
    a.points.order = hilbert_order(coordinates, dims, input, file.set.input_channels(), shape.order_box);
  a.geometry = cache.of(all, mesh, a.spacing, a.origin, *used_patches.load(), reach);
  if (stencil_in_space()) a.neighbours = cache.neighbours(ordered_coordinates(a.points));
  return a;
}

// A grid is uniform where every rank finds its part so.
bool Operator::Parts::is_uniform(const Shape& mesh, std::span<const float> coordinates, const Call& call,
                                 std::vector<double>* spacing) const {
  if (!call.part) return uniform_grid_spacing(mesh, coordinates, spacing);
  const bool here = call.part->corners.size() == (mesh.size() + 1) * mesh.size() &&
                    uniform_grid_spacing(mesh, call.part->corners, call.part->first, coordinates, spacing);
  const std::vector<std::string> all = mesh_ranks().gather(here ? "1" : "0");
  return std::all_of(all.begin(), all.end(), [](const std::string& said) { return said == "1"; });
}

void Operator::predict(std::span<const Query> queries) const {
  const Parts& p = *parts_;
  std::vector<Parts::Arranged> arranged;
  std::vector<kernels::Sample> samples;
  std::vector<kernels::PointStream> streams;
  std::vector<float> time;
  arranged.reserve(queries.size());  // the streams point into it
  std::int64_t first = 0;
  for (const Query& query : queries) {
    arranged.push_back(p.arrange(query.coordinates, query.input, query.call, *p.geometries));
    const Parts::Arranged& a = arranged.back();
    if (a.points.alone && queries.size() > 1)
      fail_plainly(kDoing, "points divided over ranks allow one sample at a time", "give one query per call");
    check_size(query.output, a.points.count, p.file.set.output_channels(), "output");
    streams.push_back(p.stream(a.points, query.output));
    samples.push_back(a.sample(first));
    time.insert(time.end(), a.points.time.begin(), a.points.time.end());
    first += a.geometry->points;
  }
  if (queries.empty()) return;
  // A tile lies within one sample.
  const auto sample_of = [&samples](std::int64_t point) {
    const auto next = std::upper_bound(samples.begin(), samples.end(), point,
                                       [](std::int64_t at, const kernels::Sample& s) { return at < s.first; });
    return static_cast<std::size_t>(next - samples.begin()) - 1;
  };
  kernels::PointStream all;
  all.own_alone = arranged.front().points.alone;
  all.read = [&](std::int64_t point, std::int64_t count, float* room) {
    const std::size_t s = sample_of(point);
    return streams[s].read(point - samples[s].first, count, room);
  };
  all.write = [&](std::int64_t point, std::int64_t count, const float* rows, std::int64_t stride) {
    const std::size_t s = sample_of(point);
    streams[s].write(point - samples[s].first, count, rows, stride);
  };
  p.network->predict(samples, all, time.empty() ? nullptr : time.data());
}

void Operator::predict(std::span<const float> coordinates, std::span<const float> input, std::span<float> output,
                       const Call& call) const {
  const Query query{coordinates, input, output, call};
  predict({&query, 1});
}

void Operator::predict_times(std::span<const float> coordinates, std::span<const float> input,
                             std::span<const double> times, std::span<float> output, const Call& call) const {
  if (task() != Task::time_conditional)
    fail_usage_plainly(kDoing, "this model is not conditioned on time",
                       task() == Task::autoregressive ? "call roll_out" : "call predict");
  if (times.empty()) fail_usage_plainly(kDoing, "there are no times");
  if (output.size() % times.size() != 0)
    fail_usage(kDoing, fmt::format("room for {} times", times.size()), fmt::format("for {} values", output.size()));
  const std::size_t frame = output.size() / times.size();
  Call at = call;
  for (std::size_t t = 0; t < times.size(); ++t) {
    at.time = times[t];
    predict(coordinates, input, output.subspan(t * frame, frame), at);
  }
}

void Operator::roll_out(std::span<const float> coordinates, std::span<const float> input, std::int64_t steps,
                        std::span<float> output, const Call& call) const {
  constexpr const char* kRolling = "rolling out an operator";
  if (task() != Task::autoregressive) fail_usage_plainly(kRolling, "this model does not step in time", "call predict");
  if (steps < 1) fail_usage(kRolling, "at least one step", std::to_string(steps));
  if (call.state.empty()) fail_usage_plainly(kRolling, "the state to step from is missing");
  const std::size_t frame = call.state.size() / static_cast<std::size_t>(state_frames());
  if (output.size() / static_cast<std::size_t>(steps) != frame ||
      output.size() % static_cast<std::size_t>(steps) != 0) {
    fail_usage(kRolling, fmt::format("room for {} frames of {} values", steps, frame),
               fmt::format("for {} values", output.size()));
  }
  const Query query{coordinates, input, output, call};
  roll_out_queries({&query, 1}, steps, state_frames(), [this](std::span<const Query> now) { predict(now); });
}

std::vector<float> Operator::roll_out(std::span<const float> coordinates, std::span<const float> input,
                                      std::int64_t steps, const Call& call) const {
  const auto frames = static_cast<std::size_t>(std::max<std::int64_t>(1, state_frames()));
  std::vector<float> output(static_cast<std::size_t>(std::max<std::int64_t>(0, steps)) * (call.state.size() / frames));
  roll_out(coordinates, input, steps, output, call);
  return output;
}

// What a block computes for a new point needs the point's place among the others only for the stencil (its neighbours)
// and for the outer bias (the point's side of B2).
std::string Operator::why_not_prepare() const {
  const Parts& p = *parts_;
  const bool along_axes = has_stencil(p.config) && !p.stencil_in_space();
  if (!along_axes && p.config.bias != Bias::outer) return {};
  const std::string needs = along_axes ? "the stencil needs a point's neighbours" : "the bias needs a point's place";
  if (p.shape.axes == 0) {
    return p.config.order == Order::hilbert
               ? ""
               : needs + ", and a new point has no place in the file's order of a cloud (model.order = \"file\")";
  }
  if (p.file.set.geometry != Geometry::grid)
    return needs + ", and a new point has no indices on a mesh that is no uniform grid";
  if (p.config.bias == Bias::outer && p.config.pool == Pool::sequence && p.shape.axes > 1) {
    return "the bias runs along the rows of the grid (model.pool = \"sequence\"), and a new point lies between rows";
  }
  return {};
}

struct Prepared::Parts {
  std::shared_ptr<const Operator::Parts> model;
  std::shared_ptr<const kernels::Geometry> geometry;
  std::shared_ptr<const kernels::Neighbours> neighbours;
  std::shared_ptr<const kernels::Tape> memory;
  std::vector<float> time;
  std::vector<double> spacing, origin;  // grids
  std::vector<std::uint64_t> keys;      // clouds: of the points along the curve, rising
  std::vector<float> coordinates;       // [N, dx] in that order

  void place(std::span<const float> point, double* index) const;
};

Prepared Operator::prepare(std::span<const float> coordinates, std::span<const float> input, const Call& call) const {
  const Parts& p = *parts_;
  constexpr const char* kPreparing = "preparing an operator";
  if (const std::string why = why_not_prepare(); !why.empty())
    fail(kPreparing, "a model that can decode new points", why, "predict all points together");
  const Parts::Arranged a = p.arrange(coordinates, input, call, *p.geometries);
  auto made = std::make_shared<Prepared::Parts>();
  made->model = parts_;
  made->geometry = a.geometry;
  made->neighbours = a.neighbours;
  made->time = a.points.time;
  const bool placed = has_stencil(p.config) || p.config.bias == Bias::outer;
  if (placed && p.shape.axes > 0) {
    if (a.spacing.empty())
      fail_plainly(kPreparing, "the grid is not uniform, so new points have no place on it",
                   "predict all points together");
    made->spacing = a.spacing;
    made->origin = a.origin;
  }
  if (placed && p.shape.axes == 0) {
    const auto dims = static_cast<std::size_t>(p.file.set.dims());
    for (const std::int64_t i : a.points.order) {
      const auto point = a.points.coordinates.subspan(static_cast<std::size_t>(i) * dims, dims);
      made->keys.push_back(hilbert_key(point, p.shape.order_box));
      made->coordinates.insert(made->coordinates.end(), point.begin(), point.end());
    }
  }
  made->memory =
      p.network->remember(a.sample(0), p.stream(a.points, {}), a.points.time.empty() ? nullptr : a.points.time.data());
  return Prepared(std::move(made));
}

// Where a point lies among the prepared ones: its index on each axis of the grid; along the order of a cloud the index
// of the point it is, else half-way between its neighbours.
void Prepared::Parts::place(std::span<const float> point, double* index) const {
  if (!spacing.empty()) {
    const Shape& mesh = geometry->stencil_shape.empty() ? geometry->pool_shape : geometry->stencil_shape;
    for (std::size_t a = 0; a < spacing.size(); ++a) {
      index[a] = (point[a] - origin[a]) / spacing[a];
      const double nearest = std::round(index[a]);
      if (std::abs(index[a] - nearest) < 1e-4) index[a] = nearest;  // float coordinates of a grid point
      if (!model->shape.periodic.empty() && model->shape.periodic[a]) {
        index[a] = std::fmod(index[a], static_cast<double>(mesh[a]));  // exact, however many periods away
        continue;
      }
      if (!(index[a] >= -1 && index[a] <= static_cast<double>(mesh[a]))) {
        fail("decoding points",
             fmt::format("coordinates within the prepared grid, {} to {} on axis {}", origin[a],
                         origin[a] + spacing[a] * static_cast<double>(mesh[a] - 1), a + 1),
             fmt::format("{}", point[a]));
      }
    }
    return;
  }
  if (keys.empty()) return;
  const std::uint64_t key = hilbert_key(point, model->shape.order_box);
  const auto [low, high] = std::equal_range(keys.begin(), keys.end(), key);
  const auto first = low - keys.begin(), last = high - keys.begin();
  *index = static_cast<double>(first + last - 1) / 2;  // none in its cell: between its two neighbours
  for (auto i = first; i < last; ++i) {
    const auto at = coordinates.begin() + i * static_cast<std::ptrdiff_t>(point.size());
    if (std::equal(point.begin(), point.end(), at)) {
      *index = static_cast<double>(i);
      return;
    }
  }
}

void Prepared::decode(std::span<const float> coordinates, std::span<const float> input, std::span<float> output,
                      std::span<const float> state) const {
  const Operator::Parts& p = *parts_->model;
  Operator::Parts::Points points = p.points_of(coordinates, input, state, 0);
  check_size(output, points.count, p.file.set.output_channels(), "output");
  const auto dims = static_cast<std::size_t>(p.file.set.dims());
  const kernels::Geometry& g = *parts_->geometry;
  const std::size_t axes = std::max(g.pool_shape.size(), g.stencil_shape.size());
  std::vector<double> index(static_cast<std::size_t>(points.count) * axes);
  for (std::size_t i = 0; i < static_cast<std::size_t>(points.count); ++i)
    parts_->place(coordinates.subspan(i * dims, dims), index.data() + i * axes);
  const std::vector<float> places = p.stencil_in_space() ? p.ordered_coordinates(points) : std::vector<float>{};
  p.network->recall(*parts_->memory, points.count, index.data(), places, p.stream(points, output),
                    parts_->time.empty() ? nullptr : parts_->time.data());
}

const SetDescription& Prepared::set() const { return parts_->model->file.set; }
std::int64_t Prepared::state_frames() const { return parts_->model->state_frames(); }

std::vector<float> Prepared::decode(std::span<const float> coordinates, std::span<const float> input,
                                    std::span<const float> state) const {
  std::vector<float> output(coordinates.size() / static_cast<std::size_t>(set().dims()) *
                            static_cast<std::size_t>(set().output_channels()));
  decode(coordinates, input, output, state);
  return output;
}

}  // namespace lano
