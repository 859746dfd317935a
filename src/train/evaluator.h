// The loss of a validation set, and of any set as the model is before the first step.
#pragma once

#include <functional>
#include <optional>

#include "data/batch.h"
#include "engine/model.h"
#include "train/reference.h"

namespace hone::train {

struct Evaluation {
  double loss = 0;  // the mean of the objective over its targets, or pairs
  std::vector<double> metrics;
};

class Evaluator {
 public:
  // Compiles at the first evaluation. `model` must outlive this.
  Evaluator(const engine::Model& model, const Recipe& recipe, data::SampleSet set);

  // Nothing when `stop` said so between two batches.
  std::optional<Evaluation> run(const std::function<bool()>& stop);
  double compile_seconds() const { return compile_seconds_; }

 private:
  const engine::Model& model_;
  Recipe recipe_;
  std::vector<data::Batch> batches_;
  StepShape shape_;
  std::optional<Reference> reference_;
  std::optional<EvalStep> step_;
  double compile_seconds_ = 0;
};

// Adds a batch as the next micro-batch, with what `reference` says of it where the shape has
// samples (zeros without one).
void append(StepBatch& to, const data::Batch& from, const StepShape& shape,
            const std::optional<Reference>& reference);

}  // namespace hone::train
