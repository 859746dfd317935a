// The model as it was before the first step, which preference objectives compare with.
#pragma once

#include "train/eval_step.h"

namespace hone::train {

class Reference {
 public:
  // Copies what `model` trains; the model must outlive this. `shape` is that of one micro-batch.
  Reference(const engine::Model& model, const Recipe& recipe, const StepShape& shape);

  // The log-probability of each sample's targets in one micro-batch: [samples].
  std::vector<float> of(StepBatch micro_batch) const;

  double compile_seconds() const { return step_.program().compile_seconds(); }

 private:
  StepShape shape_;
  engine::Buffers trained_;
  EvalStep step_;
};

}  // namespace hone::train
