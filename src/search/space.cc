#include "search/space.h"

#include <algorithm>

#include "base/quote.h"

namespace hone::search {
namespace {

constexpr int64_t kTrials = 20;           // when the file does not say
constexpr int64_t kMostPoints = 1000000;  // of a grid

// "optim" and "optim.lr" would write over each other.
bool overlap(const std::string& a, const std::string& b) {
  return a == b || b.starts_with(a + ".") || a.starts_with(b + ".");
}

int64_t grid_points(const Space& space, const std::string& source) {
  int64_t points = 1;
  for (const Parameter& p : space.parameters.list) {
    if (p.count() == 0)
      throw ConfigError("{}: a grid cannot try every value of {}; give a list, integers or a step",
                        source, quote(p.name));
    if (p.count() > kMostPoints / points)
      throw ConfigError("{}: the grid has more than {} points", source, kMostPoints);
    points *= p.count();
  }
  return points;
}

}  // namespace

void check_space(Space& space, const std::string& source) {
  const std::vector<Parameter>& list = space.parameters.list;
  if (list.empty())
    throw ConfigError(
        "{}: parameters is empty; name recipe keys, as in optim.lr: {{log_uniform: [1e-5, 1e-2]}}",
        source);
  for (size_t i = 0; i < list.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (overlap(list[i].name, list[j].name))
        throw ConfigError("{}: {} and {} set the same key", source, quote(list[j].name),
                          quote(list[i].name));
  if (space.sampler && !space.halves())
    throw ConfigError("{}: sampler belongs to method asha; with {} leave it out", source,
                      space.method);
  if (space.method == "grid") {
    const int64_t points = grid_points(space, source);
    if (space.trials.value_or(points) != points)
      throw ConfigError("{}: the grid has {} points and trials is {}; leave trials out", source,
                        points, *space.trials);
    space.trials = points;
  }
  if (!space.trials) space.trials = kTrials;
  if (!space.halves() && space.rungs.first)
    throw ConfigError("{}: rungs belong to method asha; with {} leave them out", source,
                      space.method);
}

void settle_steps(Space& space, std::optional<int64_t> recipe_steps, const std::string& source) {
  if (!space.halves()) return;
  if (!space.steps) space.steps = recipe_steps;
  if (!space.steps)
    throw ConfigError("{}: asha counts in steps; give steps, or length.steps in the recipe",
                      source);
  const int64_t factor = space.rungs.factor;
  if (!space.rungs.first)
    space.rungs.first = std::max<int64_t>(1, *space.steps / (factor * factor));
  if (*space.rungs.first >= *space.steps)
    throw ConfigError("{}: rungs.first {} is not below the {} steps of a trial", source,
                      *space.rungs.first, *space.steps);
}

Space load_space(const std::filesystem::path& file) {
  Space space;
  read_fields(read_yaml(file), space);
  check_space(space, file.string());
  return space;
}

std::string space_text(const Space& space) { return yaml_text(hone::to_yaml(space)); }

}  // namespace hone::search
