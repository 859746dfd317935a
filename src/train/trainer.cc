#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/stopwatch.h"
#include "ckpt/atomic_file.h"
#include "engine/save_model.h"
#include "train/averages.h"
#include "train/resume.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;

int64_t steps_of(const Recipe& r, double rows) {
  if (r.length.steps) return *r.length.steps;
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

// "-nan" says no more than "nan".
double unsigned_nan(double v) { return std::isnan(v) ? std::abs(v) : v; }

}  // namespace

nn::Tuning tuning_of(const AdapterRecipe& r) {
  if (r.kind == "none") return {.lora = {}, .whole = {"all"}};
  nn::Lora lora{.rank = r.rank,
                .alpha = r.alpha,
                .rank_stabilised = r.variant == "rslora",
                .dora = r.kind == "dora",
                .dropout = r.dropout,
                .targets = r.targets,
                .exclude = {},
                .parameters = r.parameters};
  for (const RankRecipe& o : r.ranks) lora.others.push_back({o.match, o.rank, o.alpha});
  return {.lora = lora, .whole = r.modules_to_save};
}

double recent_mean(const std::vector<double>& losses) {
  if (losses.empty()) return std::numeric_limits<double>::quiet_NaN();
  const size_t n = std::max<size_t>(1, losses.size() / 10);
  double sum = 0;
  for (size_t i = losses.size() - n; i < losses.size(); ++i) sum += losses[i];
  return sum / static_cast<double>(n);
}

Trainer::Trainer(engine::Model& model, const Recipe& recipe, data::SampleSet train,
                 std::optional<data::SampleSet> eval)
    : model_(model),
      recipe_(recipe),
      folder_(recipe),
      train_(std::move(train)),
      rows_an_epoch_(data::rows_an_epoch(train_, static_cast<uint64_t>(recipe.seed))),
      steps_(steps_of(recipe, rows_an_epoch_)),
      micro_batches_(recipe.batch.sequences / recipe.batch.micro),
      batcher_(train_, static_cast<uint64_t>(recipe.seed), steps_ * micro_batches_),
      schedule_(schedule_of(recipe.optim, steps_)),
      declared_(model.files, model.tuning),
      saver_(folder_, recipe.save) {
  state_.guard.factor = recipe.guard.spike;
  state_.recipe = recipe_text(recipe);
  state_.data = digest_of(train_);
  check_tokens(train_, model.files.shape());
  if (!eval && (recipe.save.best || recipe.eval.patience > 0))
    throw ConfigError("recipe: {} needs a validation set; give data.eval",
                      recipe.save.best ? "save.best" : "eval.patience");
  if (!eval) return;
  check_tokens(*eval, model.files.shape());
  evaluator_.emplace(model_, recipe_, std::move(*eval));
}

StepShape Trainer::shape() const {
  return {.micro_batches = micro_batches_,
          .sequences = train_.shape.batch,
          .seq_len = train_.shape.seq_len,
          .rows = batcher_.targets_padded(),
          .samples = train_.options.pairs ? train_.shape.batch : 0};
}

StepShape Trainer::micro_batch() const {
  StepShape one = shape();
  one.micro_batches = 1;
  return one;
}

Report Trainer::run(const Callbacks& callbacks) {
  const std::optional<fs::path> from = find_checkpoint(callbacks);
  start_folder(callbacks);
  if (objective_of(recipe_.objective.kind).reference)
    reference_.emplace(model_, recipe_, micro_batch());
  if (!from) evaluate_before(callbacks);
  compile();
  if (from) restore_arrays(*from, model_.device, model_.trained, train_step_->state());
  while (true) {
    evaluate_if_due(callbacks);
    report_.stopped = !is_over() && callbacks.stop();
    save_if_due(callbacks);
    if (is_over() || report_.stopped) break;
    take_step(callbacks);
  }
  finish(callbacks);
  return report_;
}

bool Trainer::is_over() const {
  return state_.step >= steps_ ||
         (recipe_.eval.patience > 0 && state_.worse >= recipe_.eval.patience);
}

std::optional<fs::path> Trainer::find_checkpoint(const Callbacks& callbacks) {
  std::optional<RunState> from = folder_.newest_whole(callbacks.say);
  if (!from) return std::nullopt;
  const fs::path path = folder_.checkpoint(from->step);
  for (const std::string& change : check_resume(*from, recipe_, path, state_.data))
    callbacks.say("changed since the checkpoint: " + change);
  if (from->step > steps_)
    throw ConfigError("{} is beyond the {} steps of this recipe; give a larger length.steps",
                      path.string(), steps_);
  from->guard.factor = state_.guard.factor;
  from->recipe = state_.recipe;
  state_ = std::move(*from);
  if (recipe_.save.best && !fs::exists(folder_.checkpoint(state_.best_step)))
    state_.best_loss.reset();  // the best so far was not kept
  batcher_.seek(state_.cursor);
  saver_.resumed_from(state_.step);
  callbacks.say(fmt::format("going on from {}, step {} of {}", path.string(), state_.step, steps_));
  return path;
}

