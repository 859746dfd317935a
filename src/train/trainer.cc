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
  const double samples = static_cast<double>(train.samples.size()) * r.length.epochs.value_or(1);
  const double steps = std::ceil(samples / static_cast<double>(r.batch.sequences));
  return std::max<int64_t>(1, static_cast<int64_t>(steps));
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append(StepBatch& to, const data::Batch& from) {
  append(to.tokens, from.tokens);
  append(to.positions, from.positions);
  append(to.segments, from.segments);
  append(to.rows, from.rows);
  append(to.labels, from.labels);
  append(to.weights, from.weights);
}

// An id beyond the vocabulary would silently be another token.
void check_tokens(const data::SampleSet& set, const ModelShape& shape) {
  for (const data::Sample& s : set.samples)
    for (int32_t id : s.ids)
      if (id < 0 || id >= shape.vocab)
        throw ConfigError("token {} of the data is outside the model's vocabulary of {}", id,
                          shape.vocab);
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

nn::Lora lora_of(const AdapterRecipe& r) {
  return {.rank = r.rank,
          .scale = r.alpha / static_cast<double>(r.rank),
          .dropout = r.dropout,
          .targets = r.targets};
}

Trainer::Trainer(engine::Model& model, const Recipe& recipe, data::SampleSet train,
                 std::optional<data::SampleSet> eval)
    : model_(model),
      recipe_(recipe),
      train_(std::move(train)),
      eval_(std::move(eval)),
      steps_(steps_of(recipe, train_)),
      micro_batches_(recipe.batch.sequences / recipe.batch.micro),
      batcher_(train_, static_cast<uint64_t>(recipe.seed), steps_ * micro_batches_) {
  check_tokens(train_, model.files.shape());
  if (!eval_) return;
  check_tokens(*eval_, model.files.shape());
  eval_batches_ = data::batches_once(*eval_);
}

StepShape Trainer::shape() const {
  return {.micro_batches = micro_batches_,
          .sequences = train_.shape.batch,
          .seq_len = train_.shape.seq_len,
          .rows = batcher_.targets_padded(),
          .remat = recipe_.remat == "block" ? Remat::kBlock : Remat::kNone,
          .dropout_seed = static_cast<uint64_t>(recipe_.seed)};
}

std::optional<double> Trainer::validation_loss() {
  if (!eval_) return std::nullopt;
  if (!eval_step_) {
    const StepShape shape{.micro_batches = 1,
                          .sequences = eval_->shape.batch,
                          .seq_len = eval_->shape.seq_len,
                          .rows = static_cast<int64_t>(eval_batches_.front().rows.size())};
    eval_step_.emplace(model_.device, model_.files.family(), model_.files.config(), *model_.lora,
                       shape);
    compile_seconds_ += eval_step_->program().compile_seconds();
  }
  double sum = 0;
  int64_t targets = 0;
  for (const data::Batch& b : eval_batches_) {
    StepBatch batch;
    append(batch, b);
    const auto [loss, n] = eval_step_->run(model_.weights, model_.adapter, batch);
    sum += loss;
    targets += n;
  }
  return sum / static_cast<double>(targets);
}

StepBatch Trainer::next_batch(int64_t& real_tokens) {
  StepBatch step;
  for (int64_t i = 0; i < micro_batches_; ++i) {
    const data::Batch b = batcher_.next();
    append(step, b);
    real_tokens += b.real_tokens;
  }
  return step;
}

Report Trainer::run(const Callbacks& callbacks) {
  const fs::path folder = recipe_.save.dir;
  make_folder(folder);
  remove_results(folder);
  ckpt::write_atomically(folder / "recipe.yaml", recipe_text(recipe_));
  metrics_.open(folder / "metrics.jsonl", std::ios::trunc);
  if (!metrics_) throw FileError("cannot write {}", (folder / "metrics.jsonl").string());

  Report report;
  report.val_loss_before = validation_loss();
  if (report.val_loss_before)
    callbacks.say(fmt::format("validation loss {:.4f} before training", *report.val_loss_before));
  const AdamW adamw{.beta1 = recipe_.optim.betas[0],
                    .beta2 = recipe_.optim.betas[1],
                    .eps = recipe_.optim.eps,
                    .weight_decay = recipe_.optim.weight_decay};
  TrainStep train_step(model_.device, model_.files.family(), model_.files.config(), *model_.lora,
                       shape(), adamw, recipe_.optim.clip);
  compile_seconds_ += train_step.program().compile_seconds();
  const Schedule schedule{
      .kind = recipe_.optim.schedule,
      .peak = recipe_.optim.lr,
      .warmup = static_cast<int64_t>(std::ceil(recipe_.optim.warmup * static_cast<double>(steps_))),
      .steps = steps_};

  std::vector<double> losses;
  int64_t all_tokens = 0;
  for (int64_t i = 0; i < steps_ && !report.stopped; ++i) {
    const auto step_start = Clock::now();
    int64_t tokens = 0;
    const StepBatch batch = next_batch(tokens);
    const double lr = schedule.at(i);
    const StepResult r = train_step.run(model_.weights, model_.adapter, batch, lr, i + 1);
    if (!std::isfinite(r.loss) || !std::isfinite(r.grad_norm))
      throw Error(
          "step {}: the loss is {} and the gradient norm {}; stopped, and the adapter is not "
          "saved: "
          "lower optim.lr or look at the data",
          i + 1, unsigned_nan(r.loss), unsigned_nan(r.grad_norm));
    losses.push_back(r.loss);
    all_tokens += tokens;
    const Progress p{i + 1, steps_,      r.loss,
                     lr,    r.grad_norm, static_cast<double>(tokens) / since(step_start)};
    log(p, r.targets);
    callbacks.on_step(p);
    const int64_t done = i + 1;
    report.stopped = callbacks.stop();
    if (recipe_.save.every > 0 && done % recipe_.save.every == 0) save_checkpoint(done);
    if (recipe_.eval.every > 0 && done % recipe_.eval.every == 0 && done < steps_)
      if (const auto loss = validation_loss())
        callbacks.say(fmt::format("validation loss {:.4f} after step {}", *loss, done));
  }

  report.steps = static_cast<int64_t>(losses.size());
  report.tokens_per_second = static_cast<double>(all_tokens) / report.train_seconds;
  report.train_loss = recent_mean(losses);
  report.adapter_dir = folder / "adapter";
  save_adapter(report.adapter_dir);
  if (!report.stopped) report.val_loss_after = validation_loss();
  report.compile_seconds = compile_seconds_;
  return report;
}

void Trainer::log(const Progress& p, int64_t targets) {
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
                                       {"targets", targets},
                                       {"tokens_per_second", p.tokens_per_second}};
  metrics_ << line.dump() << std::endl;
  if (!metrics_)
    throw FileError("cannot write {}: is the disk full?",
                    (fs::path(recipe_.save.dir) / "metrics.jsonl").string());
}

void Trainer::save_adapter(const fs::path& folder) const {
  const engine::Declarations declared(model_.files, model_.lora);
  ckpt::write_peft(folder, {.rank = recipe_.adapter.rank,
                            .alpha = recipe_.adapter.alpha,
                            .dropout = recipe_.adapter.dropout,
                            .rank_stabilised = false,
                            .targets = engine::target_modules(declared.params),
                            .base_model = recipe_.model,
                            .source = {},
                            .tensors = engine::adapter_tensors(model_.adapter, declared.params)});
}

void Trainer::save_checkpoint(int64_t step) const {
  const fs::path folder = recipe_.save.dir;
  save_adapter(folder / fmt::format("checkpoint-{}", step));
  const int64_t oldest = step - recipe_.save.every * recipe_.save.keep;
  if (oldest > 0) fs::remove_all(folder / fmt::format("checkpoint-{}", oldest));
}

}  // namespace hone::train
