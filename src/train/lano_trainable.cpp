// A lesson is recorded pass by pass (one, or the steps of a roll-out) and then processed backwards:
//   u_k = network([x, a, u_{k-1}]),  L = 1/K sum_k loss(u_k),  dL/du_{k-1} = dloss/du_{k-1} + the state's share of
//   dL/dinput of pass k
// A state of several frames [.., u_{k-2}, u_{k-1}] passes its share to each pass that made one of them. With increments
// u_k = u_{k-1} + s network(...), and dL/du_{k-1} has dL/du_k in addition.
#include "train/lano_trainable.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/error.h"
#include "model_spec/lano_sizes.h"
#include "runtime/time_embedding.h"
#include "train/first_weights.h"
#include "train/flat.h"

namespace lano {
namespace {

LanoConfig config_of(const nlohmann::json& architecture) {
  LanoConfig config;
  LanoShape shape;
  lano_from_json(architecture, config, shape);
  return config;
}

LanoShape shape_of(const nlohmann::json& architecture) {
  LanoConfig config;
  LanoShape shape;
  lano_from_json(architecture, config, shape);
  return shape;
}

}  // namespace

// The embeddings of the samples' times, one after the other; empty if the model is not conditioned on time.
struct LanoTrainable::TimeFeatures {
  std::vector<TimeTrace> traces;
  std::vector<float> values, slopes;  // [samples, C]
  const float* data() const { return values.empty() ? nullptr : values.data(); }

  TimeFeatures(const LanoConfig& config, const LanoShape& shape, const LanoWeights& weights,
               const std::vector<double>& times) {
    if (config.task != Task::time_conditional) return;
    for (const double time : times) {
      traces.push_back(embed_time(weights.time, config.width, (time - shape.time_origin) / shape.time_step));
      values.insert(values.end(), traces.back().features.begin(), traces.back().features.end());
    }
    slopes.resize(values.size());
  }
};

LanoTrainable::LanoTrainable(const nlohmann::json& architecture, const TrainConfig& config, const Objective& objective)
    : config_(config_of(architecture)),
      shape_(shape_of(architecture)),
      network_(kernels::network_shape(config_, shape_)),
      seed_(static_cast<std::uint64_t>(config.seed)),
      rollout_(config_.task == Task::autoregressive ? config.rollout : 1),
      output_(objective.output),
      increment_(objective.increment),
      loss_(config.loss, objective.output, objective.mesh, objective.spacing, objective.base),
      values_(first_lano_weights(config_, shape_, seed_)),
      gradients_(values_.size()),
      geometries_(config_, shape_, true),
      patches_(patches_for(config_, shape_, config_.agents)),
      positions_(config_, shape_) {
  std::size_t at = 0;
  weights_ = make_lano_tensors<const float*>(config_, shape_, [&](const std::string& name, const Shape& shape) {
    layout_.push_back({name, shape});
    const float* const place = values_.data() + at;
    at += static_cast<std::size_t>(element_count(shape));
    return place;
  });
}

nlohmann::json LanoTrainable::architecture() const { return to_json(config_, shape_); }

std::int64_t LanoTrainable::use_agents(std::int64_t agents) {
  patches_ = patches_for(config_, shape_, agents);
  return element_count(patches_);
}

LanoGradients LanoTrainable::gradients_at(float* flat) const {
  return make_lano_tensors<float*>(config_, shape_, [&](const std::string&, const Shape& shape) {
    float* const place = flat;
    flat += element_count(shape);
    return place;
  });
}

std::vector<kernels::Sample> LanoTrainable::Places::samples() const {
  std::vector<kernels::Sample> samples;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < geometries.size(); ++i) {
    samples.push_back({first, geometries[i].get(), neighbours[i].get()});
    first += geometries[i]->points;
  }
  return samples;
}

