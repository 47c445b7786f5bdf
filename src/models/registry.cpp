#include <fmt/format.h>

#include "core/error.h"
#include "core/nearest.h"
#include "models/lano.h"
#include "models/operator_model.h"

namespace lano {

std::vector<std::string> model_names() { return {"lano"}; }

std::shared_ptr<OperatorModel> make_model(const nlohmann::json& architecture, std::uint64_t seed) {
  const std::string name = architecture.is_object() ? architecture.value("name", "") : "";
  if (name == "lano") return std::make_shared<Lano>(architecture, seed);
  fail_usage("making a model", fmt::format("one of: {}", fmt::join(model_names(), ", ")), fmt::format("'{}'", name),
             fmt::format("did you mean '{}'?", nearest(name, model_names())));
}

std::int64_t OperatorModel::use_agents(std::int64_t) {
  fail_usage("choosing the agents", "a model with agent tokens", "one without", "leave out --agents");
}

std::int64_t parameter_count(const OperatorModel& model) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace lano
