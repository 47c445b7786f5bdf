#include "libtorch/baseline.h"

#include <fmt/format.h>

#include <vector>

#include "libtorch/features.h"
#include "model_spec/lano_sizes.h"

namespace lano {

std::string axes_text(std::int64_t axes) {
  return axes == 0 ? "a point cloud" : fmt::format("a grid or mesh of {} ax{}s", axes, axes == 1 ? "i" : "e");
}

Baseline::Baseline(const BaselineConfig& config, const LanoShape& shape, std::int64_t features)
    : config_(config), shape_(shape), features_(features > 0 ? features : config.width) {
  if (config_.task == Task::time_conditional) {
    time1_ = register_module("time1", torch::nn::Linear(config_.width, config_.width));
    time2_ = register_module("time2", torch::nn::Linear(config_.width, features_));
  }
}

std::int64_t Baseline::position_channels() const { return position_width(config_.position, shape_.dims); }

void Baseline::register_encoder(bool placeholder) {
  const std::int64_t c = config_.width;
  encoder1_ = register_module("encoder1", torch::nn::Linear(position_channels() + shape_.input_channels, 2 * c));
  encoder2_ = register_module("encoder2", torch::nn::Linear(2 * c, features_));
  if (placeholder)
    placeholder_ = register_parameter("placeholder", torch::rand({features_}) / static_cast<double>(features_));
}

torch::Tensor Baseline::encode(const Points& points) {
  torch::Tensor f = encoder2_(torch::gelu(encoder1_(torch::cat({points.position, points.input}, -1))));
  if (placeholder_.defined()) f = f + placeholder_;
  return points.time.defined() ? f + points.time : f;
}

void Baseline::initialise_as_transformer() {
  const torch::NoGradGuard no_grad;
  for (const auto& module : modules(false)) {
    if (auto* const linear = module->as<torch::nn::LinearImpl>()) {
      linear->weight.normal_(0, 0.02);
      if (linear->bias.defined()) linear->bias.zero_();
    }
  }
}

torch::Tensor Baseline::apply_all(const Batch& batch, const torch::Tensor& coordinates, const torch::Tensor& input,
                                  const torch::Tensor& time) {
  return apply({coordinates, position_features(config_.position, shape_, coordinates), input, time, batch.mesh});
}

torch::Tensor Baseline::forward(const Batch& batch) {
  torch::Tensor time;
  if (time1_)
    time = time2_(torch::silu(time1_(time_waves(shape_, batch.time, config_.width, batch.coordinates.options()))))
               .unsqueeze(1);
  if (batch.counts.empty()) return apply_all(batch, batch.coordinates, batch.input, time);
  std::vector<torch::Tensor> clouds;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < batch.counts.size(); ++i) {
    const torch::Tensor own = time.defined() ? time.narrow(0, static_cast<std::int64_t>(i), 1) : time;
    clouds.push_back(apply_all(batch, batch.coordinates.narrow(1, first, batch.counts[i]),
                               batch.input.narrow(1, first, batch.counts[i]), own));
    first += batch.counts[i];
  }
  return torch::cat(clouds, 1);
}

}  // namespace lano
