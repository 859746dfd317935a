#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ckpt/atomic_file.h"
#include "ckpt/peft.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

int64_t steps_of(const Recipe& r, const data::SampleSet& train) {
  if (r.length.steps) return *r.length.steps;
  const double rows = data::rows_an_epoch(train, static_cast<uint64_t>(r.seed));
  const double steps =
      std::ceil(rows * r.length.epochs.value_or(1) / static_cast<double>(r.batch.sequences));
  return std::max<int64_t>(1, static_cast<int64_t>(steps));
}

// An id beyond the vocabulary would silently be another token.
void check_tokens(const data::SampleSet& set, const ModelShape& shape) {
  if (set.largest_id() >= shape.vocab)
    throw ConfigError("token {} of the data is outside the model's vocabulary of {}",
                      set.largest_id(), shape.vocab);
}

// What an earlier run left: it must not pass for the result of this one.
void remove_results(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder / "adapter", ignored);
  fs::remove(folder / "report.json", ignored);
  std::vector<fs::path> checkpoints;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with("checkpoint-"))
      checkpoints.push_back(entry.path());
  for (const fs::path& c : checkpoints) fs::remove_all(c, ignored);
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw FileError("cannot make the run's folder {}: {}", folder.string(), failed.message());
}

// "-nan" says no more than "nan".
double unsigned_nan(double v) { return std::isnan(v) ? std::abs(v) : v; }

// The mean of the last tenth, at least one.
double recent_mean(const std::vector<double>& losses) {
  const size_t n = std::max<size_t>(1, losses.size() / 10);
  double sum = 0;
  for (size_t i = losses.size() - n; i < losses.size(); ++i) sum += losses[i];
  return sum / static_cast<double>(n);
}

}  // namespace

nn::Tuning tuning_of(const AdapterRecipe& r) {
  return {.lora = nn::Lora{.rank = r.rank,
                           .alpha = r.alpha,
                           .rank_stabilised = r.variant == "rslora",
                           .dora = r.kind == "dora",
                           .dropout = r.dropout,
                           .targets = r.targets},
          .whole = {}};
}

Trainer::Trainer(engine::Model& model, const Recipe& recipe, data::SampleSet train,
                 std::optional<data::SampleSet> eval)
    : model_(model),
      recipe_(recipe),
      train_(std::move(train)),
      steps_(steps_of(recipe, train_)),
      micro_batches_(recipe.batch.sequences / recipe.batch.micro),
      batcher_(train_, static_cast<uint64_t>(recipe.seed), steps_ * micro_batches_),
      schedule_(schedule_of(recipe.optim, steps_)),
      guard_{.factor = recipe.guard.spike} {
  check_tokens(train_, model.files.shape());
  if (!eval) return;
  check_tokens(*eval, model.files.shape());
  evaluator_.emplace(model_, recipe_, std::move(*eval));
}

StepShape Trainer::shape() const {
  return {.micro_batches = micro_batches_,
          .sequences = train_.shape.batch,
          .seq_len = train_.shape.seq_len,
          .rows = batcher_.targets_padded()};
}

void Trainer::start_folder() {
  const fs::path folder = recipe_.save.dir;
  make_folder(folder);
  remove_results(folder);
  ckpt::write_atomically(folder / "recipe.yaml", recipe_text(recipe_));
  metrics_.open(folder / "metrics.jsonl", std::ios::trunc);
  if (!metrics_) throw FileError("cannot write {}", (folder / "metrics.jsonl").string());
}

Report Trainer::run(const Callbacks& callbacks) {
  start_folder();
  evaluate("before training", report_.val_loss_before, callbacks);
  TrainStep train_step(model_, recipe_, shape());
  while (step_ < steps_ && !report_.stopped) {
    take_step(train_step, callbacks);
    report_.stopped = callbacks.stop();
    if (recipe_.save.every > 0 && step_ % recipe_.save.every == 0) save_checkpoint();
    std::optional<double> loss;
    if (recipe_.eval.every > 0 && step_ % recipe_.eval.every == 0 && step_ < steps_)
      evaluate(fmt::format("after step {}", step_), loss, callbacks);
  }
  report_.steps = step_;
  report_.tokens_per_second = static_cast<double>(tokens_) / report_.train_seconds;
  report_.train_loss = recent_mean(losses_);
  report_.adapter_dir = fs::path(recipe_.save.dir) / "adapter";
  save_adapter(report_.adapter_dir);
  if (!report_.stopped) evaluate("after training", report_.val_loss_after, callbacks);
  report_.compile_seconds = train_step.program().compile_seconds();
  if (evaluator_) report_.compile_seconds += evaluator_->compile_seconds();
  return report_;
}

