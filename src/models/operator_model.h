// A neural operator as training and evaluation see it: normalised coordinates and input fields in, normalised output
// fields out. Every model of the registry is one of these. Float32 by default; `.to(torch::kFloat64)` for references.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/shape.h"

namespace lano {

// A batch of samples on meshes of one kind and size.
struct Batch {
  torch::Tensor coordinates;  // [B, N, dx], normalised
  torch::Tensor input;        // [B, N, da], normalised; da may be 0
  Shape mesh;                 // axes of the grid or mesh, row-major; empty for point clouds
};

class OperatorModel : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const Batch& batch) = 0;  // [B, N, du]
  virtual nlohmann::json architecture() const = 0;        // what make_model needs to build it again
  // The box of the Hilbert curve along which the model wants the points of a cloud; empty: in their own order.
  virtual std::vector<double> order_box() const { return {}; }
};

// Builds the model that `architecture` names, with weights drawn from `seed`.
std::shared_ptr<OperatorModel> make_model(const nlohmann::json& architecture, std::uint64_t seed);

std::vector<std::string> model_names();

std::int64_t parameter_count(const OperatorModel& model);

}  // namespace lano
