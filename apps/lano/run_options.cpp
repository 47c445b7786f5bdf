#include "run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "console.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "core/fnv.h"
#include "core/interrupt.h"
#include "core/ranks.h"
#include "model_spec/model_catalogue.h"
#include "train/recipes.h"

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
  for (const std::string& file : files) schema.load(find_recipe(file));
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

void check_same_on_all(const std::string& doing, const std::string& what, const std::string& advice,
                       const std::string& mine) {
  if (ranks().alone()) return;
  // Builds of one version may differ.
  static const std::string program = [] {
    Fnv hash;
    hash.add(read_file("/proc/self/exe", "reading the program"));
    return fmt::format("{:016x}", hash.value());
  }();
  const auto compare = [&](const std::string& name, const std::string& value, const std::string& hint) {
    const std::vector<std::string> all = ranks().gather(value);
    const auto other = std::find_if(all.begin(), all.end(), [&](const std::string& one) { return one != all[0]; });
    if (other != all.end())
      fail(fmt::format("{} on {} ranks", doing, all.size()),
           fmt::format("on rank {} the {} of rank 0 ({})", other - all.begin(), name, all[0]), *other, hint);
  };
  compare("program", program, "give all ranks the same program");
  compare(what, mine, advice);
}

void leave_if_interrupted() {
  std::fflush(stdout);
  if (!interrupted()) return;
  set_ranks(nullptr);  // the others wait for this one at the end
  std::_Exit(130);
}

}  // namespace lano::cli
