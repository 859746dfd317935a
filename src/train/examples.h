// From a recipe's data files to sets of tokenised samples.
#pragma once

#include <optional>

#include "data/sample_set.h"
#include "data/token_cache.h"
#include "engine/language.h"
#include "train/recipe.h"

namespace hone::train {

struct TrainingData {
  data::SampleSet train;
  std::optional<data::SampleSet> eval;  // of data.eval, or what data.eval_share puts aside
};

// Tokenises what is not in the cache yet. Throws ConfigError that names FILE:LINE for an example
// that cannot be learnt as the recipe says.
TrainingData load_data(const Recipe& recipe, const engine::Language& language,
                       const data::TokeniseOptions& options = {});

text::Learn learn_of(const std::vector<std::string>& loss_on);

}  // namespace hone::train
