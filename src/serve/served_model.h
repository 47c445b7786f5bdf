// A model in service: the operator, its name in paths, and what `GET /v1/models` says of it. Never changed once made; a
// changed file becomes another one, and requests that have the old one end with it.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "model_spec/lano_config.h"
#include "runtime/operator.h"

namespace lano::serve {

struct ServedModel {
  std::string name;
  Operator op;
  LanoShape shape;
  std::uint64_t revision = 1;     // counts the files taken under this name
  nlohmann::json about;           // without the revision
  std::vector<double> mesh_span;  // nothing: of the training mesh

  ServedModel(std::string name_, Operator op_);
  // [N, dx] of a grid of these axes in the model's domain; empty where the model knows none.
  std::vector<float> grid(const Shape& mesh) const;
};

// "runs/darcy/model.safetensors" -> "darcy", "pipe.safetensors" -> "pipe": letters, digits, '.', '_' and '-'.
std::string name_of(const std::filesystem::path& file);

// Geometry, fields with units, times, sizes, errors from training, the problem it was generated from, statistics.
nlohmann::json describe(const std::string& name, const Operator& op);

}  // namespace lano::serve
