// A step's batch, on the host and as the parameters of a graph.
#pragma once

#include <vector>

#include "engine/weights.h"

namespace hone::train {

struct StepShape {
  int64_t micro_batches = 1;  // accumulated within one step
  int64_t sequences = 1;      // rows of each micro-batch
  int64_t seq_len = 1;
  int64_t rows = 1;     // targets of each micro-batch, padded with weight 0
  int64_t samples = 0;  // of each micro-batch, for objectives that compare them; 0: none do
};

// Micro-batches one after the other, row-major: tokens, positions and segments are
// [micro_batches, sequences, seq_len]; rows (index into sequences * seq_len), labels, weights and
// samples are [micro_batches, rows]; reference is [micro_batches, samples].
struct StepBatch {
  std::vector<int32_t> tokens, positions, segments, rows, labels, samples;
  std::vector<float> weights, reference;
};

// The same as parameters; samples and reference only where the shape has samples.
struct BatchInputs {
  Value tokens, positions, segments, rows, labels, weights, samples, reference;

  BatchInputs(Graph& g, const StepShape& shape);
  Values all() const;                        // those there are
  static BatchInputs of(const Values& all);  // the inverse, for parts of each
  BatchInputs first() const;                 // micro-batch 0, without its axis

 private:
  BatchInputs() = default;
};

// By parameter name.
engine::Buffers upload(const engine::Device& device, const StepShape& shape,
                       const StepBatch& batch);

}  // namespace hone::train
