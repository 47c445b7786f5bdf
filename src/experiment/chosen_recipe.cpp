#include "experiment/chosen_recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/duration.h"
#include "core/error.h"
#include "experiment/pair_run.h"
#include "model_spec/architecture.h"
#include "train/recipes.h"
#include "train/start_model.h"

namespace lano {

TrainConfig said_recipe(const RecipeWish& wish) {
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  for (const std::string& file : wish.files) schema.load(find_recipe(file));
  if (!wish.data.empty()) config.data = wish.data;
  for (const std::string& assignment : wish.overrides) schema.override_with(assignment);
  config.arrays = wish.arrays;
  if (wish.from.empty()) return config;
  // The model is the file's, and what the recipe says of it is left aside.
  for (const std::string& assignment : wish.overrides) {
    if (assignment.starts_with("model."))
      fail_usage_plainly(fmt::format("starting from '{}'", wish.from),
                         fmt::format("'{}' cannot be set: the model is that of the file", assignment),
                         "train a new model without --from");
  }
  config = with_start(config, read_model_file(wish.from));
  config.from = wish.from;
  return config;
}

OwnRecipe chosen_recipe(const RecipeWish& wish, const TrainConfig& said, const std::filesystem::path& scratch) {
  if (wish.files.empty() && is_lano(said.model))
    return own_recipe(said, wish.overrides, wish.minutes > 0 ? wish.minutes : kOwnMinutes, scratch);
  OwnRecipe chosen{said, {}};
  if (!said.from.empty()) chosen.because = {"model   " + start_text(said)};
  if (wish.minutes <= 0) return chosen;
  const Pace pace = measure_pace(said, scratch, std::clamp(wish.minutes, 0.3, 3.0));
  chosen.config = fit_to_budget(said, pace, 60 * wish.minutes);
  chosen.because.push_back(fmt::format("{} epochs at {:.1f} ms per step fit into {}", chosen.config.epochs,
                                       1e3 * pace.step_seconds, duration_text(60 * wish.minutes)));
  return chosen;
}

}  // namespace lano