LanoTrainable::Places LanoTrainable::places_of(const FieldBatch& batch) {
  constexpr const char* kDoing = "applying a LANO";
  if (batch.sizes.empty()) fail_plainly(kDoing, "there are no samples");
  if (static_cast<std::int64_t>(batch.mesh.size()) != shape_.axes) {
    fail(kDoing, std::to_string(shape_.axes) + " axes of the mesh", shape_text(batch.mesh));
  }
  Places places;
  std::size_t first = 0;
  for (const std::int64_t points : batch.sizes) {
    if (points < 1 || (!batch.mesh.empty() && element_count(batch.mesh) != points)) {
      fail(kDoing, "the points of a mesh " + shape_text(batch.mesh), std::to_string(points));
    }
    places.geometries.push_back(geometries_.of(points, batch.mesh, batch.spacing, batch.origin, patches_));
    const auto values = static_cast<std::size_t>(points * shape_.dims);
    if (first + values > batch.coordinates.size())
      fail(kDoing, fmt::format("{} coordinates per point", shape_.dims),
           fmt::format("{} values", batch.coordinates.size()));
    places.neighbours.push_back(geometries_.neighbours(std::span(batch.coordinates).subspan(first, values)));
    if (!batch.shared_coordinates) first += values;
  }
  return places;
}

// Positions cost a root per node of the reference grid: those of the mesh of the last batch are kept.
void LanoTrainable::position_columns(const FieldBatch& batch, std::int64_t stride, std::vector<float>& features) {
  const auto dims = static_cast<std::size_t>(shape_.dims), width = static_cast<std::size_t>(positions_.width());
  const std::size_t given = batch.coordinates.size() / dims;
  if (!batch.shared_coordinates || batch.coordinates != seen_coordinates_) {
    seen_positions_.resize(given * width);
    for (std::size_t i = 0; i < given; ++i) {
      positions_.write(std::span(batch.coordinates).subspan(i * dims, dims), seen_positions_.data() + i * width);
    }
    seen_coordinates_ = batch.coordinates;
  }
  const auto points = static_cast<std::size_t>(batch.points());
  for (std::size_t i = 0; i < points; ++i) {
    std::copy_n(seen_positions_.data() + i % given * width, width,
                features.data() + i * static_cast<std::size_t>(stride));
  }
}

std::vector<float> LanoTrainable::features_of(const FieldBatch& batch) {
  const std::int64_t points = batch.points(), own = shape_.input_channels - state_channels();
  const bool fits = static_cast<std::int64_t>(batch.input.size()) == points * own &&
                    static_cast<std::int64_t>(batch.coordinates.size()) ==
                        (batch.shared_coordinates ? batch.sizes[0] : points) * shape_.dims;
  if (!fits) {
    fail("applying a LANO", fmt::format("{} coordinates and {} input channels per point", shape_.dims, own),
         fmt::format("{} and {} values for {} points", batch.coordinates.size(), batch.input.size(), points));
  }
  std::vector<float> features(static_cast<std::size_t>(points * network_.inputs));
  position_columns(batch, network_.inputs, features);
  for (std::int64_t i = 0; i < points; ++i) {
    std::copy_n(batch.input.begin() + i * own, own, features.begin() + i * network_.inputs + positions_.width());
  }
  return features;
}

void LanoTrainable::fill_state(std::vector<float>& features, std::int64_t frame, std::span<const float> values) const {
  const std::int64_t channels = shape_.output_channels, points = static_cast<std::int64_t>(values.size()) / channels,
                     column = network_.inputs - state_channels() + frame * channels;
  for (std::int64_t i = 0; i < points; ++i) {
    std::copy_n(values.begin() + i * channels, channels, features.begin() + i * network_.inputs + column);
  }
}

struct LanoTrainable::Pass {
  std::vector<float> features, output, slopes;
  std::shared_ptr<kernels::Tape> tape;
};

