// Tensors of tests as the batches on plain memory that the fused engine takes, and a LANO with the weights of a model.
#pragma once

#include "libtorch/lano_cases.h"
#include "train/lano_trainable.h"

namespace lano::test {

inline std::vector<float> plain(const torch::Tensor& values) {
  const torch::Tensor whole = values.detach().to(torch::kFloat32).contiguous();
  return {whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel()};
}

inline FieldBatch plain(const Batch& from) {
  FieldBatch batch;
  batch.packed = !from.counts.empty();
  batch.sizes = batch.packed ? from.counts
                             : std::vector<std::int64_t>(static_cast<std::size_t>(from.coordinates.size(0)),
                                                         from.coordinates.size(1));
  batch.coordinates = plain(from.coordinates);
  batch.input = plain(from.input);
  batch.mesh = from.mesh;
  batch.spacing = from.spacing;
  batch.origin = from.origin;
  if (from.time.defined()) {
    const torch::Tensor times = from.time.to(torch::kFloat64).contiguous();
    batch.times.assign(times.data_ptr<double>(), times.data_ptr<double>() + times.numel());
  }
  return batch;
}

inline void copy_weights_to(LanoTrainable& lano, const OperatorModel& model) {
  std::size_t at = 0, tensor = 0;
  for (const auto& item : model.named_parameters()) {
    const std::vector<float> values = plain(item.value());
    EXPECT_EQ(lano.layout().at(tensor).name, item.key());  // one order for both
    EXPECT_EQ(lano.layout().at(tensor++).shape, item.value().sizes().vec());
    std::copy(values.begin(), values.end(), lano.values().begin() + static_cast<std::ptrdiff_t>(at));
    at += values.size();
  }
  EXPECT_EQ(at, lano.values().size());
}

inline std::unique_ptr<LanoTrainable> trainable_for(const nlohmann::json& architecture, const TrainConfig& config = {},
                                                    Objective objective = {}) {
  if (objective.output.channels() == 0) objective.output = ChannelMap::identity(architecture.at("output_channels"));
  return std::make_unique<LanoTrainable>(architecture, config, objective);
}

}  // namespace lano::test
