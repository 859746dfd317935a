// What `hone train` and `hone demo` share: a recipe's data in, a run with a progress bar.
#pragma once

#include "engine/language.h"
#include "engine/model.h"
#include "train/examples.h"
#include "train/recipe.h"
#include "train/trainer.h"

namespace hone::cli {

using train::TrainingData;

// The recipe's files, tokenised; says on stderr what they hold. Before the weights are loaded, so
// that a mistake in them shows at once.
TrainingData load_training_data(const engine::Language& language, const train::Recipe& recipe);

// The recipe's model with a new adapter of the recipe's kind.
engine::Model open_for_training(const train::Recipe& recipe);

// Trains, and says on stderr what happens. After a Ctrl-C or SIGTERM the step is finished, a
// checkpoint and the adapter are saved, and Report::stopped is set.
train::Report run_training(engine::Model& model, TrainingData data, const train::Recipe& recipe);

// The end of such a run, which says how to go on: SIGTERM is a machine that is taken away, and no
// failure (0); Ctrl-C throws Interrupted.
int end_stopped(const train::Report& report);

nlohmann::ordered_json report_json(const train::Report& report);
void write_report(const train::Recipe& recipe, const nlohmann::ordered_json& report);

}  // namespace hone::cli
