#include "model_spec/baseline_config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "model_spec/model_catalogue.h"

namespace lano {
namespace {

// The sizes it shares with a LANO, under LANO's keys.
void bind_shared(Schema& schema, BaselineConfig& c) {
  schema.bind("model.layers", c.layers, "");
  schema.bind("model.heads", c.heads, "");
  schema.bind("model.width", c.width, "");
  schema.bind("model.ffn_ratio", c.ffn_ratio, "");
  schema.bind("model.dropout", c.dropout, "");
  schema.bind<Position>("model.position", c.position,
                        {{"coordinates", Position::coordinates}, {"reference", Position::reference}}, "");
  schema.bind<Task>("model.task", c.task,
                    {{"steady", Task::steady},
                     {"autoregressive", Task::autoregressive},
                     {"time_conditional", Task::time_conditional}},
                    "");
  schema.bind("model.state_frames", c.state_frames, "");
}

}  // namespace

void bind_baseline_config(Schema& schema, BaselineConfig& c) {
  schema.bind("model.modes", c.modes, "spectral operators: Fourier modes kept along each axis");
  schema.bind("model.slices", c.slices, "transolver: physical states");
  schema.bind<LinearAttentionKind>(
      "model.attention", c.attention,
      {{"galerkin", LinearAttentionKind::galerkin}, {"fourier", LinearAttentionKind::fourier}},
      "galerkin, oformer: the type of attention without softmax");
  schema.bind("model.experts", c.experts, "gnot: experts of a feed-forward layer");
  schema.bind("model.basis", c.basis, "lsm: basis functions of its spectral blocks");
  schema.bind("model.tokens", c.tokens, "lsm: latent tokens of its spectral blocks");
  schema.bind("model.wavelets", c.wavelets, "wmt: polynomials of the multiwavelets");
  schema.bind("model.window", c.window, "ht-net: points per axis of its windows");
  schema.bind("model.levels", c.levels, "ht-net: maximum number of levels");
  schema.bind("model.features", c.features, "ono: orthogonal features");
  schema.bind("model.latent_grid", c.latent_grid,
              "spectral operators on point clouds: points per axis of the projection's grid");
}

BaselineConfig baseline_config(const std::string& name, const LanoConfig& shared, BaselineConfig own) {
  own.name = name;
  own.layers = shared.layers;
  own.heads = shared.heads;
  own.width = shared.width;
  own.ffn_ratio = shared.ffn_ratio;
  own.dropout = shared.dropout;
  own.position = shared.position;
  own.task = shared.task;
  own.state_frames = std::max<std::int64_t>(1, shared.state_frames);
  return own;
}

void check_baseline_config(const BaselineConfig& c) {
  BaselineConfig copy = c;
  Schema schema;
  bind_shared(schema, copy);
  bind_baseline_config(schema, copy);
  constexpr std::int64_t kMost = 1 << 16;
  for (const Schema::Key& key : schema.keys()) {
    const ConfigValue value = key.get();
    const auto* const whole = std::get_if<std::int64_t>(&value);
    const std::int64_t most = key.name == "model.layers"                                   ? kMostLayers
                              : key.name == "model.wavelets"                               ? 16
                              : key.name == "model.state_frames"                           ? kMostStateFrames
                              : key.name == "model.modes" || key.name == "model.ffn_ratio" ? 1024
                                                                                           : kMost;
    if (whole != nullptr && (*whole < 1 || *whole > most)) {
      fail_usage("reading the model's config", fmt::format("{} between 1 and {}", key.name, most),
                 std::to_string(*whole));
    }
  }
  if (!(c.dropout >= 0 && c.dropout < 1))
    fail_usage("reading the model's config", "model.dropout in [0, 1)", fmt::format("{}", c.dropout));
  const ModelInfo* const model = find_model(c.name);  // of a caller's own nothing is known: it may have heads
  if ((model == nullptr || reads_key(*model, "model.heads")) && c.width % c.heads != 0) {
    fail_usage("reading the model's config", "model.width to be a multiple of model.heads",
               fmt::format("{} and {}", c.width, c.heads));
  }
}

nlohmann::json to_json(const BaselineConfig& config, const LanoShape& shape) {
  BaselineConfig copy = config;
  Schema schema;
  bind_shared(schema, copy);
  bind_baseline_config(schema, copy);
  return architecture_json(config.name, schema, shape);
}

void baseline_from_json(const nlohmann::json& json, BaselineConfig& config, LanoShape& shape) {
  Schema schema;
  bind_shared(schema, config);
  bind_baseline_config(schema, config);
  nlohmann::json whole = json;
  if (whole.is_object() && !whole.contains("state_frames")) whole["state_frames"] = 1;  // files written before this key
  architecture_from_json(whole, schema, shape);
  config.name = json.value("name", "");
  check_baseline_config(config);
  check_reference_box(config.position, shape);
  if (!shape.reference_box.empty() && shape.reference_box.size() != static_cast<std::size_t>(2 * shape.dims)) {
    fail("reading an architecture", "reference_box with two numbers per axis, or empty",
         std::to_string(shape.reference_box.size()), "the file is damaged");
  }
}

}  // namespace lano
