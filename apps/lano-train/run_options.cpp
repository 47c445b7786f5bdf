#include "run_options.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cstdlib>

#include "core/interrupt.h"
#include "core/model_catalogue.h"
#include "core/threads.h"
#include "models/operator_model.h"

namespace lano::cli {

void use_threads(int count) {
  // Asked before LibTorch's first look at the pool, which would overwrite OpenMP's own choice.
  at::set_num_threads(count > 0 ? count : thread_count());
}

namespace {

// No mistake, since one list of changes may serve many models; but to be known.
void tell_unread(const std::string& name, const std::vector<std::string>& overrides) {
  const ModelInfo* const model = find_model(name);
  if (model == nullptr) return;
  for (const std::string& assignment : overrides) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (!reads_key(*model, key)) fmt::print(stderr, "lano: {} does not read {}: it changes nothing\n", name, key);
  }
}

}  // namespace

TrainConfig read_recipe(const std::vector<std::string>& files, const std::string& data, const std::vector<std::string>& overrides) {
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  for (const std::string& file : files) schema.load(file);
  if (!data.empty()) config.data = data;
  for (const std::string& assignment : overrides) schema.override_with(assignment);
  tell_unread(config.model, overrides);
  return config;
}

void choose_agents(OperatorModel& model, std::int64_t agents) {
  if (agents == 0) return;
  const std::int64_t used = model.use_agents(agents);
  fmt::print(stderr, "using {} agents{}\n", used, used == agents ? "" : fmt::format(": the nearest good patch grid to {}", agents));
}

void choose_engine(OperatorModel& model, const std::string& engine) { model.use_engine(engine == "composite" ? Engine::composite : Engine::fused); }

void leave_if_interrupted() {
  std::fflush(stdout);
  if (interrupted()) std::_Exit(130);
}

}  // namespace lano::cli
