// Training a LANO from a recipe: read_recipe_files(), then train() into a run folder. Component train, target
// lano::train.
#pragma once

#include "train/recipes.h"
#include "train/trainer.h"
