// All parameters of a model in one buffer and all gradients in another: the model's tensors become views of them, or on
// another device copies. The optimiser, clipping and checkpoints work on plain memory; order is that of
// named_parameters().
#pragma once

#include <torch/torch.h>

#include <map>
#include <span>
#include <string>

#include "libtorch/operator_model.h"
#include "runtime/safetensors.h"
#include "train/trainable.h"

namespace lano {

class FlatParameters {
 public:
  // Moves the model to the device. There (and where `mirrored`) its tensors are copies; to_model and from_model carry
  // values and gradients across.
  explicit FlatParameters(OperatorModel& model, torch::Device device = torch::kCPU, bool mirrored = false);
  std::span<float> values();
  std::span<float> gradients();
  void zero_gradients();
  void to_model();    // values, to the model's tensors
  void from_model();  // gradients, of the model's tensors
  const std::vector<NamedShape>& layout() const { return layout_; }

 private:
  std::vector<NamedShape> layout_;
  torch::Tensor values_, gradients_;       // on the CPU
  std::vector<torch::Tensor> parameters_;  // the model's, where they are copies; else empty
};

std::map<std::string, Tensor> copy_weights(const OperatorModel& model);
// Fails where a tensor is missing, has another shape, or is unknown to the model.
void load_weights(OperatorModel& model, const std::map<std::string, Tensor>& weights, std::string_view doing);

// Running statistics: the registered buffers of floating type, one after the other in the order of named_buffers(). A
// training forward writes them; no gradient, decay or running mean of the weights touches them. Whole-number counters
// (BatchNorm's batches seen) decide nothing at a fixed momentum and stay out.
std::vector<float> copy_buffers(const OperatorModel& model);
void load_buffers(OperatorModel& model, std::span<const float> flat,
                  std::string_view doing);  // fails where their number differs
void load_buffers(OperatorModel& model, const std::map<std::string, Tensor>& buffers, std::string_view doing);
std::map<std::string, Tensor> name_buffers(const OperatorModel& model, std::span<const float> flat);

}  // namespace lano
