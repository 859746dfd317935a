#include "cli/run_training.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "ckpt/atomic_file.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "data/summary.h"
#include "train/open_model.h"

namespace hone::cli {
namespace {

void describe(const data::SampleSet& set, std::string_view name) {
  say(fmt::format("{}: {}", name, data::summary(set)));
  for (const std::string& line : data::warnings(set)) say(fmt::format("{}: {}", name, line));
}

}  // namespace

engine::Model open_for_training(const train::Recipe& recipe) {
  engine::Model model = train::open_model(recipe);
  for (const std::string& line : model.warnings) say(fmt::format("warning: {}", line));
  return model;
}

TrainingData load_training_data(const engine::Language& language, const train::Recipe& recipe) {
  std::optional<Progress> bar;  // in MB, for what is not in the cache
  const auto progress = [&](int64_t read, int64_t all) {
    if (!bar) bar.emplace(std::max<int64_t>(1, all >> 20));
    bar->update(read >> 20, {{"reading", "data"}});
  };
  TrainingData data = train::load_data(recipe, language, {.progress = progress});
  if (bar) bar->finish();
  describe(data.train, "training set");
  if (data.eval) describe(*data.eval, "validation set");
  return data;
}

train::Report run_training(engine::Model& model, TrainingData data, const train::Recipe& recipe) {
  train::Trainer trainer(model, recipe, std::move(data.train), std::move(data.eval));

  const InterruptGuard guard;
  std::optional<Progress> bar;  // made at the first step, so that its clock starts there
  const train::Report report = trainer.run({
      .on_step =
          [&](const train::Progress& p) {
            if (!bar) bar.emplace(p.steps);
            bar->update(p.step, {{"loss", fmt::format("{:.3f}", p.loss)},
                                 {"lr", fmt::format("{:.1e}", p.lr)},
                                 {"tok/s", fmt::format("{:.0f}", p.tokens_per_second)}});
          },
      .say = [&](const std::string& line) { bar ? bar->say(line) : say(line); },
      .stop = interrupted,
  });
  if (bar) bar->finish();
  return report;
}

int end_stopped(const train::Report& report) {
  const std::string line = fmt::format(
      "stopped after step {}; the same command with resume=auto goes on from there", report.steps);
  if (interrupted_by() != SIGTERM) throw Interrupted("{}", line);
  say(line);
  return 0;
}

nlohmann::ordered_json report_json(const train::Report& r) {
  nlohmann::ordered_json j = {{"steps", r.steps}, {"train_loss", r.train_loss}};
  if (r.val_loss_before) j["val_loss_before"] = *r.val_loss_before;
  if (r.val_loss_after) j["val_loss_after"] = *r.val_loss_after;
  j["tokens_per_second"] = r.tokens_per_second;
  j["train_seconds"] = r.train_seconds;
  j["compile_seconds"] = r.compile_seconds;
  j["goodput"] = r.goodput.json();
  j["adapter_dir"] = r.adapter_dir.string();
  return j;
}

void write_report(const train::Recipe& recipe, const nlohmann::ordered_json& report) {
  ckpt::write_atomically(std::filesystem::path(recipe.save.dir) / "report.json",
                         report.dump(2) + "\n");
}

}  // namespace hone::cli
