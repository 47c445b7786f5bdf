// Batches on plain memory as tensors of a device.
#pragma once

#include "data/sample_set.h"
#include "libtorch/operator_model.h"

namespace lano {

Batch to_torch(const FieldBatch& batch, std::int64_t dims, std::int64_t input_channels, torch::Device device);

// [P, channels] as [B, N, channels], or packed [1, P, channels].
torch::Tensor to_torch(std::span<const float> field, const FieldBatch& batch, std::int64_t channels,
                       torch::Device device);

Task task_of(const OperatorModel& model);  // steady for models without one

// The device that models are made on: the CPU, or what `lano --device` names. Fails where this LibTorch does not have
// it.
torch::Device torch_device();
void use_torch_device(const std::string& name);

}  // namespace lano
