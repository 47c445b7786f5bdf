// A model with all it needs to be used on physical data, as read from a model file, and prediction with it (LibTorch).
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "data/dataset.h"
#include "models/operator_model.h"
#include "runtime/model_file.h"

namespace lano {

struct TrainedModel {
  ModelFile file;  // weights are moved out into `model`
  std::shared_ptr<OperatorModel> model;
};

TrainedModel load_trained_model(const std::filesystem::path& path);

// Fails with the differing shapes where a set cannot be an input of this model.
void check_fits(const SetDescription& trained_on, const SetDescription& given, std::string_view doing);

// Physical predictions [S, N, du] for all samples, in batches, without gradients.
std::vector<float> predict(OperatorModel& model, const Normaliser& normaliser, const SetDescription& description,
                           const Samples& samples, std::int64_t batch);

}  // namespace lano
