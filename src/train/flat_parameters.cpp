#include "train/flat_parameters.h"

#include <fmt/format.h>

#include "core/error.h"

namespace lano {

FlatParameters::FlatParameters(OperatorModel& model) {
  const torch::NoGradGuard no_grad;
  std::int64_t size = 0;  // of real numbers: parameter_count takes complex ones for one
  for (const torch::Tensor& parameter : model.parameters()) size += parameter.numel();
  values_ = torch::empty({size}, torch::kFloat32);
  gradients_ = torch::zeros_like(values_);
  std::int64_t at = 0;
  for (auto& item : model.named_parameters()) {
    torch::Tensor& parameter = item.value();
    layout_.emplace_back(item.key(), parameter.sizes().vec());
    const torch::Tensor view = values_.narrow(0, at, parameter.numel()).view(parameter.sizes());
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = gradients_.narrow(0, at, parameter.numel()).view(parameter.sizes());
    at += parameter.numel();
  }
}

std::span<float> FlatParameters::values() {
  return {values_.data_ptr<float>(), static_cast<std::size_t>(values_.numel())};
}

std::span<float> FlatParameters::gradients() {
  return {gradients_.data_ptr<float>(), static_cast<std::size_t>(gradients_.numel())};
}

std::vector<ParameterGroup> FlatParameters::groups(Decay decay) const {
  std::vector<ParameterGroup> groups;
  std::size_t at = 0;
  for (const auto& [name, shape] : layout_) {
    const auto size = static_cast<std::size_t>(element_count(shape));
    const bool decays = decay == Decay::all || shape.size() >= 2;
    if (groups.empty() || groups.back().decays != decays) groups.push_back({at, 0, decays});
    groups.back().size += size;
    at += size;
  }
  return groups;
}

std::map<std::string, Tensor> FlatParameters::named(std::span<const float> flat) const {
  std::map<std::string, Tensor> tensors;
  std::size_t at = 0;
  for (const auto& [name, shape] : layout_) {
    const auto part = flat.subspan(at, static_cast<std::size_t>(element_count(shape)));
    tensors[name] = {shape, std::vector<float>(part.begin(), part.end())};
    at += part.size();
  }
  return tensors;
}

std::map<std::string, Tensor> copy_weights(const OperatorModel& model) {
  std::map<std::string, Tensor> weights;
  for (const auto& item : model.named_parameters()) {
    const torch::Tensor plain = item.value().detach().to(torch::kFloat32).contiguous();
    const float* const data = plain.data_ptr<float>();
    weights[item.key()] = {plain.sizes().vec(), std::vector<float>(data, data + plain.numel())};
  }
  return weights;
}

void load_weights(OperatorModel& model, const std::map<std::string, Tensor>& weights, std::string_view doing) {
  const torch::NoGradGuard no_grad;
  std::size_t used = 0;
  for (const auto& item : model.named_parameters()) {
    const auto found = weights.find(item.key());
    if (found == weights.end()) fail(doing, fmt::format("a tensor '{}'", item.key()), "none", "the file is of another model");
    const Tensor& tensor = found->second;
    if (tensor.shape != item.value().sizes().vec()) {
      fail(doing, fmt::format("'{}' of shape {}", item.key(), shape_text(item.value().sizes().vec())),
           shape_text(tensor.shape), "the file is of another model");
    }
    item.value().copy_(torch::from_blob(const_cast<float*>(tensor.values.data()), item.value().sizes()));
    ++used;
  }
  if (used != weights.size()) {
    fail(doing, fmt::format("{} tensors", used), std::to_string(weights.size()), "the file is of another model");
  }
}

}  // namespace lano
