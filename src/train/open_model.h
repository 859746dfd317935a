// The model that a recipe trains: opened, with what is trained new or gone on from.
#pragma once

#include "engine/model.h"
#include "train/recipe.h"

namespace hone::train {

// With adapter.start, the adapter is that folder's. Throws ConfigError when the recipe says
// otherwise: a value that is not the schema's default and not the folder's.
engine::Model open_model(const Recipe& recipe);

}  // namespace hone::train