double LanoTrainable::learn(const Lesson& lesson) {
  std::vector<float>& sum = lesson.first ? gradients_ : more_;
  std::vector<double> losses;
  if (rollout_ == 1) {
    sum.resize(values_.size());
    losses = go_through(lesson, sum);
  } else {
    SampleLessons each;
    learn_samples(lesson, each);
    losses = each.losses;
    sum.assign(each.gradients.begin(), each.gradients.begin() + static_cast<std::ptrdiff_t>(values_.size()));
    for (std::size_t at = values_.size(); at < each.gradients.size(); at += values_.size())
      add_to(sum, std::span(each.gradients).subspan(at, values_.size()));
  }
  if (!lesson.first) add_to(gradients_, more_);
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

void LanoTrainable::learn_samples(const Lesson& lesson, SampleLessons& each) {
  each.gradients.resize(lesson.batch.sizes.size() * values_.size());
  each.losses = go_through(lesson, each.gradients);
}

std::vector<double> LanoTrainable::go_through(const Lesson& lesson, std::vector<float>& rows) {
  const FieldBatch& batch = lesson.batch;
  const Places places = places_of(batch);
  const std::vector<kernels::Sample> samples = places.samples();
  const kernels::Network network(network_, weights_.network, true);
  const std::size_t size = static_cast<std::size_t>(batch.points() * shape_.output_channels);
  TimeFeatures time(config_, shape_, weights_, batch.times);
  const auto window = static_cast<std::size_t>(state_frames());  // 0: the model does not step

  std::vector<Pass> passes(static_cast<std::size_t>(rollout_));
  std::vector<double> losses(batch.sizes.size());
  std::vector<std::vector<float>> given(window, std::vector<float>(size));
  for (std::size_t j = 0; j < window; ++j) output_.encode(lesson.truth[j], given[j]);
  // Frame j of the sequence that the given ones begin and the passes continue.
  const auto frame_at = [&](std::size_t j) -> std::span<const float> {
    return j < window ? given[j] : passes[j - window].output;
  };
  const std::vector<float> features = features_of(batch);
  const auto whole = static_cast<double>(lesson.of > 0 ? lesson.of : static_cast<std::int64_t>(losses.size()));
  const auto steps = static_cast<double>(rollout_);
  for (std::size_t k = 0; k < passes.size(); ++k) {
    Pass& p = passes[k];
    p.features = features;
    for (std::size_t j = 0; j < window; ++j) fill_state(p.features, static_cast<std::int64_t>(j), frame_at(k + j));
    p.output.resize(size);
    p.slopes.resize(size);
    const kernels::Dropout dropout{config_.dropout, seed_, lesson.step, lesson.place, static_cast<std::uint32_t>(k)};
    p.tape = network.record(samples, p.features.data(), time.data(), p.output.data(), dropout);
    if (window > 0) add_increment(increment_, frame_at(k + window - 1), p.output);
    const std::vector<double> all_one;
    const std::vector<double> now =
        loss_.of_samples(p.output, lesson.truth[window + k], batch.sizes,
                         lesson.weights.empty() ? all_one : lesson.weights[k], lesson.share / steps / whole, p.slopes);
    for (std::size_t b = 0; b < losses.size(); ++b) losses[b] += now[b] / steps;
  }

  std::vector<float> feature_slopes, more(passes.size() > 1 ? rows.size() : 0);
  for (std::size_t k = passes.size(); k-- > 0;) {
    Pass& p = passes[k];
    std::vector<float>& to = k + 1 == passes.size() ? rows : more;
    if (k > 0) feature_slopes.resize(p.features.size());
    // The next state is the last one and a multiple of what the network gives.
    if (!increment_.empty() && k > 0) add_to(passes[k - 1].slopes, p.slopes);
    for (std::size_t i = 0; !increment_.empty() && i < p.slopes.size(); ++i)
      p.slopes[i] *= static_cast<float>(increment_[i % increment_.size()]);
    std::vector<LanoGradients> places_to;
    std::vector<kernels::Gradients> network_to;
    for (std::size_t at = 0; at < to.size(); at += values_.size()) {
      places_to.push_back(gradients_at(to.data() + at));
      network_to.push_back(places_to.back().network);
    }
    network.backward(*p.tape, p.features.data(), p.slopes.data(), network_to, k > 0 ? feature_slopes.data() : nullptr,
                     time.values.empty() ? nullptr : time.slopes.data());
    p.tape.reset();
    if (!time.values.empty()) time_gradients(time, places_to);
    if (&to == &more) add_to(rows, more);
    if (k == 0) break;
    const std::int64_t channels = shape_.output_channels;
    for (std::size_t j = k < window ? window - k : 0; j < window; ++j) {  // frames that passes made
      std::vector<float>& before = passes[k + j - window].slopes;
      const std::int64_t column = network_.inputs - state_channels() + static_cast<std::int64_t>(j) * channels;
      for (std::int64_t i = 0; i < batch.points(); ++i) {
        for (std::int64_t c = 0; c < channels; ++c) {
          before[static_cast<std::size_t>(i * channels + c)] +=
              feature_slopes[static_cast<std::size_t>(i * network_.inputs + column + c)];
        }
      }
    }
  }
  return losses;
}

// Of each sample, or added up in order where there is one place only.
void LanoTrainable::time_gradients(const TimeFeatures& time, std::span<const LanoGradients> to) const {
  const auto width = static_cast<std::size_t>(config_.width);
  std::vector<float> own(2 * width * (width + 1));
  const TimeTensors<float*> scratch{own.data(), own.data() + width * width, own.data() + width * (width + 1),
                                    own.data() + width * (2 * width + 1)};
  for (std::size_t i = 0; i < time.traces.size(); ++i) {
    const std::span<const TimeTrace> trace = std::span(time.traces).subspan(i, 1);
    const float* const slopes = time.slopes.data() + i * width;
    const bool adds = to.size() == 1 && i > 0;
    embed_time_backward(weights_.time, trace, slopes, adds ? scratch : to[to.size() == 1 ? 0 : i].time);
    if (!adds) continue;
    const auto add = [](const float* from, float* sum, std::size_t count) {
      for (std::size_t j = 0; j < count; ++j) sum[j] += from[j];
    };
    add(scratch.first, to[0].time.first, width * width);
    add(scratch.first_bias, to[0].time.first_bias, width);
    add(scratch.second, to[0].time.second, width * width);
    add(scratch.second_bias, to[0].time.second_bias, width);
  }
}

std::vector<float> LanoTrainable::pass(const FieldBatch& batch, std::span<const float> state,
                                       std::span<const float> slopes, std::vector<float>* feature_slopes) {
  const Places places = places_of(batch);
  const std::vector<kernels::Sample> samples = places.samples();
  TimeFeatures time(config_, shape_, weights_, batch.times);
  std::vector<float> features = features_of(batch);
  const auto frame = static_cast<std::size_t>(batch.points() * shape_.output_channels);
  for (std::int64_t j = 0; j < state_frames(); ++j)
    fill_state(features, j, state.subspan(static_cast<std::size_t>(j) * frame, frame));
  std::vector<float> output(static_cast<std::size_t>(batch.points() * shape_.output_channels));
  const kernels::Network network(network_, weights_.network, !slopes.empty());
  if (slopes.empty()) {
    network.predict(samples, features.data(), time.data(), output.data());
    return output;
  }
  const auto tape = network.record(samples, features.data(), time.data(), output.data());
  if (feature_slopes != nullptr) feature_slopes->resize(features.size());
  const LanoGradients to = gradients_at(gradients_.data());
  network.backward(*tape, features.data(), slopes.data(), to.network,
                   feature_slopes == nullptr ? nullptr : feature_slopes->data(),
                   time.values.empty() ? nullptr : time.slopes.data());
  if (!time.values.empty()) time_gradients(time, {&to, 1});
  return output;
}

std::unique_ptr<Predictor> LanoTrainable::predictor(const ModelFile& about) {
  ModelFile file = about;
  file.weights = name_tensors(layout_, values_);
  auto made = std::make_unique<OperatorPredictor>(Operator(std::move(file)));
  return made;
}

}  // namespace lano
