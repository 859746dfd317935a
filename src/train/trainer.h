// One training run: batches in, an adapter out, and a record of what happened in the run's folder.
//
//   recipe.yaml        the recipe as it was resolved
//   metrics.jsonl      one object a logged step
//   checkpoint-STEP/   checkpoint.h, every save.every steps and at the end: the newest save.keep
//                      of them, and the best where save.best asks for it
//   adapter/           the adapter at the end, a PEFT folder; the best step's with save.best
//   report.json        written by the caller from the Report
#pragma once

#include <functional>
#include <optional>

#include "data/loader.h"
#include "engine/model.h"
#include "train/checkpoint.h"
#include "train/evaluator.h"
#include "train/recipe.h"
#include "train/saver.h"
#include "train/schedule.h"
#include "train/step.h"
#include "watch/watch.h"

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
  double save_seconds = 0;  // that steps waited for checkpoints
  watch::GoodputReport goodput;
  int64_t best_step = 0;  // of the lowest validation loss; 0 when none was measured
  std::filesystem::path adapter_dir;
};

// The mean of the last tenth, at least one; NaN where there is none.
double recent_mean(const std::vector<double>& losses);

struct Callbacks {
  std::function<void(const Progress&)> on_step;
  std::function<void(const std::string& line)> say;  // evaluations and the like
  // Asked before each step and between the batches of an evaluation.
  std::function<bool()> stop;
};

class Trainer {
 public:
  // The model's adapter is trained in place. Throws ConfigError when a sample has a token that the
  // model has not, and what RunFolder throws.
  Trainer(engine::Model& model, const Recipe& recipe, data::SampleSet train,
          std::optional<data::SampleSet> eval);
  Trainer(const Trainer&) = delete;  // the batcher refers to train_
  Trainer& operator=(const Trainer&) = delete;

  // With resume: auto it goes on bit for bit from the newest checkpoint. When callbacks.stop() says
  // so, the step is finished and saved: what follows is one save, at most.
  // Throws Error when the loss or a gradient is not finite and guard.not_finite is "stop": the
  // update is left out and nothing is saved. A checkpoint that cannot be written is said and tried
  // again; FileError when the last one cannot.
  Report run(const Callbacks& callbacks);

 private:
  std::optional<std::filesystem::path> find_checkpoint(const Callbacks& callbacks);
  void start_folder(const Callbacks& callbacks);
  bool is_over() const;
  void take_step(const Callbacks& callbacks);
  [[noreturn]] void stop_not_finite(const StepResult& r) const;
  StepShape shape() const;
  StepShape micro_batch() const;
  void compile();
  void log(const Progress& p, int64_t tokens, double count);
  void log(const Evaluation& e);
  watch::Metrics named(const std::vector<double>& metrics) const;
  void evaluate_before(const Callbacks& callbacks);
  void evaluate_if_due(const Callbacks& callbacks);
  void save_if_due(const Callbacks& callbacks);
  std::optional<Saver::Failure> failed_save(bool wait);
  void hear_of_save(const Callbacks& callbacks, bool wait);
  std::optional<ckpt::PeftAdapter> adapter();
  void take_best(const Callbacks& callbacks);
  void finish(const Callbacks& callbacks);

  engine::Model& model_;
  Recipe recipe_;
  RunFolder folder_;
  data::SampleSet train_;
  double rows_an_epoch_;
  int64_t steps_, micro_batches_;
  data::Loader batcher_;
  std::optional<Evaluator> evaluator_;
  Schedule schedule_;
  engine::Declarations declared_;
  std::optional<TrainStep> train_step_;
  RunState state_;
  Saver saver_;
  Report report_;
  std::optional<Reference> reference_;
  watch::Goodput goodput_;
  std::optional<watch::Watch> watch_;
};

}  // namespace hone::train
