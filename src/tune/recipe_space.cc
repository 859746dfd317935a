#include "tune/recipe_space.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/quote.h"
#include "train/objective.h"

namespace hone::tune {
namespace {

// A study saves and measures by itself, and names the folders.
constexpr std::string_view kOwn[] = {"save", "eval", "resume", "log"};

constexpr int kDraws = 64;  // of the other values, before one is called impossible

bool is_inside(std::string_view key, std::string_view group) {
  return key == group || (key.starts_with(group) && key[group.size()] == '.');
}

bool measures_validation(const train::Recipe& r) {
  return !r.data.eval.empty() || r.data.eval_share > 0;
}

std::string assignment(const search::Parameter& p, double number) {
  return fmt::format("{}={}", p.name, p.text(number));
}

}  // namespace

std::vector<std::string> metrics_of(const train::Recipe& recipe) {
  std::vector<std::string> names = {"train_loss", "tokens_per_second"};
  if (!measures_validation(recipe)) return names;
  names.emplace_back("val_loss");
  for (const std::string_view metric : train::objective_of(recipe.objective.kind).metrics)
    names.push_back(fmt::format("val_{}", metric));
  return names;
}

RecipeSpace::RecipeSpace(train::Recipe recipe, search::Space space, std::string source)
    : recipe_(std::move(recipe)), space_(std::move(space)), source_(std::move(source)) {
  for (const search::Parameter& p : space_.parameters.list) check_key(p.name);
  search::settle_steps(space_, recipe_.length.steps, source_);
  if (space_.steps) recipe_.length = {.epochs = std::nullopt, .steps = space_.steps};
  check_metric();
  for (size_t i = 0; i < space_.parameters.list.size(); ++i) {
    const search::Parameter& p = space_.parameters.list[i];
    const bool choice = p.kind == search::Parameter::Kind::kChoice;
    for (int64_t c = 0; choice && c < p.count(); ++c) check_value(i, p.at(c));
    for (const double end : {p.low, p.high})  // the recipe's own rules are ranges
      if (!choice) check_value(i, end);
  }
}

void RecipeSpace::check_key(const std::string& name) const {
  for (const std::string_view own : kOwn)
    if (is_inside(name, own))
      throw ConfigError("{}: parameters: {} is the study's own; leave it out", source_, name);
  if (is_inside(name, "length") && space_.steps)
    throw ConfigError("{}: parameters: {} and the space's steps contradict each other", source_,
                      name);
}

void RecipeSpace::check_metric() const {
  const std::string& metric = space_.objective.metric;
  const std::vector<std::string> known = metrics_of(recipe_);
  if (std::ranges::find(known, metric) != known.end()) return;
  if (metric == "val_loss")
    throw ConfigError(
        "{}: objective.metric val_loss needs validation data; give data.eval or data.eval_share, "
        "or measure train_loss",
        source_);
  throw ConfigError("{}: objective.metric {} is not reported; known: {}", source_, quote(metric),
                    fmt::join(known, ", "));
}

train::Recipe RecipeSpace::with_text(std::span<const std::string> overrides) const {
  return train::changed(recipe_, overrides);
}

train::Recipe RecipeSpace::with(std::span<const double> numbers) const {
  std::vector<std::string> overrides;
  for (size_t i = 0; i < numbers.size(); ++i)
    overrides.push_back(assignment(space_.parameters.list[i], numbers[i]));
  return with_text(overrides);
}

std::string RecipeSpace::refusal(std::span<const double> numbers) const {
  try {
    with(numbers);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

// Alone, and when that is refused with several draws of the others: batch.micro 8 may be right for
// another batch.sequences than the recipe's.
void RecipeSpace::check_value(size_t parameter, double number) const {
  try {
    with_text(std::vector{assignment(space_.parameters.list[parameter], number)});
    return;
  } catch (const ConfigError& e) {
    Random random(0);
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<double> numbers;
      for (const search::Parameter& p : space_.parameters.list) numbers.push_back(p.draw(random));
      numbers[parameter] = number;
      if (refusal(numbers).empty()) return;
    }
    throw ConfigError("{}: parameters: {}", source_, e.what());
  }
}

}  // namespace hone::tune