void Trainer::compile() {
  const auto phase = goodput_.in(watch::Phase::kCompile);
  train_step_.emplace(model_, recipe_, shape());
}

void Trainer::start_folder(const Callbacks& callbacks) {
  const fs::path& folder = folder_.path();
  if (!is_over()) {  // what an earlier run left must not pass for the result of this one
    fs::remove_all(folder / "adapter");
    fs::remove(folder / "report.json");
  }
  ckpt::write_atomically(folder / "recipe.yaml", state_.recipe);
  folder_.cut_metrics(state_.step);
  watch_.emplace(folder,
                 watch::Options{.every = recipe_.log.every,
                                .tensorboard = recipe_.log.tensorboard,
                                .metrics_port = recipe_.log.metrics_port},
                 state_.step, &goodput_, callbacks.say);
}

void Trainer::take_step(const Callbacks& callbacks) {
  const Stopwatch clock;
  StepBatch batch;
  int64_t tokens = 0;
  for (int64_t i = 0; i < micro_batches_; ++i) {
    const auto phase = goodput_.in(watch::Phase::kData);
    const data::Batch b = batcher_.next();
    append(batch, b, shape(), reference_);
    tokens += b.real_tokens;
  }
  const double lr = schedule_.at(state_.step);
  const auto phase = goodput_.in(watch::Phase::kStep);
  const StepResult r = train_step_->run(batch, lr, state_.step + 1, state_.guard.limit());
  const bool finite = std::isfinite(r.loss) && std::isfinite(r.grad_norm);
  if (!finite && recipe_.guard.not_finite == "stop") stop_not_finite(r);
  if (r.updated) state_.guard.see(r.loss);
  if (!r.updated)
    callbacks.say(fmt::format("step {} left out: the loss is {:.4g}, the gradient norm {:.4g}",
                              state_.step + 1, unsigned_nan(r.loss), unsigned_nan(r.grad_norm)));
  ++state_.step;
  state_.cursor = batcher_.cursor();
  if (finite) state_.losses.push_back(r.loss);
  state_.tokens += tokens;
  const double seconds = clock.seconds();
  state_.train_seconds += seconds;
  const Progress p{state_.step, steps_,    r.loss,    lr,
                   r.grad_norm, r.updated, r.metrics, static_cast<double>(tokens) / seconds};
  log(p, tokens, r.count);
  callbacks.on_step(p);
}

void Trainer::stop_not_finite(const StepResult& r) const {
  std::string where;
  for (size_t i = 0; i < r.gradient_norms.size() && where.empty(); ++i)
    if (!std::isfinite(r.gradient_norms[i]))
      where = fmt::format(" (the first such gradient: {})", train_step_->names()[i]);
  throw Error(
      "step {}: the loss is {} and the gradient norm {}{}; stopped, and nothing of this step is "
      "saved: lower optim.lr, look at the data, or set guard.not_finite=skip",
      state_.step + 1, unsigned_nan(r.loss), unsigned_nan(r.grad_norm), where);
}

void Trainer::evaluate_before(const Callbacks& callbacks) {
  if (!evaluator_) return;
  const auto phase = goodput_.in(watch::Phase::kEvaluation);
  const std::optional<Evaluation> e = evaluator_->run(callbacks.stop);
  if (!e) return;
  log(*e);
  state_.val_loss_before = e->loss;
  callbacks.say(fmt::format("validation loss {:.4f} before training", e->loss));
}

void Trainer::evaluate_if_due(const Callbacks& callbacks) {
  const int64_t step = state_.step;
  const bool due = step >= steps_ || (recipe_.eval.every > 0 && step % recipe_.eval.every == 0);
  if (!evaluator_ || step == 0 || !due || state_.val_step == step) return;
  const auto phase = goodput_.in(watch::Phase::kEvaluation);
  const Averaged averaged(model_.trained, train_step_->state());
  const std::optional<Evaluation> e = evaluator_->run(callbacks.stop);
  if (!e) return;
  log(*e);
  state_.val_loss = e->loss;
  state_.val_step = step;
  const bool best = std::isfinite(e->loss) && (!state_.best_loss || e->loss < *state_.best_loss);
  state_.worse = best ? 0 : state_.worse + 1;
  if (best) {
    state_.best_loss = e->loss;
    state_.best_step = step;
  }
  callbacks.say(fmt::format("validation loss {:.4f} after step {}", e->loss, step));
}

