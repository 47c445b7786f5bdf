#include "evaluate/loaded_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model_spec/architecture.h"
#include "model_spec/model_catalogue.h"

namespace lano {
namespace {

LoadTorchModel& torch_predictors() {
  static LoadTorchModel load;
  return load;
}

}  // namespace

bool needs_torch(const ModelFile& file, bool composite) {
  return composite || !is_lano(architecture_name(file.architecture));
}

bool can_load(const ModelFile& file, bool composite) {
  return !needs_torch(file, composite) || torch_predictors() != nullptr;
}

void set_torch_predictors(LoadTorchModel load) { torch_predictors() = std::move(load); }

LoadedModel load_model(ModelFile file, const std::string& doing, bool composite) {
  LoadedModel loaded;
  std::map<std::string, Tensor> weights = std::move(file.weights);  // not copied
  file.weights.clear();
  loaded.about = file;
  file.weights = std::move(weights);
  if (!can_load(file, composite)) fail_without_torch(doing, architecture_name(file.architecture));
  if (needs_torch(file, composite)) {
    loaded.predictor = torch_predictors()(std::move(file), doing);
  } else {
    loaded.predictor = std::make_unique<OperatorPredictor>(Operator(std::move(file)));
  }
  return loaded;
}

LoadedModel load_model(const std::filesystem::path& path, bool composite) {
  return load_model(read_model_file(path), fmt::format("reading model '{}'", path.string()), composite);
}

}  // namespace lano
