// The loss of a batch without an update: validation, and the reference of preference objectives.
#pragma once

#include "engine/model.h"
#include "engine/program.h"
#include "train/objective.h"
#include "train/step_batch.h"

namespace hone::train {

struct EvalResult {
  double loss = 0, count = 0;      // sums over the batch
  std::vector<double> metrics;     // sums, as the objective lists them
  std::vector<float> sample_sums;  // the log-probability of each sample's targets; may be empty
};

class EvalStep {
 public:
  // `shape` has one micro-batch. The model must outlive this.
  EvalStep(const engine::Model& model, const Recipe& recipe, const StepShape& shape);
  EvalResult run(const StepBatch& batch) const { return run(batch, model_.trained); }
  // With these for what the model trains, by name.
  EvalResult run(const StepBatch& batch, const engine::Buffers& trained) const;

  const engine::Program& program() const { return program_; }

 private:
  const engine::Model& model_;
  StepShape shape_;
  size_t metrics_;
  engine::Program program_;
};

}  // namespace hone::train
