#include "libtorch/torch_batch.h"

#include <fmt/format.h>

#include "core/error.h"

namespace lano {
namespace {

torch::Device& chosen_device() {
  static torch::Device device(torch::kCPU);
  return device;
}

// A copy on the device; the memory stays the caller's.
torch::Tensor copied(std::span<const float> values, at::IntArrayRef shape, torch::Device device) {
  return torch::from_blob(const_cast<float*>(values.data()), shape, torch::kFloat32)
      .to(device, torch::kFloat32, false, /*copy=*/true);  // CPU: copied across
}

}  // namespace

torch::Tensor to_torch(std::span<const float> field, const FieldBatch& batch, std::int64_t channels,
                       torch::Device device) {
  if (batch.packed) return copied(field, {1, batch.points(), channels}, device);
  return copied(field, {batch.samples(), batch.sizes[0], channels}, device);
}

Batch to_torch(const FieldBatch& from, std::int64_t dims, std::int64_t input_channels, torch::Device device) {
  Batch batch;
  batch.coordinates = from.shared_coordinates
                          ? copied(from.coordinates, {1, from.sizes[0], dims}, device).expand({from.samples(), -1, -1})
                          : to_torch(from.coordinates, from, dims, device);
  batch.input = to_torch(from.input, from, input_channels, device);
  batch.mesh = from.mesh;
  batch.spacing = from.spacing;
  batch.origin = from.origin;
  batch.stretch = from.stretch;
  if (from.packed) batch.counts = from.sizes;
  if (!from.times.empty()) {
    batch.time = torch::tensor(from.times, batch.coordinates.options().dtype(torch::kFloat64));
  }
  return batch;
}

Task task_of(const OperatorModel& model) {
  const std::string task = model.architecture().value("task", "steady");
  return task == "autoregressive"     ? Task::autoregressive
         : task == "time_conditional" ? Task::time_conditional
                                      : Task::steady;
}

torch::Device torch_device() { return chosen_device(); }

void use_torch_device(const std::string& name) {
  constexpr const char* kDoing = "choosing a device";
  try {
    const torch::Device device(name);
    if (device.is_cuda() &&
        (!torch::cuda::is_available() || device.index() >= static_cast<int>(torch::cuda::device_count()))) {
      fail_usage_plainly(kDoing, fmt::format("LibTorch does not offer '{}' on this machine", name),
                         "leave out --device, or build against a LibTorch with CUDA");
    }
    if (!device.is_cuda() && !device.is_cpu()) fail_usage(kDoing, "cpu, cuda or cuda:N", fmt::format("'{}'", name));
    chosen_device() = device;
  } catch (const c10::Error&) {
    fail_usage(kDoing, "cpu, cuda or cuda:N", fmt::format("'{}'", name));
  }
}

}  // namespace lano
