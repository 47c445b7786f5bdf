// The model file: one .safetensors with the weights and, as text metadata, everything needed to use them: architecture,
// the dataset it was trained on (geometry, fields), the normaliser and the training's provenance. It holds no time,
// host or path, so the same training gives the same bytes. The interface between training and every use of a model.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/set_description.h"
#include "normalise/normaliser.h"
#include "runtime/safetensors.h"

namespace lano {

inline constexpr int kModelVersion = 1;

struct ModelFile {
  nlohmann::json architecture;     // {"name": "lano", ...}: what the registry needs to build the model
  SetDescription set;              // of the training data; its generator records where they came from
  std::vector<float> coordinates;  // [N, dx] of the training grid where all samples share it, else empty
  Normaliser normaliser;
  nlohmann::json provenance;  // recipe, seed, epochs, selection, validation error
  std::map<std::string, Tensor> weights;
  std::map<std::string, Tensor> buffers;  // running statistics of models that have some; no parameters

  std::int64_t parameter_count() const;  // of the weights
};

ModelFile read_model_file(const std::filesystem::path& path);
ModelFile parse_model_file(std::string_view bytes,
                           const std::string& doing);   // the same of bytes in memory; `doing` opens messages
std::string format_model_file(const ModelFile& model);  // its bytes
void write_model_file(const std::filesystem::path& path, const ModelFile& model);

}  // namespace lano
