#include "train/recipes.h"

#include <fmt/format.h>

#include "core/child_process.h"
#include "core/error.h"
#include "model_spec/architecture.h"

namespace lano {

namespace fs = std::filesystem;

std::vector<fs::path> recipe_files(const fs::path& configs, const std::string& benchmark, const std::string& model,
                                   const std::string& preset) {
  const auto needed = [&](const fs::path& path, const std::string& whose) {
    if (!fs::exists(path))
      fail_usage_plainly("choosing a recipe", fmt::format("there is no '{}' for {}", path.string(), whose),
                         "see 'configs' for benchmarks, models and presets");
    return path;
  };
  std::vector<fs::path> files{needed(configs / benchmark / (preset + ".toml"), benchmark)};
  const fs::path own = configs / "models" / model;
  // The two readings of the paper differ in LANO's switches and in the splits: for other operators they are the same.
  const std::string theirs = preset == kOurReading ? kPaperReading : preset;
  if (!is_lano(model)) {
    if (const fs::path others = configs / benchmark / (theirs + "-others.toml"); fs::exists(others))
      files.push_back(others);
    files.push_back(needed(own / (theirs + ".toml"), model));
  }
  if (const fs::path special = own / fmt::format("{}-{}.toml", theirs, benchmark); fs::exists(special))
    files.push_back(special);
  return files;
}

TrainConfig read_recipe_files(const std::vector<fs::path>& files, const std::vector<std::string>& overrides) {
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  for (const fs::path& file : files) schema.load(file);
  for (const std::string& assignment : overrides) schema.override_with(assignment);
  return config;
}

fs::path find_configs(const fs::path& asked) {
  if (!asked.empty()) return asked;
  const fs::path program = program_folder();
  for (const fs::path& folder :
       {fs::path("configs"), program / "../share/lano/configs", program / "../../../configs"}) {
    if (fs::is_directory(folder / "models")) return folder.lexically_normal();
  }
  fail_usage_plainly("looking for the recipes", "there is no folder 'configs' here or in the installation",
                     "name it with --configs");
}

}  // namespace lano