void Trainer::log(const Progress& p, int64_t tokens, double count) {
  const data::Cursor cursor = batcher_.cursor();
  watch_->take(watch::Step{.step = p.step,
                           .steps = p.steps,
                           .loss = p.loss,
                           .grad_norm = p.grad_norm,
                           .learning_rate = p.lr,
                           .epoch = static_cast<double>(cursor.epoch) +
                                    static_cast<double>(cursor.index) / rows_an_epoch_,
                           .tokens = tokens,
                           .targets = std::llround(count),
                           .tokens_per_second = p.tokens_per_second,
                           .metrics = named(p.metrics)});
}

void Trainer::log(const Evaluation& e) {
  watch_->take(watch::Evaluation{.step = state_.step,
                                 .loss = e.loss,
                                 .perplexity = std::exp(e.loss),
                                 .metrics = named(e.metrics)});
}

watch::Metrics Trainer::named(const std::vector<double>& metrics) const {
  watch::Metrics result;
  const auto& names = objective_of(recipe_.objective.kind).metrics;
  for (size_t i = 0; i < metrics.size(); ++i) result.emplace_back(names[i], metrics[i]);
  return result;
}

// As it is to be used: the mean of the weights, where the recipe keeps one.
std::optional<ckpt::PeftAdapter> Trainer::adapter() {
  if (!model_.tuning.lora) return std::nullopt;
  const Averaged averaged(model_.trained, train_step_->state());
  return engine::peft_of(*model_.tuning.lora, model_.trained, declared_.params, recipe_.model,
                         model_.adapter_config);
}

void Trainer::save_if_due(const Callbacks& callbacks) {
  const auto phase = goodput_.in(watch::Phase::kCheckpoint);
  hear_of_save(callbacks, false);
  if (!saver_.is_due(state_, is_over() || report_.stopped)) return;
  const Stopwatch clock;
  hear_of_save(callbacks, true);
  saver_.save({state_, copy_to_host(model_.trained, train_step_->state()), adapter()});
  report_.save_seconds += clock.seconds();
}

std::optional<Saver::Failure> Trainer::failed_save(bool wait) {
  std::optional<Saver::Failure> failure = saver_.failure(wait);
  if (failure && failure->step == state_.best_step)
    state_.best_loss.reset();  // it cannot be gone back to
  return failure;
}

void Trainer::hear_of_save(const Callbacks& callbacks, bool wait) {
  if (const auto failure = failed_save(wait))
    callbacks.say(fmt::format("the checkpoint of step {} is not saved, and will be tried again: {}",
                              failure->step, failure->reason));
}

// The weights of the lowest validation loss.
void Trainer::take_best(const Callbacks& callbacks) {
  if (!state_.best_loss || state_.best_step == state_.step) return;
  const fs::path best = folder_.checkpoint(state_.best_step);
  read_state(best);  // whole, or an error
  restore_arrays(best, model_.device, model_.trained, train_step_->state());
  callbacks.say(fmt::format("the weights are those of step {}, validation loss {:.4f}",
                            state_.best_step, *state_.best_loss));
}

void Trainer::finish(const Callbacks& callbacks) {
  const std::optional<Saver::Failure> failure = failed_save(true);
  const bool best = recipe_.save.best && !report_.stopped;
  if (best) take_best(callbacks);
  report_.adapter_dir = folder_.path() / (model_.tuning.lora ? "adapter" : "model");
  if (const auto a = adapter(); a && state_.step > 0) ckpt::write_peft(report_.adapter_dir, *a);
  if (!model_.tuning.lora && state_.step > 0) {
    const Averaged averaged(model_.trained, train_step_->state());
    engine::save_model(model_, report_.adapter_dir);
  }
  if (failure)
    throw FileError("the checkpoint of step {} is not saved: {}", failure->step, failure->reason);
  swap_averages(model_.trained, train_step_->state());

  report_.goodput = goodput_.report();
  report_.steps = state_.step;
  report_.train_seconds = state_.train_seconds;
  report_.tokens_per_second = static_cast<double>(state_.tokens) / state_.train_seconds;
  report_.train_loss = recent_mean(state_.losses);
  report_.val_loss_before = state_.val_loss_before;
  if (best)
    report_.val_loss_after = state_.best_loss;
  else if (state_.val_step == state_.step && state_.step > 0)
    report_.val_loss_after = state_.val_loss;
  report_.best_step = state_.best_loss ? state_.best_step : 0;
  report_.compile_seconds = train_step_->program().compile_seconds();
  if (evaluator_) report_.compile_seconds += evaluator_->compile_seconds();
}

}  // namespace hone::train
