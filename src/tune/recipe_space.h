// What a space means for a recipe: each trial's recipe, and every mistake that shows before a run.
#pragma once

#include <span>
#include <string>

#include "search/space.h"
#include "train/recipe.h"

namespace hone::tune {

// The names that objective.metric may have with this recipe: train_loss, val_loss, ...
std::vector<std::string> metrics_of(const train::Recipe& recipe);

class RecipeSpace {
 public:
  // Gives the space's steps and rungs their values. Throws ConfigError of one line that begins with
  // `source`: a key that the recipe has not, or that is the study's own; a value that the recipe
  // refuses whatever the others are; a metric that nobody reports; rungs without steps.
  RecipeSpace(train::Recipe recipe, search::Space space, std::string source);

  const search::Space& space() const { return space_; }
  const train::Recipe& recipe() const { return recipe_; }  // without the searched values

  // The recipe with a trial's values. Throws ConfigError when it refuses them.
  train::Recipe with(std::span<const double> numbers) const;
  std::string refusal(std::span<const double> numbers) const;  // "" when it takes them

 private:
  void check_key(const std::string& name) const;
  void check_metric() const;
  void check_value(size_t parameter, double number) const;
  train::Recipe with_text(std::span<const std::string> overrides) const;

  train::Recipe recipe_;
  search::Space space_;
  std::string source_;
};

}  // namespace hone::tune
