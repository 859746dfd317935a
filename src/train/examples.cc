#include "train/examples.h"

#include <algorithm>

#include "train/objective.h"

namespace hone::train {
namespace {

bool prefers(const DataSource& source) { return source.format == "preference"; }

bool holds_pairs(const std::vector<DataSource>& sources, const Recipe& recipe) {
  const bool pairs = std::ranges::any_of(sources, prefers);
  if (pairs && !std::ranges::all_of(sources, prefers))
    throw ConfigError("recipe: data of the format preference cannot be mixed with others");
  if (const bool wanted = objective_of(recipe.objective.kind).pairs; wanted != pairs)
    throw ConfigError("recipe: objective.kind {} {} data of the format preference",
                      recipe.objective.kind, wanted ? "needs" : "cannot use");
  return pairs;
}

data::TooLong too_long_of(const std::string& name) {
  if (name == "truncate") return data::TooLong::kTruncate;
  return name == "split" ? data::TooLong::kSplit : data::TooLong::kDrop;
}

std::vector<data::Source> open_sources(const std::vector<DataSource>& sources, const Recipe& recipe,
                                       const engine::Language& language,
                                       const data::TokeniseOptions& options) {
  const data::Tokenising tokenising{language.tokenizer, language.chat ? &*language.chat : nullptr,
                                    learn_of(recipe.data.loss_on)};
  std::vector<data::Source> opened;
  for (const DataSource& s : sources)
    opened.push_back({data::open_tokens({s.path, s.format}, tokenising, options), s.weight});
  return opened;
}

}  // namespace

text::Learn learn_of(const std::vector<std::string>& loss_on) {
  text::Learn learn;
  for (const std::string& scope : loss_on) {
    if (scope == "all")
      learn.all = true;
    else if (scope == "last-turn")
      learn.last_turn = true;
    else
      learn.roles.push_back(scope);
  }
  return learn;
}

TrainingData load_data(const Recipe& recipe, const engine::Language& language,
                       const data::TokeniseOptions& options) {
  const DataRecipe& r = recipe.data;
  if (r.loss_on.empty()) throw ConfigError("recipe: data.loss_on is empty; use assistant");
  if (!r.eval.empty() && r.eval_share > 0)
    throw ConfigError("recipe: give data.eval or data.eval_share, not both");
  const data::BatchShape shape{.batch = recipe.batch.micro, .seq_len = r.seq_len};
  data::SetOptions set{.too_long = too_long_of(r.too_long),
                       .packing = r.packing,
                       .pairs = holds_pairs(r.train, recipe),
                       .eval_share = r.eval_share};
  const auto sources = open_sources(r.train, recipe, language, options);
  TrainingData data{data::SampleSet(sources, shape, set, "training set"), std::nullopt};
  set.eval = true;
  if (r.eval_share > 0) data.eval.emplace(sources, shape, set, "validation set");
  if (r.eval.empty()) return data;
  if (holds_pairs(r.eval, recipe) != set.pairs)
    throw ConfigError("recipe: data.train and data.eval must be of one kind");
  set.eval_share = 0;
  data.eval.emplace(open_sources(r.eval, recipe, language, options), shape, set, "validation set");
  return data;
}

}  // namespace hone::train
