#include "model_spec/architecture.h"

#include <nlohmann/json.hpp>

namespace lano {

bool is_lano(std::string_view name) { return name == "lano"; }

std::string architecture_name(const nlohmann::json& architecture) {
  if (!architecture.is_object()) return "";
  const auto name = architecture.find("name");
  return name != architecture.end() && name->is_string() ? name->get<std::string>() : "";
}

nlohmann::json architecture_json(const std::string& name, const LanoConfig& switches, const BaselineConfig& own,
                                 const LanoShape& shape) {
  return is_lano(name) ? to_json(switches, shape) : to_json(baseline_config(name, switches, own), shape);
}

}  // namespace lano
