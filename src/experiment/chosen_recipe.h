// The recipe of one training from the arguments of `lano train` or of lano.fit in Python: recipes that override one
// another, single keys that override them, a model to begin with, minutes. The same arguments give the same recipe, and
// so the same model, in both.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiment/own_recipe.h"

namespace lano {

struct RecipeWish {
  std::vector<std::string> files{};               // TOML recipes, one over the other
  std::vector<std::string> overrides{};           // "train.epochs=50"
  std::string data{};                             // the dataset file, or the name of the arrays; empty: the recipes say
  std::shared_ptr<const MemoryDataset> arrays{};  // in its place
  std::string from{};                             // a model file to begin with
  double minutes = 0;                             // 0: those of the recipe, or kOwnMinutes if there is none
};

// What is given, without any choice.
TrainConfig said_recipe(const RecipeWish& wish);

// If no recipe is given (and the model is a LANO) one is chosen for the dataset; if minutes are given with one, its
// epochs are adjusted. `said` is the recipe as given. `scratch`: a folder for timed steps, removed again.
OwnRecipe chosen_recipe(const RecipeWish& wish, const TrainConfig& said, const std::filesystem::path& scratch);

}  // namespace lano
