#include "train/recipe.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/find_above.h"
#include "base/nearest.h"
#include "base/quote.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;

// One value of the schema that this build cannot do. Building the feature deletes its row.
struct NotBuilt {
  const char* what;  // "adapter.kind: dora"
  const char* use;   // what to do instead
  bool (*asked)(const Recipe&);
};

bool has_several_devices(const Recipe& r) { return r.mesh.value && *r.mesh.value != MeshRecipe{}; }

const NotBuilt kNotBuilt[] = {
    {"device: tpu", "use cpu", [](auto& r) { return r.device == "tpu"; }},
    {"device: gpu", "use cpu", [](auto& r) { return r.device == "gpu"; }},
    {"compute: bf16", "use f32", [](auto& r) { return r.compute == "bf16"; }},
    {"mesh: more than one device", "use auto", has_several_devices},
    {"eval.samples: above 0", "use 0", [](auto& r) { return r.eval.samples > 0; }},
};

std::vector<std::string_view> views(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

void need(bool given, std::string_view problem) {
  if (!given) throw ConfigError("recipe: {}", problem);
}

}  // namespace

void check_recipe(const Recipe& r) {
  for (const NotBuilt& row : kNotBuilt)
    if (row.asked(r)) throw ConfigError("recipe: {} is not built yet; {}", row.what, row.use);
  need(!r.model.empty(), "model is missing; give one, as in model=smollm2-135m");
  need(!r.data.train.empty(), "data.train is empty; give a file, as in data.train=chats.jsonl");
  for (const auto* sources : {&r.data.train, &r.data.eval})
    for (const DataSource& source : *sources)
      need(!source.path.empty(), "data: an entry has no path");
  need(!r.adapter.targets.empty() || !r.adapter.parameters.empty(),
       "adapter.targets is empty; use all-linear");
  need(!r.save.dir.empty(), "save.dir is empty; give a folder");
  need(r.length.epochs || r.length.steps, "length: give epochs or steps");
  if (r.batch.sequences % r.batch.micro != 0)
    throw ConfigError("recipe: batch.sequences {} is not a multiple of batch.micro {}",
                      r.batch.sequences, r.batch.micro);
}

Recipe load_recipe(const std::string& name, std::span<const std::string> overrides) {
  Recipe recipe;
  read_fields(read_yaml(find_recipe(name)), recipe);
  return changed(std::move(recipe), overrides);
}

Recipe changed(Recipe recipe, std::span<const std::string> overrides) {
  for (const std::string& text : overrides) set_field(recipe, text);
  if (recipe.compute == "auto") recipe.compute = recipe.device == "cpu" ? "f32" : "bf16";
  // Unrolled on a CPU, where memory is plenty; but a quantised base is for its lack, and is widened
  // block by block.
  const bool quantised = recipe.base.store == "nf4" || recipe.base.store == "int8";
  if (recipe.remat == "auto") recipe.remat = quantised ? "block" : "none";
  check_recipe(recipe);
  return recipe;
}

std::string recipe_text(const Recipe& recipe) { return yaml_text(to_yaml(recipe)); }

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  const auto folder = find_above("recipes");
  if (!folder) return names;
  for (const auto& entry : fs::directory_iterator(*folder))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

fs::path find_recipe(const std::string& name) {
  if (name.contains('/') || name.ends_with(".yaml")) return name;
  if (const auto folder = find_above("recipes"))
    if (const fs::path file = *folder / (name + ".yaml"); fs::exists(file)) return file;
  const std::vector<std::string> names = recipe_names();
  throw ConfigError("no recipe {}{}; `hone recipe list` shows them, and a path ends with .yaml",
                    quote(name), did_you_mean(name, views(names)));
}

}  // namespace hone::train
