#include "train/open_model.h"

#include <algorithm>
#include <set>

#include "train/trainer.h"

namespace hone::train {
namespace {

template <class T>
std::set<T> as_set(const std::vector<T>& list) {
  return {list.begin(), list.end()};
}

// What the recipe would say to make the folder's adapter.
AdapterRecipe recipe_of(const ckpt::PeftAdapter& a) {
  AdapterRecipe r;
  r.kind = a.dora ? "dora" : "lora";
  r.rank = a.rank;
  r.alpha = a.alpha;
  r.variant = a.rank_stabilised ? "rslora" : "plain";
  r.targets = a.targets.names;
  r.parameters = a.parameters;
  r.modules_to_save = a.modules_to_save;
  for (const auto& [match, rank] : a.rank_pattern) {
    const auto alpha = a.alpha_pattern.find(match);
    r.ranks.push_back({match, rank, alpha == a.alpha_pattern.end() ? a.alpha : alpha->second});
  }
  return r;
}

void check_agrees(const AdapterRecipe& asked, const ckpt::PeftAdapter& adapter) {
  const AdapterRecipe usual, folder = recipe_of(adapter);
  auto agree = [&](const char* key, bool is_usual, bool same) {
    if (!is_usual && !same)
      throw ConfigError(
          "recipe: adapter.{} is not that of {}, which adapter.start goes on from; "
          "leave it out",
          key, adapter.source);
  };
  agree("kind", asked.kind == usual.kind, asked.kind == folder.kind);
  agree("rank", asked.rank == usual.rank, asked.rank == folder.rank);
  agree("alpha", asked.alpha == usual.alpha, asked.alpha == folder.alpha);
  const bool free = asked.variant == "loraplus" && !adapter.rank_stabilised;  // how, not what
  agree("variant", asked.variant == usual.variant, free || asked.variant == folder.variant);
  agree("targets", asked.targets == usual.targets, as_set(asked.targets) == as_set(folder.targets));
  agree("parameters", asked.parameters.empty(),
        as_set(asked.parameters) == as_set(folder.parameters));
  agree("modules_to_save", asked.modules_to_save.empty(),
        as_set(asked.modules_to_save) == as_set(folder.modules_to_save));
  agree("ranks", asked.ranks.empty(), std::ranges::is_permutation(asked.ranks, folder.ranks));
}

}  // namespace

engine::Model open_model(const Recipe& r) {
  if (r.adapter.start.empty())
    return engine::Model::open(r.model, tuning_of(r.adapter), static_cast<uint64_t>(r.seed),
                               r.base.store);
  check_agrees(r.adapter, ckpt::read_peft(r.adapter.start));
  engine::Model model = engine::Model::open(r.model, r.adapter.start, r.base.store);
  model.tuning.lora->dropout = r.adapter.dropout;
  return model;
}

}  // namespace hone::train
