// A Space is what `hone tune` is told beside the recipe: which keys are searched, how, and what
// counts as better. SPACE.yaml, read strictly:
//
//   parameters: {optim.lr: {log_uniform: [1.0e-5, 1.0e-2]}, adapter.rank: [8, 16, 32]}
//   method:     asha                        # tpe (the default), random, grid, asha
//   trials:     30
//   objective:  {metric: val_loss, goal: min}
//   steps:      270                         # of a whole trial
//   rungs:      {first: 30, factor: 3}      # asha looks at 30 and 90 steps
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "search/parameter.h"

namespace hone::search {

struct ObjectiveFields {
  std::string metric = "val_loss";
  std::string goal = "min";

  void fields(auto& v) {
    v("metric", metric, "a number that a trial reports");
    v("goal", goal, "whether less or more of it is better", one_of({"min", "max"}));
  }
};

struct TpeFields {
  int64_t startup = 10;
  int64_t candidates = 24;

  void fields(auto& v) {
    v("startup", startup, "trials drawn at random before it begins", between(1, 1e6));
    v("candidates", candidates, "draws of which the most promising is tried", between(1, 1e6));
  }
};

struct RungFields {
  std::optional<int64_t> first;
  int64_t factor = 3;

  void fields(auto& v) {
    v("first", first,
      "steps at the first look, each later one factor times further; two looks when not given",
      between(1, 1e9));
    v("factor", factor, "one in so many goes on from each look", between(2, 1000));
  }
};

struct Space {
  Parameters parameters;
  std::string method = "tpe";
  std::optional<std::string> sampler;
  std::optional<int64_t> trials;
  std::optional<int64_t> steps;
  int64_t seed = 0;
  ObjectiveFields objective;
  TpeFields tpe;
  RungFields rungs;

  void fields(auto& v) {
    v("parameters", parameters, "recipe keys, each with a list of choices or a range");
    v("method", method, "how values are proposed; asha also stops what lags behind",
      one_of({"tpe", "random", "grid", "asha"}));
    v("sampler", sampler, "what proposes values for asha; tpe when not given",
      one_of({"tpe", "random"}));
    v("trials", trials, "trials in all; 20 when not given, every point of a grid", between(1, 1e6));
    v("steps", steps, "optimiser steps of a whole trial; the recipe's length when not given",
      between(1, 1e9));
    v("seed", seed, "of the values proposed", at_least(0));
    v("objective", objective, "what counts as better");
    v("tpe", tpe, "the tree-structured Parzen estimator");
    v("rungs", rungs, "where asha looks");
  }

  bool halves() const { return method == "asha"; }
  bool minimises() const { return objective.goal == "min"; }
  bool better(double a, double b) const { return minimises() ? a < b : a > b; }
};

// Reads and checks the file; afterwards `trials` has a value.
Space load_space(const std::filesystem::path& file);

// What no single field can know. Throws ConfigError of one line that begins with `source`.
void check_space(Space& space, const std::string& source);

// Gives `steps` (the recipe's, where the space has none) and `rungs.first` (two rungs, where it is
// not given) their values, which asha needs and other methods may lack.
void settle_steps(Space& space, std::optional<int64_t> recipe_steps, const std::string& source);

std::string space_text(const Space& space);  // as YAML; reads back the same

}  // namespace hone::search
