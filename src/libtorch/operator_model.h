// A neural operator as training and evaluation see it: normalised coordinates and input fields in, normalised output
// fields out. Every model of the registry is one of these. Float32 by default; `.to(torch::kFloat64)` for references.
// Parameters are real: a complex weight is a pair of numbers along a last axis of two, and its own name (after the last
// dot) begins with "complex". parameter_count counts such a pair as one parameter, as PyTorch does with a complex
// tensor and as papers quote it.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/shape.h"
#include "kernels/dropout.h"
#include "model_spec/lano_config.h"

namespace lano {

// A batch of samples: on meshes of one shape, on clouds of one size, or on clouds of different sizes, which are packed
// one after the other (B = 1, N the sum of their counts) so that there is no padding to leak from.
struct Batch {
  torch::Tensor coordinates;         // [B, N, dx], normalised
  torch::Tensor input;               // [B, N, da], normalised; da may be 0
  Shape mesh;                        // axes of the grid or mesh, row-major; empty for clouds
  std::vector<double> spacing;       // physical step of each axis of a uniform grid, else empty
  std::vector<double> origin;        // physical coordinate of its first point
  std::vector<double> stretch{};     // of a mesh against the trained one (model_spec/lano_layout.h)
  std::vector<std::int64_t> counts;  // points of each packed cloud; empty where all samples are of one size
  torch::Tensor time;                // [B] (packed: one per cloud), physical; for time_conditional models only
};

class OperatorModel : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const Batch& batch) = 0;  // [B, N, du]
  virtual nlohmann::json architecture() const = 0;        // what make_model needs to build it again
  // The box of the Hilbert curve along which the model wants the points of a cloud; empty: in their own order.
  virtual std::vector<double> order_box() const { return {}; }
  // Asks for another number of agent tokens at run time; returns the number used. Fails where the model has none to
  // choose.
  virtual std::int64_t use_agents(std::int64_t agents);
  // Names the random draws of the next forward pass in training (all but the rate); models that draw by LibTorch's
  // generator take no notice.
  virtual void name_pass(const kernels::Dropout&) {}
};

// Builds the model that `architecture` names, with weights drawn from `seed`.
std::shared_ptr<OperatorModel> make_model(const nlohmann::json& architecture, std::uint64_t seed);

std::vector<std::string> model_names();

// Adds a program's own operator to the registry: trained, stored and evaluated like the others. Not during other
// threads.
struct BaselineConfig;
using MakeModel = std::shared_ptr<OperatorModel> (*)(const BaselineConfig&, const LanoShape&);
void register_model(const std::string& name, MakeModel make);

std::int64_t parameter_count(const OperatorModel& model);

}  // namespace lano
