#include "libtorch/torch_trainable.h"

#include "core/random.h"
#include "core/threads.h"
#include "evaluate/loaded_model.h"
#include "libtorch/tensor_budget.h"
#include "libtorch/torch_batch.h"
#include "libtorch/torch_predictor.h"

namespace lano {

TorchTrainable::TorchTrainable(const nlohmann::json& architecture, const TrainConfig& config,
                               const Objective& objective, torch::Device device, bool mirrored)
    : model_(make_model(architecture, static_cast<std::uint64_t>(config.seed))),
      config_(config),
      output_(objective.output),
      increment_(objective.increment),
      loss_(config.loss, objective.output, objective.mesh, objective.spacing, objective.base),
      device_(device),
      flat_(*model_, device, mirrored) {}

torch::Tensor TorchTrainable::loss(const Lesson& lesson) {
  const std::int64_t outputs = output_.channels();
  const auto points = lesson.batch.points();
  const auto channels = [&](const std::vector<float>& values) {
    return static_cast<std::int64_t>(values.size()) / points;
  };
  const std::int64_t given = lesson.batch.shared_coordinates ? lesson.batch.sizes[0] : points;
  const auto dims = static_cast<std::int64_t>(lesson.batch.coordinates.size()) / given;
  const Batch batch = to_torch(lesson.batch, dims, channels(lesson.batch.input), device_);
  const auto judged = [&](const torch::Tensor& network, std::size_t frame, std::size_t k) {
    return loss_(network, to_torch(lesson.truth[frame], lesson.batch, outputs, device_), batch.counts,
                 lesson.weights.empty() ? std::vector<double>{} : lesson.weights[k]);
  };
  const auto pass = [&](const Batch& each, std::size_t k) {
    model_->name_pass(
        {0, static_cast<std::uint64_t>(config_.seed), lesson.step, lesson.place, static_cast<std::uint32_t>(k)});
    return model_->forward(each);
  };
  if (config_.lano.task != Task::autoregressive) return judged(pass(batch, 0), 0, 0);
  const std::size_t window = lesson.truth.size() - static_cast<std::size_t>(config_.rollout);
  std::vector<torch::Tensor> frames;  // the state's, then what the passes give, in normalised form
  for (std::size_t j = 0; j < window; ++j) {
    std::vector<float> start(lesson.truth[j].size());
    output_.encode(lesson.truth[j], start);
    frames.push_back(to_torch(start, lesson.batch, outputs, device_));
  }
  torch::Tensor sum;
  for (std::size_t k = 0; k < static_cast<std::size_t>(config_.rollout); ++k) {
    Batch stepped = batch;
    std::vector<torch::Tensor> columns{batch.input};
    columns.insert(columns.end(), frames.end() - static_cast<std::ptrdiff_t>(window), frames.end());
    stepped.input = torch::cat(columns, -1);
    const torch::Tensor step = pass(stepped, k);
    frames.push_back(increment_.empty()
                         ? step
                         : frames.back() + step * torch::tensor(increment_, step.options().requires_grad(false)));
    const torch::Tensor one = judged(frames.back(), window + k, k);
    sum = sum.defined() ? sum + one : one;
  }
  return sum / static_cast<double>(config_.rollout);
}

double TorchTrainable::learn(const Lesson& lesson) {
  // LibTorch draws the masks of other models from its own generator: give each batch its own seed, so that a resumed
  // run agrees.
  RandomStream masks(static_cast<std::uint64_t>(config_.seed), Purpose::dropout, lesson.step, lesson.place);
  torch::manual_seed(masks.next());
  model_->train();
  flat_.to_model();
  if (lesson.first) flat_.zero_gradients();
  return with_memory([&] {
    const torch::Tensor value = loss(lesson);
    (lesson.share == 1 ? value : value * lesson.share).backward();
    flat_.from_model();
    return value.item<double>();
  });
}

std::unique_ptr<Predictor> TorchTrainable::predictor(const ModelFile& about) {
  flat_.to_model();
  return std::make_unique<TorchPredictor>(about, model_, device_);
}

void TorchTrainable::load_buffers(std::span<const float> flat, std::string_view doing) {
  lano::load_buffers(*model_, flat, doing);
}

void TorchTrainable::load_buffers(const std::map<std::string, Tensor>& named, std::string_view doing) {
  lano::load_buffers(*model_, named, doing);
}

std::map<std::string, Tensor> TorchTrainable::name_buffers(std::span<const float> flat) const {
  return lano::name_buffers(*model_, flat);
}

void register_torch_models() {
  set_torch_trainables([](const nlohmann::json& architecture, const TrainConfig& config, const Objective& objective) {
    at::set_num_threads(thread_count());
    return with_memory(
        [&] { return std::make_unique<TorchTrainable>(architecture, config, objective, torch_device()); });
  });
  set_torch_predictors([](ModelFile file, const std::string& doing) -> std::unique_ptr<Predictor> {
    return load_torch_predictor(std::move(file), doing, torch_device());
  });
}

}  // namespace lano
