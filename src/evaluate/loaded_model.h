// A model file in use: its predictor, and what the file holds besides the weights.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "evaluate/predictor.h"

namespace lano {

struct LoadedModel {
  ModelFile about;  // without weights
  std::unique_ptr<Predictor> predictor;
};

// Other operators than LANO, and LANO by the composite engine (`composite`), are LibTorch's.
bool needs_torch(const ModelFile& file, bool composite);
// Whether this program has what the model needs.
bool can_load(const ModelFile& file, bool composite = false);

using LoadTorchModel = std::function<std::unique_ptr<Predictor>(ModelFile file, const std::string& doing)>;
// Set once, at the start of a program that links LibTorch.
void set_torch_predictors(LoadTorchModel load);

// `doing` opens the message where the file is damaged, or of a model this program does not know.
LoadedModel load_model(ModelFile file, const std::string& doing, bool composite = false);
LoadedModel load_model(const std::filesystem::path& path, bool composite = false);

}  // namespace lano
