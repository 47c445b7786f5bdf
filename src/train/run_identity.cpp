#include "train/run_identity.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/fnv.h"

namespace lano {

std::string deciding_recipe(TrainConfig config) {
  const TrainConfig plain;
  config.data = plain.data;
  config.from = std::filesystem::path(config.from).filename().string();
  config.memory_gb = plain.memory_gb;
  config.checkpoint_minutes = plain.checkpoint_minutes;
  config.checkpoint_steps = plain.checkpoint_steps;
  return to_toml(config);
}

void check_same_recipe(const std::string& toml, const TrainConfig& config) {
  TrainConfig before;
  Schema schema;
  bind_train_config(schema, before);
  schema.load_text(toml, "reading the config of a checkpoint");
  if (deciding_recipe(before) == deciding_recipe(config)) return;
  fail_usage_plainly("resuming a run", "the config differs from the one it was started with",
                     "start a new run, or give no --set and no --config with --resume");
}

std::string data_identity(const DatasetReader& reader, const std::vector<std::int64_t>& ids) {
  Fnv hash;
  const SetDescription& set = reader.description();
  hash.add(set.generator + fields_to_json(set).dump());
  hash.add(set.time);
  hash.add(reader.splits());
  const Samples ends = reader.read(std::vector<std::int64_t>{ids.front(), ids.back()});
  hash.add(ends.coordinates);
  hash.add(ends.input);
  hash.add(ends.output);
  return fmt::format("{} training samples of '{}', {} {}, {} input and {} output channels, fingerprint {:016x}",
                     ids.size(), set.name, geometry_name(set.geometry), shape_text(set.shape), set.input_channels(),
                     set.output_channels(), hash.value());
}

}  // namespace lano
