// hone train: a recipe in, an adapter out.
#include <cstdio>

#include "base/error.h"
#include "cli/command.h"
#include "cli/run_training.h"

namespace hone::cli {
namespace {

struct Options {
  std::string recipe;
  std::vector<std::string> overrides;

  void fields(auto& v) {
    v.argument("recipe", recipe, "a name of recipes/ or a .yaml file");
    v.argument("key=value", overrides, "changes to the recipe");
  }
};

int run(const Options& o) {
  const train::Recipe recipe = train::load_recipe(o.recipe, o.overrides);
  static_cast<void>(train::RunFolder(recipe));  // says at once when it is not to be had
  const engine::ModelFiles files(engine::find_model(recipe.model));
  TrainingData data = load_training_data(engine::Language::of(files), recipe);
  engine::Model model = open_for_training(recipe);
  const train::Report report = run_training(model, std::move(data), recipe);
  write_report(recipe, report_json(report));
  if (report.stopped) return end_stopped(report);
  std::string line = fmt::format("{} steps, training loss {:.4f}", report.steps, report.train_loss);
  if (report.val_loss_after)
    line += fmt::format(", validation loss {:.4f} (before: {:.4f})", *report.val_loss_after,
                        *report.val_loss_before);
  std::printf("%s\nadapter: %s\n", line.c_str(), report.adapter_dir.c_str());
  return 0;
}

}  // namespace

extern const Command kTrain =
    command<run>("train", "fine-tune a model by a recipe",
                 {"hone train smollm2_135m_lora_cpu data.train=chats.jsonl save.dir=runs/chats",
                  "hone train recipes/smollm2_135m_lora_cpu.yaml length.steps=20",
                  "hone train smollm2_135m_lora_cpu save.dir=runs/chats resume=auto"});

}  // namespace hone::cli
