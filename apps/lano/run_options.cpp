#include "run_options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "console.h"
#include "core/interrupt.h"
#include "core/ranks.h"
#include "model_spec/model_catalogue.h"

namespace lano::cli {

std::vector<std::string> unread_keys(const TrainConfig& config, const std::vector<std::string>& overrides) {
  const ModelInfo* const model = find_model(config.model);
  if (model == nullptr) return {};
  std::vector<std::string> sentences;
  for (const std::string& assignment : overrides) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (!reads_key(*model, key))
      sentences.push_back(fmt::format("{} does not read {}: it has no effect", config.model, key));
  }
  return sentences;
}

void tell_unread(const TrainConfig& config, const std::vector<std::string>& overrides) {
  for (const std::string& sentence : unread_keys(config, overrides)) console().say(sentence);
}

TrainConfig read_recipe(const std::vector<std::string>& files, const std::string& data,
                        const std::vector<std::string>& overrides) {
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  for (const std::string& file : files) schema.load(file);
  if (!data.empty()) config.data = data;
  for (const std::string& assignment : overrides) schema.override_with(assignment);
  return config;
}

void choose_agents(Predictor& predictor, std::int64_t agents) {
  if (agents == 0) return;
  const std::int64_t used = predictor.use_agents(agents);
  if (!ranks().first()) return;
  fmt::print(stderr, "using {} agents{}\n", used,
             used == agents ? "" : fmt::format(": the nearest good patch grid to {}", agents));
}

void leave_if_interrupted() {
  std::fflush(stdout);
  if (interrupted()) std::_Exit(130);
}

}  // namespace lano::cli
