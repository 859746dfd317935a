// One training run: batches in, an adapter out, and a record of what happened in the run's folder.
//
//   recipe.yaml        the recipe as it was resolved
//   metrics.jsonl      one object a logged step
//   checkpoint-STEP/   the adapter every save.every steps, the newest save.keep of them
//   adapter/           the adapter at the end, a PEFT folder
//   report.json        written by the caller from the Report
#pragma once

#include <fstream>
#include <functional>
#include <optional>

#include "data/batcher.h"
#include "engine/model.h"
#include "train/evaluator.h"
#include "train/loss_guard.h"
#include "train/recipe.h"
#include "train/schedule.h"
#include "train/step.h"

namespace hone::train {

nn::Tuning tuning_of(const AdapterRecipe& recipe);

struct Progress {
  int64_t step = 0, steps = 0;  // done, of the run
  double loss = 0, lr = 0, grad_norm = 0;
  bool updated = true;           // false: the step was left out
  std::vector<double> metrics;   // as the objective lists them
  double tokens_per_second = 0;  // of the examples, padding not counted
};

struct Report {
  int64_t steps = 0;      // done; fewer than asked when the run was stopped
  bool stopped = false;   // by the caller
  double train_loss = 0;  // mean over the last tenth of the steps
  std::optional<double> val_loss_before, val_loss_after;
  // Of the steps alone: evaluations, saves and compilation are not in train_seconds.
  double tokens_per_second = 0, compile_seconds = 0, train_seconds = 0;
  std::filesystem::path adapter_dir;
};

struct Callbacks {
  std::function<void(const Progress&)> on_step;
  std::function<void(const std::string& line)> say;  // evaluations and the like
  std::function<bool()> stop;                        // asked after each step
};

class Trainer {
 public:
  // The model's adapter is trained in place. Throws ConfigError when a sample has a token that the
  // model has not.
  Trainer(engine::Model& model, const Recipe& recipe, data::SampleSet train,
          std::optional<data::SampleSet> eval);
  Trainer(const Trainer&) = delete;  // the batcher refers to train_
  Trainer& operator=(const Trainer&) = delete;

  // Throws Error when the loss or a gradient is not finite and guard.not_finite is "stop": the
  // update is left out and nothing is saved.
  Report run(const Callbacks& callbacks);

 private:
  void start_folder();
  void take_step(TrainStep& step, const Callbacks& callbacks);
  void evaluate(std::string_view when, std::optional<double>& loss, const Callbacks& callbacks);
  [[noreturn]] void stop_not_finite(const StepResult& r, const TrainStep& step) const;
  StepShape shape() const;
  void log(const Progress& p, double count);
  void save_adapter(const std::filesystem::path& folder) const;
  void save_checkpoint() const;

  engine::Model& model_;
  Recipe recipe_;
  data::SampleSet train_;
  int64_t steps_, micro_batches_;
  data::Batcher batcher_;
  std::optional<Evaluator> evaluator_;
  Schedule schedule_;
  LossGuard guard_;
  int64_t step_ = 0;            // done
  std::vector<double> losses_;  // of the steps done
  int64_t tokens_ = 0;          // of the examples in them
  Report report_;
  std::ofstream metrics_;
};

}  // namespace hone::train
