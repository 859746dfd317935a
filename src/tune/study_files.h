// What a study leaves in its folder beside study.db, written anew after each trial:
//
//   study.html, study.json, study.csv    the trials
//   best.yaml                            the recipe of the best trial, to be run by `hone train`
//   trial-ID/                            each trial's run; only the best keeps its adapter and
//   checkpoints
#pragma once

#include <span>

#include "search/trial.h"
#include "tune/recipe_space.h"

namespace hone::tune {

// The user's recipe with the best trial's values, its run in FOLDER/best; nothing without a best.
std::optional<train::Recipe> best_recipe(const RecipeSpace& space,
                                         std::span<const search::Trial> trials);

// Throws FileError.
void write_study_files(const RecipeSpace& space, std::span<const search::Trial> trials);

}  // namespace hone::tune
