#include "cli/run_training.h"

#include <algorithm>
#include <cstdio>

#include "ckpt/atomic_file.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "train/examples.h"

namespace hone::cli {
namespace {

void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

data::SampleSet load_set(const std::vector<train::DataSource>& sources, const train::Recipe& recipe,
                         const engine::Language& language, const std::string& set) {
  const data::BatchShape shape{.batch = recipe.batch.micro, .seq_len = recipe.data.seq_len};
  data::SampleSet samples(train::load_samples(sources, recipe.data.loss_on.front(), language),
                          shape, set);
  int64_t tokens = 0;
  for (const data::Sample& s : samples.samples) tokens += static_cast<int64_t>(s.ids.size());
  std::string line = fmt::format("{}: {} examples, {} tokens", set, samples.counts.kept, tokens);
  if (samples.counts.too_long > 0)
    line += fmt::format("; dropped {} longer than seq_len {}", samples.counts.too_long,
                        recipe.data.seq_len);
  say(line);
  return samples;
}

}  // namespace

engine::Model open_for_training(const train::Recipe& recipe) {
  return engine::Model::open(recipe.model, train::tuning_of(recipe.adapter),
                             static_cast<uint64_t>(recipe.seed));
}

TrainingData load_training_data(const engine::Language& language, const train::Recipe& recipe) {
  TrainingData data{load_set(recipe.data.train, recipe, language, "training set"), std::nullopt};
  if (!recipe.data.eval.empty())
    data.eval = load_set(recipe.data.eval, recipe, language, "validation set");
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

nlohmann::ordered_json report_json(const train::Report& r) {
  nlohmann::ordered_json j = {{"steps", r.steps}, {"train_loss", r.train_loss}};
  if (r.val_loss_before) j["val_loss_before"] = *r.val_loss_before;
  if (r.val_loss_after) j["val_loss_after"] = *r.val_loss_after;
  j["tokens_per_second"] = r.tokens_per_second;
  j["train_seconds"] = r.train_seconds;
  j["compile_seconds"] = r.compile_seconds;
  j["adapter_dir"] = r.adapter_dir.string();
  return j;
}

void write_report(const train::Recipe& recipe, const nlohmann::ordered_json& report) {
  ckpt::write_atomically(std::filesystem::path(recipe.save.dir) / "report.json",
                         report.dump(2) + "\n");
}

}  // namespace hone::cli
