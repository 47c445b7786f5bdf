// Shared with the page's WebAssembly module, which describes its model in the same words.
#include "serve/served_model.h"

namespace lano::serve {
namespace {

using nlohmann::json;

json fields(const std::vector<FieldInfo>& list) {
  json out = json::array();
  for (const FieldInfo& field : list) out.push_back({{"name", field.name}, {"unit", field.unit}});
  return out;
}

json statistics(const ChannelMap& map) { return {{"mean", map.shift()}, {"deviation", map.scale()}}; }

const char* task_name(Task task) {
  return task == Task::steady ? "steady" : task == Task::autoregressive ? "autoregressive" : "time_conditional";
}

// What `lano generate` wrote of its problem, where it was it: numbers and words alone.
json problem_of(const std::string& generator) {
  const json parsed = json::parse(generator, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return nullptr;
  const std::string program = parsed.value("program", json()).is_string() ? parsed["program"].get<std::string>() : "";
  constexpr std::string_view kOurs = "lano generate ";
  if (!program.starts_with(kOurs)) return nullptr;
  json out{{"kind", program.substr(kOurs.size())}};
  for (const auto& [key, value] : parsed.items())
    if (key != "program" && (value.is_number() || value.is_string() || value.is_array())) out[key] = value;
  return out;
}

}  // namespace

json describe(const std::string& name, const Operator& op) {
  const SetDescription& set = op.set();
  const ModelFile& file = op.file();
  json out{
      {"name", name},
      {"dataset", set.name},
      {"task", task_name(op.task())},
      {"geometry", std::string(geometry_name(set.geometry))},
      {"shape", set.shape},
      {"coordinates", fields(set.coordinates)},
      {"input", fields(set.input)},
      {"output", fields(set.output)},
      {"box", set.box},
      {"span", set.span},
      {"periodic", set.periodic},
      {"times", set.time},
      {"state_frames", op.state_frames()},
      {"given_frames", op.state_frames() > 0 ? op.state_frames() : 0},
      {"shared_coordinates", !op.coordinates().empty()},
      {"parameters", op.parameter_count()},
      {"agents", op.agents()},
      {"problem", problem_of(set.generator)},
      {"statistics", {{"input", statistics(file.normaliser.input)}, {"output", statistics(file.normaliser.output)}}}};
  // The model was chosen on its validation split: the error of that is in the file, the test's is not.
  json training = json::object();
  for (const char* key : {"validation_l2", "epoch", "train_samples", "version", "weights"})
    if (file.provenance.contains(key) && (file.provenance[key].is_number() || file.provenance[key].is_string()))
      training[key] = file.provenance[key];
  out["training"] = training;
  return out;
}

}  // namespace lano::serve
