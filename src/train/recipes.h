// Recipes in layers: configs/<benchmark>/<preset>.toml trains a LANO, <preset>-others.toml (if there is one) holds what
// all other operators do differently, configs/models/<model>/<preset>.toml what one of them does, and
// <preset>-<benchmark>.toml next to that what it does on that benchmark alone. Each overrides the ones before.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/config.h"

namespace lano {

// Presets of the paper's sizes: its text literally, and with our readings of it. What the layers above say of other
// operators is the same for both and named after the first.
inline constexpr const char *kPaperReading = "paper", *kOurReading = "paper-ours";

// The files of a pair in the order they are read. Fails where the benchmark has no such preset, or the model (LANO
// apart) no file for it.
std::vector<std::filesystem::path> recipe_files(const std::filesystem::path& configs, const std::string& benchmark,
                                                const std::string& model, const std::string& preset);

// The file that `asked` means: itself if it exists, else that recipe in the folder configs, as "darcy/laptop" or
// "configs/darcy/laptop.toml": the one here, of the installation or of the source tree. If there is none it is returned
// as it is, and reading it says so.
std::filesystem::path find_recipe(const std::filesystem::path& asked);

// TOML files (find_recipe), later ones overriding earlier ones, each --set over all of them.
TrainConfig read_recipe_files(const std::vector<std::filesystem::path>& files,
                              const std::vector<std::string>& overrides);

// The folder configs: `asked` if it is not empty; otherwise ./configs, that of the installation, or that of the source
// tree the program was built in.
std::filesystem::path find_configs(const std::filesystem::path& asked);

}  // namespace lano
