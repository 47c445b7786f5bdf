// Small baselines in double, their batches, and what every one of them must show; and their layers once more, by hand,
// over named weights.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "libtorch/lano_cases.h"
#include "libtorch/operator_model.h"
#include "model_spec/baseline_config.h"

namespace lano::test {

inline LanoShape on_mesh(const Shape& mesh, std::int64_t input_channels = 1) {
  LanoShape shape;
  shape.dims = shape.axes = static_cast<std::int64_t>(mesh.size());
  shape.mesh = mesh;
  shape.input_channels = input_channels;
  return shape;
}

inline LanoShape on_cloud(std::int64_t points, std::int64_t input_channels = 1) {
  LanoShape shape;
  shape.axes = 0;
  shape.points = points;
  shape.input_channels = input_channels;
  return shape;
}

// L=8, H=8, C=128, r=2.
inline std::int64_t standard_count(const std::string& name, const LanoShape& shape) {
  BaselineConfig config;
  config.name = name;
  return parameter_count(*make_model(to_json(config, shape), 1));
}

inline BaselineConfig small_config(const std::string& name, std::int64_t layers = 2) {
  BaselineConfig config;
  config.name = name;
  config.layers = layers;
  config.heads = 2;
  config.width = 12;
  config.slices = 3;
  config.features = 3;
  config.window = 2;
  return config;
}

// In double and evaluation mode, with weights large enough that nothing is nearly linear.
inline std::shared_ptr<OperatorModel> double_model(const BaselineConfig& config, const LanoShape& shape) {
  const auto model = make_model(to_json(config, shape), 1);
  model->to(torch::kFloat64);
  model->eval();
  enlarge_weights(*model);
  return model;
}

inline Batch batch_of(const LanoShape& shape, std::int64_t samples, Shape mesh = {}, std::int64_t points = 0) {
  Batch batch;
  if (shape.axes > 0) batch.mesh = mesh.empty() ? shape.mesh : mesh;
  if (points == 0) points = shape.axes > 0 ? element_count(batch.mesh) : shape.points;
  torch::manual_seed(11);
  batch.coordinates = torch::rand({samples, points, shape.dims}, torch::kFloat64);
  batch.input = torch::randn({samples, points, shape.input_channels}, torch::kFloat64);
  return batch;
}

inline double largest_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

// Central differences of fourth order along a random direction of each parameter and of the input; error O(h^4) +
// rounding/h, about 1e-9.
inline void expect_gradients(OperatorModel& model, Batch batch) {
  batch.input.requires_grad_();
  const torch::Tensor probe = torch::randn_like(model.forward(batch).detach());
  const auto value = [&] { return (model.forward(batch) * probe).sum(); };
  value().backward();
  std::vector<std::pair<std::string, torch::Tensor>> all{{"input", batch.input}};
  for (auto& item : model.named_parameters()) all.emplace_back(item.key(), item.value());
  for (auto& [name, p] : all) {
    const torch::NoGradGuard no_grad;
    ASSERT_TRUE(p.grad().defined()) << name << " has no part in the output";
    const torch::Tensor direction = torch::randn_like(p), kept = p.clone();
    constexpr double kStep = 1e-5;
    const auto at = [&, &tensor = p](double steps) {
      tensor.copy_(kept + steps * kStep * direction);
      return value().item<double>();
    };
    const double difference = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * kStep);
    p.copy_(kept);
    EXPECT_NEAR((p.grad() * direction).sum().item<double>(), difference, 1e-7 * (1 + std::abs(difference))) << name;
  }
}

// A model's weights under their names, and the layers made of them.
class ByHand {
 public:
  explicit ByHand(const OperatorModel& model) {
    for (const auto& item : model.named_parameters()) tensors_[item.key()] = item.value().detach();
    for (const auto& item : model.named_buffers()) tensors_[item.key()] = item.value();
  }
  torch::Tensor operator[](const std::string& name) const { return tensors_.at(name); }
  torch::Tensor linear(const torch::Tensor& x, const std::string& name) const {
    const torch::Tensor y = torch::matmul(x, (*this)[name + ".weight"].t());
    return tensors_.contains(name + ".bias") ? y + (*this)[name + ".bias"] : y;
  }
  torch::Tensor mlp(const torch::Tensor& x, const std::string& name1, const std::string& name2) const {
    return linear(torch::gelu(linear(x, name1)), name2);
  }
  torch::Tensor norm(const torch::Tensor& x, const std::string& name) const {
    return normed(x) * (*this)[name + ".weight"] + (*this)[name + ".bias"];
  }
  static torch::Tensor normed(const torch::Tensor& x) {
    return (x - x.mean(-1, true)) / torch::sqrt(x.var(-1, /*unbiased=*/false, /*keepdim=*/true) + 1e-5);
  }
  torch::Tensor encoder(const Batch& batch) const {
    const torch::Tensor f = mlp(torch::cat({batch.coordinates, batch.input}, -1), "encoder1", "encoder2");
    return tensors_.contains("placeholder") ? f + (*this)["placeholder"] : f;
  }
  // The frame of libtorch/pre_norm.h with one block, around an attention.
  template <class Attention>
  torch::Tensor pre_norm(const Batch& batch, Attention attention) const {
    torch::Tensor f = encoder(batch);
    f = f + attention(norm(f, "blocks.0.norm1"));
    f = f + mlp(norm(f, "blocks.0.norm2"), "blocks.0.ffn.linear1", "blocks.0.ffn.linear2");
    return linear(norm(f, "norm"), "decoder");
  }
  // Channels of head h of [B,N,C].
  static torch::Tensor head(const torch::Tensor& x, std::int64_t h, std::int64_t heads) {
    return x.chunk(heads, -1)[static_cast<std::size_t>(h)];
  }

 private:
  std::map<std::string, torch::Tensor> tensors_;
};

}  // namespace lano::test
