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

// Running statistics: the registered buffers of floating type, one behind the other in the order of named_buffers(). A training forward
// writes them; no gradient, decay or running mean of the weights touches them. Whole-number counters (BatchNorm's batches seen) decide
// nothing at a fixed momentum and stay out.
std::vector<float> copy_buffers(const OperatorModel& model);
void load_buffers(OperatorModel& model, std::span<const float> flat, std::string_view doing);  // fails where their number differs
void load_buffers(OperatorModel& model, const std::map<std::string, Tensor>& buffers, std::string_view doing);
std::map<std::string, Tensor> name_buffers(const OperatorModel& model, std::span<const float> flat);

}  // namespace lano
