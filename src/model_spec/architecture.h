// From the name of an operator, its switches and the data it is made for to the "architecture" of a model file, which
// is all that is needed to build the model.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "model_spec/baseline_config.h"
#include "model_spec/lano_config.h"

namespace lano {

// The operator this project is about, by its name in configs and model files. What is done for it alone asks this.
bool is_lano(std::string_view name);
std::string architecture_name(const nlohmann::json& architecture);  // "" where it has none

// `own`: what only other operators than LANO have.
nlohmann::json architecture_json(const std::string& name, const LanoConfig& switches, const BaselineConfig& own,
                                 const LanoShape& shape);

}  // namespace lano
