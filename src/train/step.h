// The training step as one executable: forward, backward, accumulation over micro-batches,
// clipping, optimiser; the adapter and its optimiser state are updated in place.
//
// The loss is the sum of the targets' losses over the global batch divided by the number of
// targets, however the batch is split into micro-batches.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/program.h"
#include "engine/weights.h"
#include "ops/ops.h"
#include "train/adamw.h"

namespace hone::train {

struct StepShape {
  int64_t micro_batches = 1;  // accumulated within one step
  int64_t sequences = 1;      // of each micro-batch
  int64_t seq_len = 1;
  int64_t rows = 1;  // target rows of each micro-batch, padded with weight 0
  Remat remat = Remat::kNone;
  uint64_t dropout_seed = 0;
};

// Micro-batches one after the other, row-major: tokens, positions and segments are
// [micro_batches, sequences, seq_len]; rows (index into sequences * seq_len), labels and weights
// are [micro_batches, rows].
struct StepBatch {
  std::vector<int32_t> tokens, positions, segments, rows, labels;
  std::vector<float> weights;
};

struct StepResult {
  double loss = 0;       // before the update
  double grad_norm = 0;  // before clipping; not finite means that the update was left out
  int64_t targets = 0;
};

class TrainStep {
 public:
  TrainStep(const engine::Device& device, const Family& family, const nlohmann::json& config,
            const nn::Lora& lora, const StepShape& shape, const AdamW& optimizer, double clip);

  // One update of `adapter` (by weight name) and of the optimiser state kept here. `number` counts
  // from 1, for the optimiser's bias correction.
  StepResult run(const engine::Buffers& weights, engine::Buffers& adapter, const StepBatch& batch,
                 double lr, int64_t number);

  const engine::Program& program() const { return program_; }

 private:
  struct Built;
  TrainStep(const engine::Device& device, const StepShape& shape, const AdamW& optimizer,
            Built built);
  static Built build(const engine::Device& device, const Family& family,
                     const nlohmann::json& config, const nn::Lora& lora, const StepShape& shape,
                     const AdamW& optimizer, double clip);

  const engine::Device& device_;
  StepShape shape_;
  AdamW optimizer_;
  engine::Program program_;
  std::vector<std::string> names_;  // the adapter's tensors, in the order of the program's outputs
  engine::Buffers state_;           // "m.NAME" and "v.NAME"
};

// The loss of a batch without an update, for validation.
class EvalStep {
 public:
  EvalStep(const engine::Device& device, const Family& family, const nlohmann::json& config,
           const nn::Lora& lora, const StepShape& shape);  // one micro-batch

  // Sum of the targets' losses, and their number.
  std::pair<double, int64_t> run(const engine::Buffers& weights, const engine::Buffers& adapter,
                                 const StepBatch& batch) const;

  const engine::Program& program() const { return program_; }

 private:
  const engine::Device& device_;
  StepShape shape_;
  engine::Program program_;
};

}  // namespace hone::train
