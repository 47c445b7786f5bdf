#include "libtorch/torch_predictor.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/hilbert.h"
#include "libtorch/flat_parameters.h"
#include "libtorch/tensor_budget.h"
#include "libtorch/torch_batch.h"
#include "model_spec/architecture.h"
#include "model_spec/baseline_config.h"
#include "model_spec/model_catalogue.h"
#include "normalise/displacement.h"
#include "runtime/lano_weights.h"

namespace lano {
namespace {

constexpr std::size_t kBatch = 8;
constexpr const char* kDamaged = "the file is damaged: copy it again";

// What the fields and the number of tensors say about a baseline's sizes; the rest is up to its constructor, under a
// budget.
void check_baseline(const ModelFile& file, const std::string& doing) {
  BaselineConfig config;
  LanoShape shape;
  baseline_from_json(file.architecture, config, shape);
  const std::int64_t state = state_channels(config.task, config.state_frames, file.set.output_channels());
  const std::int64_t moved = file.normaliser.mean_mesh.channels();
  if (shape.dims != file.set.dims() || shape.input_channels != file.set.input_channels() + moved + state ||
      shape.output_channels != file.set.output_channels()) {
    fail_plainly(doing, "the architecture has other channels than the fields", kDamaged);
  }
  constexpr std::int64_t kMostPoints = std::int64_t{1} << 40;
  if (shape.points < 0 || shape.points > kMostPoints)
    fail(doing, fmt::format("points of at most {}", kMostPoints), std::to_string(shape.points), kDamaged);
  const ModelInfo* const info = find_model(config.name);
  for (const auto& [key, parts] : {std::pair("model.layers", config.layers),
                                   std::pair("model.experts", config.experts)}) {  // each has its own tensors
    if (info != nullptr && reads_key(*info, key) && parts > static_cast<std::int64_t>(file.weights.size())) {
      fail(doing, fmt::format("{} of at most the {} tensors there are", key, file.weights.size()),
           std::to_string(parts), kDamaged);
    }
  }
}

// First weights are drawn in place or in a few steps: eight times what the file holds is ample, and a small model needs
// next to nothing more.
std::shared_ptr<OperatorModel> make_model_of_size(const ModelFile& file, const std::string& doing) {
  constexpr std::size_t kTimes = 8, kMore = std::size_t{64} << 20;
  std::size_t numbers = 0;
  for (const auto* const tensors : {&file.weights, &file.buffers}) {
    for (const auto& [name, tensor] : *tensors) numbers += tensor.values.size();
  }
  const TensorBudget budget(kTimes * sizeof(float) * numbers + kMore);
  try {
    return make_model(file.architecture, 0);
  } catch (const OverBudget&) {
    fail(doing, "an architecture of the size of its weights", "a larger one", kDamaged);
  } catch (const c10::Error&) {  // sizes whose product does not fit in 64 bits
    fail_plainly(doing, "its architecture is too large to be built", kDamaged);
  }
}

}  // namespace

// One query as the network sees it.
struct TorchPredictor::Prepared {
  std::vector<std::int64_t> order;  // of clouds along the curve; empty: their own
  FieldBatch fields;                // one sample, the state after its input
  std::int64_t points() const { return fields.sizes[0]; }
  bool goes_with(const Prepared& other) const {
    return points() == other.points() && fields.mesh == other.fields.mesh && fields.spacing == other.fields.spacing &&
           fields.stretch == other.fields.stretch && fields.origin == other.fields.origin;
  }
};

TorchPredictor::TorchPredictor(ModelFile about, std::shared_ptr<OperatorModel> model, torch::Device device)
    : about_(std::move(about)), model_(std::move(model)), device_(device) {
  if (task() == Task::autoregressive) state_frames_ = model_->architecture().value("state_frames", std::int64_t{1});
}

Task TorchPredictor::task() const { return task_of(*model_); }

// One frame [N, du] of a query's state.
std::span<const float> TorchPredictor::frame_of(const Operator::Query& query, std::int64_t frame) const {
  const std::size_t size = query.call.state.size() / static_cast<std::size_t>(state_frames());
  return query.call.state.subspan(static_cast<std::size_t>(frame) * size, size);
}

TorchPredictor::Prepared TorchPredictor::prepare(const Operator::Query& query) const {
  const SetDescription& set = about_.set;
  const auto coordinates = query.coordinates.empty() ? std::span<const float>(about_.coordinates) : query.coordinates;
  const auto points = static_cast<std::int64_t>(coordinates.size()) / set.dims();
  Prepared p;
  p.fields.sizes = {points};
  if (set.geometry != Geometry::points) p.fields.mesh = query.call.mesh.empty() ? set.shape : query.call.mesh;
  p.fields.stretch = stretch_of(set, p.fields.mesh, query.call.span);
  if (set.geometry == Geometry::grid && uniform_grid_spacing(p.fields.mesh, coordinates, &p.fields.spacing)) {
    p.fields.origin.assign(coordinates.begin(), coordinates.begin() + set.dims());
  } else {
    p.fields.spacing.clear();
  }
  if (const std::vector<double> box = model_->order_box(); set.geometry == Geometry::points && !box.empty()) {
    p.order = hilbert_order(coordinates, set.dims(), query.input, set.input_channels(), box);
  }
  const auto at = [&](std::int64_t i) {
    return static_cast<std::size_t>(p.order.empty() ? i : p.order[static_cast<std::size_t>(i)]);
  };
  const auto append = [&](std::span<const float> values, std::int64_t channels, const ChannelMap& map, std::int64_t i,
                          std::vector<float>& to) {
    const auto width = static_cast<std::size_t>(channels);
    to.resize(to.size() + width);
    map.encode(values.subspan(at(i) * width, width), std::span(to).last(width));
  };
  const std::int64_t moved = about_.normaliser.mean_mesh.channels();
  std::vector<float> displacement;  // of meshes, which keep their own order
  if (moved > 0)
    displacement = Displacement(about_.normaliser.mean_mesh, p.fields.mesh, about_.set.periodic, p.fields.stretch)
                       .of(coordinates, 0, 0, points);
  for (std::int64_t i = 0; i < points; ++i) {
    append(coordinates, set.dims(), about_.normaliser.coordinates, i, p.fields.coordinates);
    append(query.input, set.input_channels(), about_.normaliser.input, i, p.fields.input);
    const auto own = displacement.begin() + i * moved;
    p.fields.input.insert(p.fields.input.end(), own, own + moved);
    for (std::int64_t frame = 0; frame < state_frames(); ++frame)
      append(frame_of(query, frame), set.output_channels(), about_.normaliser.output, i, p.fields.input);
  }
  if (task() == Task::time_conditional) p.fields.times = {query.call.time};
  return p;
}

void TorchPredictor::apply_batch(std::span<const Operator::Query> queries, std::span<const Prepared> prepared) {
  const SetDescription& set = about_.set;
  FieldBatch all = prepared[0].fields;
  for (const Prepared& p : prepared.subspan(1)) {
    all.sizes.push_back(p.points());
    all.coordinates.insert(all.coordinates.end(), p.fields.coordinates.begin(), p.fields.coordinates.end());
    all.input.insert(all.input.end(), p.fields.input.begin(), p.fields.input.end());
    all.times.insert(all.times.end(), p.fields.times.begin(), p.fields.times.end());
  }
  const std::int64_t inputs =
      set.input_channels() + about_.normaliser.mean_mesh.channels() + state_frames() * set.output_channels();
  const torch::Tensor answer = with_memory([&] {
    return model_->forward(to_torch(all, set.dims(), inputs, device_)).to(torch::kCPU, torch::kFloat32).contiguous();
  });
  const auto width = static_cast<std::size_t>(set.output_channels()),
             points = static_cast<std::size_t>(prepared[0].points());
  const std::span<const float> values(answer.data_ptr<float>(), static_cast<std::size_t>(answer.numel()));
  const std::vector<double>& increment = about_.normaliser.increment;
  std::vector<float> base;  // the mean output on this mesh
  if (!about_.normaliser.mean_output.empty())
    base = about_.normaliser.mean_output.resampled(prepared[0].fields.mesh, about_.set.periodic,
                                                   prepared[0].fields.stretch);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto newest = increment.empty() ? std::span<const float>() : frame_of(queries[q], state_frames() - 1);
    for (std::size_t i = 0; i < points; ++i) {
      const std::size_t to = prepared[q].order.empty() ? i : static_cast<std::size_t>(prepared[q].order[i]);
      const std::span<const float> network = values.subspan((q * points + i) * width, width);
      const std::span<float> next = queries[q].output.subspan(to * width, width);
      about_.normaliser.output.decode(network, next);
      for (std::size_t c = 0; !base.empty() && c < width; ++c) next[c] += base[to * width + c];
      for (std::size_t c = 0; c < increment.size(); ++c) {  // the state and its change
        next[c] =
            static_cast<float>(static_cast<double>(newest[to * width + c]) +
                               increment[c] * about_.normaliser.output.scale()[c] * static_cast<double>(network[c]));
      }
    }
  }
}

