// How a trial of a study trains: train::Trainer in the folder trial-ID of the study's.
#pragma once

#include <functional>
#include <optional>

#include "data/batch.h"
#include "engine/model.h"
#include "search/study.h"
#include "train/examples.h"
#include "train/trainer.h"
#include "tune/recipe_space.h"

namespace hone::tune {

// What the caller knows how to do.
struct Host {
  std::function<engine::Model(const train::Recipe&)> open;
  std::function<train::TrainingData(const train::Recipe&)> load;
  std::function<void(const train::Progress&)> on_step;
  std::function<void(const std::string&)> say;
  std::function<bool()> interrupted;
};

// Keeps the model's frozen weights and the data between trials, where these do not vary.
class Trials {
 public:
  Trials(const RecipeSpace& space, Host host) : space_(space), host_(std::move(host)) {}

  search::Outcome run(const search::Trial& trial, const search::Report& report);

 private:
  engine::Model& model_for(const train::Recipe& recipe);
  const train::TrainingData& data_for(const train::Recipe& recipe);

  const RecipeSpace& space_;
  Host host_;
  std::optional<engine::Model> model_;
  std::optional<train::TrainingData> data_;
  train::Recipe opened_, loaded_;  // for which they are
};

// The recipe of a trial: nothing is saved or measured but what the study needs.
train::Recipe trial_recipe(const RecipeSpace& space, const search::Trial& trial);
std::filesystem::path trial_folder(const RecipeSpace& space, int64_t id);

}  // namespace hone::tune