void Trainer::take_step(TrainStep& train_step, const Callbacks& callbacks) {
  const auto start = Clock::now();
  StepBatch batch;
  int64_t tokens = 0;
  for (int64_t i = 0; i < micro_batches_; ++i) {
    const data::Batch b = batcher_.next();
    append(batch, b);
    tokens += b.real_tokens;
  }
  const double lr = schedule_.at(step_);
  const StepResult r = train_step.run(batch, lr, step_ + 1, guard_.limit());
  const bool finite = std::isfinite(r.loss) && std::isfinite(r.grad_norm);
  if (!finite && recipe_.guard.not_finite == "stop") stop_not_finite(r, train_step);
  if (r.updated) guard_.see(r.loss);
  if (!r.updated)
    callbacks.say(fmt::format("step {} left out: the loss is {:.4g}, the gradient norm {:.4g}",
                              step_ + 1, unsigned_nan(r.loss), unsigned_nan(r.grad_norm)));
  ++step_;
  if (finite) losses_.push_back(r.loss);
  tokens_ += tokens;
  const double seconds = since(start);
  report_.train_seconds += seconds;
  const Progress p{step_,       steps_,    r.loss,    lr,
                   r.grad_norm, r.updated, r.metrics, static_cast<double>(tokens) / seconds};
  log(p, r.count);
  callbacks.on_step(p);
}

void Trainer::stop_not_finite(const StepResult& r, const TrainStep& train_step) const {
  std::string where;
  for (size_t i = 0; i < r.gradient_norms.size() && where.empty(); ++i)
    if (!std::isfinite(r.gradient_norms[i]))
      where = fmt::format(" (the first such gradient: {})", train_step.names()[i]);
  throw Error(
      "step {}: the loss is {} and the gradient norm {}{}; stopped, and nothing of this step is "
      "saved: lower optim.lr, look at the data, or set guard.not_finite=skip",
      step_ + 1, unsigned_nan(r.loss), unsigned_nan(r.grad_norm), where);
}

void Trainer::evaluate(std::string_view when, std::optional<double>& loss,
                       const Callbacks& callbacks) {
  if (!evaluator_) return;
  loss = evaluator_->run().loss;
  callbacks.say(fmt::format("validation loss {:.4f} {}", *loss, when));
}

void Trainer::log(const Progress& p, double count) {
  if (p.step % recipe_.log.every != 0 && p.step != 1 && p.step != p.steps) return;
  const data::Cursor cursor = batcher_.cursor();
  const double epoch =
      static_cast<double>(cursor.epoch) +
      static_cast<double>(cursor.index) / static_cast<double>(train_.samples.size());
  const nlohmann::ordered_json line = {{"step", p.step},
                                       {"loss", p.loss},
                                       {"grad_norm", p.grad_norm},
                                       {"learning_rate", p.lr},
                                       {"epoch", epoch},
                                       {"targets", count},
                                       {"tokens_per_second", p.tokens_per_second}};
  metrics_ << line.dump() << std::endl;
  if (!metrics_)
    throw FileError("cannot write {}: is the disk full?",
                    (fs::path(recipe_.save.dir) / "metrics.jsonl").string());
}

void Trainer::save_adapter(const fs::path& folder) const {
  const engine::Declarations declared(model_.files, model_.tuning);
  ckpt::write_peft(
      folder, engine::peft_of(*model_.tuning.lora, model_.trained, declared.params, recipe_.model));
}

void Trainer::save_checkpoint() const {
  const fs::path folder = recipe_.save.dir;
  save_adapter(folder / fmt::format("checkpoint-{}", step_));
  const int64_t oldest = step_ - recipe_.save.every * recipe_.save.keep;
  if (oldest > 0) fs::remove_all(folder / fmt::format("checkpoint-{}", oldest));
}

}  // namespace hone::train
