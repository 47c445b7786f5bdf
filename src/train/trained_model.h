// A model with all it needs to be used on physical data, as read from a model file, and prediction with it (LibTorch).
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/set_fit.h"
#include "data/prediction.h"
#include "models/operator_model.h"
#include "runtime/model_file.h"

namespace lano {

struct TrainedModel {
  ModelFile file;  // weights are moved out into `model`
  std::shared_ptr<OperatorModel> model;
};

// Refuses a file whose architecture is larger than its tensors before it takes the memory.
TrainedModel load_trained_model(const std::filesystem::path& path);

// Predictions for all samples, in batches, without gradients. Time-conditional models give every frame of the set;
// autoregressive ones start from the samples' first frame, which is kept as frame 0, and step freely `steps` times
// (0: as many as the set has frames).
Prediction predict(OperatorModel& model, const Normaliser& normaliser, const SetDescription& description,
                   const Samples& samples, std::int64_t batch, std::int64_t steps = 0);

}  // namespace lano