void TorchPredictor::apply(std::span<const Operator::Query> queries) {
  const torch::NoGradGuard no_grad;
  model_->eval();
  std::vector<Prepared> prepared;
  for (std::size_t first = 0, last = 0; first < queries.size(); first = last) {
    prepared.clear();
    prepared.push_back(prepare(queries[first]));
    for (last = first + 1; last < queries.size() && last - first < kBatch; ++last) {
      Prepared next = prepare(queries[last]);
      if (!next.goes_with(prepared[0])) break;
      prepared.push_back(std::move(next));
    }
    apply_batch(queries.subspan(first, last - first), prepared);
  }
}

std::unique_ptr<TorchPredictor> load_torch_predictor(ModelFile file, const std::string& doing, torch::Device device) {
  const std::string name = architecture_name(file.architecture);
  const std::vector<std::string> known = model_names();
  if (is_lano(name)) {
    lano_parts(file, doing);  // before a model of that size is built
  } else if (std::find(known.begin(), known.end(), name) != known.end()) {
    check_baseline(file, doing);
  }
  const std::shared_ptr<OperatorModel> model = make_model_of_size(file, doing);
  load_weights(*model, file.weights, doing);
  load_buffers(*model, file.buffers, doing);
  model->to(device);
  model->eval();
  file.weights.clear();
  return std::make_unique<TorchPredictor>(std::move(file), model, device);
}

std::unique_ptr<TorchPredictor> load_torch_predictor(const std::filesystem::path& path) {
  return load_torch_predictor(read_model_file(path), fmt::format("reading model '{}'", path.string()), torch_device());
}

}  // namespace lano
