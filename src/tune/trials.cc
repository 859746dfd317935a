#include "tune/trials.h"

#include <algorithm>
#include <cmath>

#include "search/halving.h"
#include "train/evaluator.h"
#include "train/objective.h"

namespace hone::tune {
namespace {

using Metrics = std::map<std::string, double>;

// What a trial reports, at any step.
class Meter {
 public:
  Meter(const engine::Model& model, const train::Recipe& recipe,
        const std::optional<data::SampleSet>& eval)
      : names_(train::objective_of(recipe.objective.kind).metrics) {
    if (eval) evaluator_.emplace(model, recipe, *eval);
  }

  void see(const train::Progress& p) {
    if (std::isfinite(p.loss)) losses_.push_back(p.loss);
    speed_ += p.tokens_per_second;
    ++steps_;
  }

  // Nothing when `stop` said so during the evaluation.
  std::optional<Metrics> now(const std::function<bool()>& stop) {
    Metrics m = {{"train_loss", train::recent_mean(losses_)},
                 {"tokens_per_second", speed_ / static_cast<double>(steps_)}};
    if (!evaluator_) return m;
    const std::optional<train::Evaluation> e = evaluator_->run(stop);
    if (!e) return std::nullopt;
    m["val_loss"] = e->loss;
    for (size_t i = 0; i < names_.size() && i < e->metrics.size(); ++i)
      m[fmt::format("val_{}", names_[i])] = e->metrics[i];
    return m;
  }

 private:
  std::vector<std::string_view> names_;
  std::optional<train::Evaluator> evaluator_;
  std::vector<double> losses_;
  double speed_ = 0;
  int64_t steps_ = 0;
};

}  // namespace

std::filesystem::path trial_folder(const RecipeSpace& space, int64_t id) {
  return std::filesystem::path(space.recipe().save.dir) / fmt::format("trial-{:04}", id);
}

train::Recipe trial_recipe(const RecipeSpace& space, const search::Trial& trial) {
  train::Recipe r = space.with(trial.numbers);
  r.save.dir = trial_folder(space, trial.id).string();
  r.save.every = 0;
  r.save.best = false;
  r.eval = {.every = 0, .samples = 0, .patience = 0};
  r.resume = "never";
  return r;
}

const train::TrainingData& Trials::data_for(const train::Recipe& r) {
  const bool same = data_ && r.model == loaded_.model && r.data == loaded_.data &&
                    r.batch == loaded_.batch && r.objective.kind == loaded_.objective.kind;
  if (!same) data_ = host_.load(r);
  loaded_ = r;
  return *data_;
}

engine::Model& Trials::model_for(const train::Recipe& r) {
  const bool same = model_ && r.model == opened_.model && r.base == opened_.base &&
                    r.adapter.kind == opened_.adapter.kind &&
                    r.adapter.start == opened_.adapter.start &&
                    r.adapter.modules_to_save == opened_.adapter.modules_to_save &&
                    r.device == opened_.device && r.mesh == opened_.mesh;
  if (same && r.adapter.start.empty() && r.adapter.kind != "none") {
    model_->renew(train::tuning_of(r.adapter), static_cast<uint64_t>(r.seed));
  } else {
    model_.reset();  // two would need twice the memory
    model_.emplace(host_.open(r));
  }
  opened_ = r;
  return *model_;
}

search::Outcome Trials::run(const search::Trial& trial, const search::Report& report) {
  const train::Recipe recipe = trial_recipe(space_, trial);
  std::filesystem::remove_all(recipe.save.dir);  // of this trial when it was cut
  const search::Space& space = space_.space();
  const train::TrainingData& data = data_for(recipe);
  engine::Model& model = model_for(recipe);
  // The trainer is given no validation set: it would measure before training as well.
  train::Trainer trainer(model, recipe, data.train, std::nullopt);
  Meter meter(model, recipe, data.eval);
  const std::vector<int64_t> rungs = search::rungs_of(space);
  bool cut = false;
  search::Outcome outcome;
  const auto on_step = [&](const train::Progress& p) {
    host_.on_step(p);
    meter.see(p);
    const bool rung = std::ranges::find(rungs, p.step) != rungs.end();
    if (!rung && p.step != p.steps) return;
    const std::optional<Metrics> metrics = meter.now(host_.interrupted);
    if (!metrics) return;
    outcome.metrics = *metrics;
    const double value = outcome.metrics.at(space.objective.metric);
    if (rung) cut = !report({p.step, value});
    if (p.step == p.steps) outcome.value = value;
  };
  const train::Report result = trainer.run(
      {.on_step = on_step, .say = host_.say, .stop = [&] { return cut || host_.interrupted(); }});
  outcome.steps = result.steps;
  outcome.interrupted = host_.interrupted();
  return outcome;
}

}  // namespace hone::tune
