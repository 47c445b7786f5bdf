// All parameters of a model in one buffer and all gradients in another: the model's tensors become views of them. The
// optimiser, clipping and checkpoints then work on plain memory, and order is that of named_parameters().
#pragma once

#include <torch/torch.h>

#include <map>
#include <span>
#include <string>

#include "models/operator_model.h"
#include "runtime/safetensors.h"
#include "train/adamw.h"

namespace lano {

class FlatParameters {
 public:
  explicit FlatParameters(OperatorModel& model);
  std::span<float> values();
  std::span<float> gradients();
  void zero_gradients() { gradients_.zero_(); }
  // Neighbours of one kind joined: what the weight decay shrinks, and what it leaves.
  std::vector<ParameterGroup> groups(Decay decay) const;
  // A flat buffer of the same layout as tensors by name.
  std::map<std::string, Tensor> named(std::span<const float> flat) const;

 private:
  std::vector<std::pair<std::string, Shape>> layout_;
  torch::Tensor values_, gradients_;
};

std::map<std::string, Tensor> copy_weights(const OperatorModel& model);
// Fails where a tensor is missing, has another shape, or is unknown to the model.
void load_weights(OperatorModel& model, const std::map<std::string, Tensor>& weights, std::string_view doing);

}  // namespace lano
