// What `hone train` and `hone demo` share: a recipe's data in, a run with a progress bar.
#pragma once

#include "engine/language.h"
#include "engine/model.h"
#include "train/recipe.h"
#include "train/trainer.h"

namespace hone::cli {

// The recipe's model with a new adapter of the recipe's kind.
engine::Model open_for_training(const train::Recipe& recipe);

// Trains on the recipe's files and says on stderr what happens. After a Ctrl-C the step is
// finished, the adapter saved, and Report::stopped set.
train::Report run_training(engine::Model& model, const engine::Language& language,
                           const train::Recipe& recipe);

nlohmann::ordered_json report_json(const train::Report& report);
void write_report(const train::Recipe& recipe, const nlohmann::ordered_json& report);

}  // namespace hone::cli
