// From a recipe's data files to tokenised samples.
#pragma once

#include "data/batch.h"
#include "engine/language.h"
#include "train/recipe.h"

namespace hone::train {

// All examples of the sources, tokenised, with the tokens that `loss_on` names as targets. Throws
// ConfigError that names FILE:LINE when an example has no assistant token to learn.
std::vector<data::Sample> load_samples(const std::vector<DataSource>& sources,
                                       const std::string& loss_on,
                                       const engine::Language& language);

}  // namespace hone::train
