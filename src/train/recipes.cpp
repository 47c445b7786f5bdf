#include "train/recipes.h"

#include <fmt/format.h>

#include "core/child_process.h"
#include "core/error.h"
#include "model_spec/architecture.h"

namespace lano {

namespace fs = std::filesystem;

namespace {

// Where recipes may lie: here, in the installation, in the source tree the program was built in.
std::vector<fs::path> configs_folders() {
  const fs::path program = program_folder();
  std::vector<fs::path> folders{"configs", program / "../share/lano/configs", program / "../../../configs"};
  for (fs::path& folder : folders) folder = folder.lexically_normal();
  return folders;
}

}  // namespace

fs::path find_recipe(const fs::path& asked) {
  std::error_code ignored;
  const fs::file_status there = fs::status(asked, ignored);
  if (asked.empty() || asked.is_absolute() || (fs::exists(there) && !fs::is_directory(there))) return asked;
  fs::path name = asked.lexically_normal();
  if (*name.begin() == "configs") name = name.lexically_relative("configs");
  if (*name.begin() == "..") return asked;
  if (name.extension() != ".toml") name += ".toml";
  for (const fs::path& folder : configs_folders()) {
    if (fs::path found = folder / name; fs::is_regular_file(found, ignored)) return found;
  }
  return asked;
}

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
  for (const fs::path& file : files) schema.load(find_recipe(file));
  for (const std::string& assignment : overrides) schema.override_with(assignment);
  return config;
}

fs::path find_configs(const fs::path& asked) {
  if (!asked.empty()) return asked;
  for (const fs::path& folder : configs_folders()) {
    if (fs::is_directory(folder / "models")) return folder;
  }
  fail_usage_plainly("looking for the recipes", "there is no folder 'configs' here or in the installation",
                     "name it with --configs");
}

}  // namespace lano
