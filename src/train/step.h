// The training step as one executable: forward, backward, accumulation over micro-batches,
// clipping, optimiser; what is trained and the optimiser's state are updated in place.
//
// The loss is the objective's sum over the global batch divided by its count, however the batch is
// split into micro-batches.
#pragma once

#include "engine/model.h"
#include "engine/program.h"
#include "train/objective.h"
#include "train/optimizer.h"
#include "train/step_batch.h"

namespace hone::train {

struct StepResult {
  double loss = 0;                     // before the update
  double grad_norm = 0;                // before clipping
  double count = 0;                    // targets, or pairs
  std::vector<double> metrics;         // as the objective lists them
  std::vector<double> gradient_norms;  // of each trained weight, in TrainStep::names()' order
  bool updated = true;                 // false: left out, everything is as it was
};

class TrainStep {
 public:
  // Trains what `model` declares as trained. `model` must outlive this.
  TrainStep(engine::Model& model, const Recipe& recipe, const StepShape& shape);

  // One update of the model and of the optimiser's state. `number` counts from 1. The update is
  // left out when the loss or a gradient is not finite, or the loss is above `limit`.
  StepResult run(const StepBatch& batch, double lr, int64_t number, double limit);

  const engine::Program& program() const { return program_; }
  const std::vector<std::string>& names() const { return names_; }  // of the trained weights

  // "m.NAME" and the like of the optimiser, and "ema.NAME", for checkpoints.
  engine::Buffers& state() { return state_; }

 private:
  struct Built;
  TrainStep(engine::Model& model, const Recipe& recipe, const StepShape& shape, Built built);
  static Built build(const engine::Model& model, const Recipe& recipe, const StepShape& shape);
  engine::Buffers inputs(const StepBatch& batch, double lr, int64_t number, double limit) const;

  engine::Model& model_;
  OptimRecipe optim_;
  StepShape shape_;
  uint64_t seed_;
  size_t metrics_;  // how many
  engine::Program program_;
  std::vector<std::string> names_;
  std::vector<std::string> replaced_;  // what the outputs after the numbers are
  engine::Buffers state_;
};

}  // namespace hone::train
