#include "libtorch/flat_parameters.h"

#include <fmt/format.h>

#include "core/error.h"

namespace lano {
namespace {

using NamedTensors = torch::OrderedDict<std::string, torch::Tensor>;

NamedTensors floating_buffers(const OperatorModel& model) {
  NamedTensors found;
  for (const auto& item : model.named_buffers()) {
    if (item.value().is_floating_point()) found.insert(item.key(), item.value());
  }
  return found;
}

std::map<std::string, Tensor> copied(const NamedTensors& tensors) {
  std::map<std::string, Tensor> copies;
  for (const auto& item : tensors) {
    const torch::Tensor plain = item.value().detach().to(torch::kCPU, torch::kFloat32).contiguous();
    const float* const data = plain.data_ptr<float>();
    copies[item.key()] = {plain.sizes().vec(), std::vector<float>(data, data + plain.numel())};
  }
  return copies;
}

void load_named(const NamedTensors& to, const std::map<std::string, Tensor>& from, std::string_view doing) {
  const torch::NoGradGuard no_grad;
  for (const auto& item : to) {
    const auto found = from.find(item.key());
    if (found == from.end())
      fail_plainly(doing, fmt::format("the tensor '{}' is missing", item.key()), "the file is of another model");
    const Tensor& tensor = found->second;
    if (tensor.shape != item.value().sizes().vec()) {
      fail(doing, fmt::format("'{}' of shape {}", item.key(), shape_text(item.value().sizes().vec())),
           shape_text(tensor.shape), "the file is of another model");
    }
    torch::Tensor(item.value())
        .copy_(torch::from_blob(const_cast<float*>(tensor.values.data()), item.value().sizes(),
                                torch::kFloat32));  // CPU: copied across
  }
  if (to.size() != from.size())
    fail(doing, fmt::format("{} tensors", to.size()), std::to_string(from.size()), "the file is of another model");
}

}  // namespace

FlatParameters::FlatParameters(OperatorModel& model, torch::Device device, bool mirrored) {
  const torch::NoGradGuard no_grad;
  model.to(device);
  mirrored = mirrored || !device.is_cpu();
  std::int64_t size = 0;  // of real numbers: parameter_count takes complex ones for one
  for (const torch::Tensor& parameter : model.parameters()) size += parameter.numel();
  values_ = torch::empty({size}, torch::kFloat32);  // CPU: plain memory of the optimiser
  gradients_ = torch::zeros_like(values_);
  std::int64_t at = 0;
  for (auto& item : model.named_parameters()) {
    torch::Tensor& parameter = item.value();
    layout_.push_back({item.key(), parameter.sizes().vec()});
    const torch::Tensor view = values_.narrow(0, at, parameter.numel()).view(parameter.sizes());
    view.copy_(parameter);
    if (mirrored) {
      parameters_.push_back(parameter);
    } else {
      parameter.set_data(view);
      parameter.mutable_grad() = gradients_.narrow(0, at, parameter.numel()).view(parameter.sizes());
    }
    at += parameter.numel();
  }
}

std::span<float> FlatParameters::values() {
  return {values_.data_ptr<float>(), static_cast<std::size_t>(values_.numel())};
}

std::span<float> FlatParameters::gradients() {
  return {gradients_.data_ptr<float>(), static_cast<std::size_t>(gradients_.numel())};
}

void FlatParameters::zero_gradients() {
  gradients_.zero_();
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
}

void FlatParameters::to_model() {
  const torch::NoGradGuard no_grad;
  std::int64_t at = 0;
  for (torch::Tensor& parameter : parameters_) {
    parameter.copy_(values_.narrow(0, at, parameter.numel()).view(parameter.sizes()));
    at += parameter.numel();
  }
}

void FlatParameters::from_model() {
  std::int64_t at = 0;
  for (const torch::Tensor& parameter : parameters_) {
    if (parameter.grad().defined())
      gradients_.narrow(0, at, parameter.numel()).view(parameter.sizes()).copy_(parameter.grad());
    at += parameter.numel();
  }
}

std::map<std::string, Tensor> copy_weights(const OperatorModel& model) { return copied(model.named_parameters()); }

void load_weights(OperatorModel& model, const std::map<std::string, Tensor>& weights, std::string_view doing) {
  load_named(model.named_parameters(), weights, doing);
}

std::vector<float> copy_buffers(const OperatorModel& model) {
  std::vector<float> flat;
  for (const auto& item : floating_buffers(model)) {
    const torch::Tensor plain = item.value().to(torch::kCPU, torch::kFloat32).contiguous();
    flat.insert(flat.end(), plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel());
  }
  return flat;
}

std::map<std::string, Tensor> name_buffers(const OperatorModel& model, std::span<const float> flat) {
  std::map<std::string, Tensor> tensors;
  std::size_t at = 0;
  for (const auto& item : floating_buffers(model)) {
    const auto part = flat.subspan(at, static_cast<std::size_t>(item.value().numel()));
    tensors[item.key()] = {item.value().sizes().vec(), std::vector<float>(part.begin(), part.end())};
    at += part.size();
  }
  return tensors;
}

void load_buffers(OperatorModel& model, std::span<const float> flat, std::string_view doing) {
  std::size_t count = 0;
  const NamedTensors buffers = floating_buffers(model);
  for (const auto& item : buffers) count += static_cast<std::size_t>(item.value().numel());
  if (count != flat.size())
    fail(doing, fmt::format("{} running statistics", count), std::to_string(flat.size()),
         "the state is of another model");
  load_named(buffers, name_buffers(model, flat), doing);
}

void load_buffers(OperatorModel& model, const std::map<std::string, Tensor>& buffers, std::string_view doing) {
  load_named(floating_buffers(model), buffers, doing);
}

}  // namespace lano
