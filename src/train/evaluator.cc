#include "train/evaluator.h"

#include <algorithm>

namespace hone::train {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void append(StepBatch& to, const data::Batch& from, const StepShape& shape,
            const std::optional<Reference>& reference) {
  append(to.tokens, from.tokens);
  append(to.positions, from.positions);
  append(to.segments, from.segments);
  append(to.rows, from.rows);
  append(to.labels, from.labels);
  append(to.weights, from.weights);
  if (shape.samples == 0) return;
  append(to.samples, from.row_sample);
  if (!reference) {
    to.reference.resize(to.reference.size() + static_cast<size_t>(shape.samples), 0.0F);
    return;
  }
  StepBatch alone;
  append(alone, from, shape, std::nullopt);
  append(to.reference, reference->of(std::move(alone)));
}

Evaluator::Evaluator(const engine::Model& model, const Recipe& recipe, data::SampleSet set)
    : model_(model), recipe_(recipe), batches_(data::batches_once(set)) {
  shape_ = {.micro_batches = 1,
            .sequences = set.shape.batch,
            .seq_len = set.shape.seq_len,
            .rows = std::ssize(batches_.front().rows),
            .samples = set.options.pairs ? set.shape.batch : 0};
  if (objective_of(recipe.objective.kind).reference) reference_.emplace(model, recipe, shape_);
}

std::optional<Evaluation> Evaluator::run(const std::function<bool()>& stop) {
  if (!step_) {
    step_.emplace(model_, recipe_, shape_);
    compile_seconds_ += step_->program().compile_seconds();
  }
  EvalResult total;
  for (const data::Batch& b : batches_) {
    if (stop()) return std::nullopt;
    StepBatch batch;
    append(batch, b, shape_, reference_);
    const EvalResult r = step_->run(batch);
    total.loss += r.loss;
    total.count += r.count;
    total.metrics.resize(r.metrics.size());
    for (size_t i = 0; i < r.metrics.size(); ++i) total.metrics[i] += r.metrics[i];
  }
  const double count = std::max(total.count, 1.0);
  Evaluation e{total.loss / count, {}};
  for (double m : total.metrics) e.metrics.push_back(m / count);
  return e;
}

}  // namespace hone::train
