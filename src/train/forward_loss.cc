#include "train/forward_loss.h"

#include "engine/forward.h"
#include "nn/loss.h"

namespace hone::train {

Objective::Targets targets_of(const Decoder& decoder, const BatchInputs& batch, Remat remat,
                              nn::Balance* balance) {
  const Value x = engine::sequence_states(decoder, batch.tokens, batch.positions, batch.segments,
                                          remat, balance);
  const Value flat = reshape(x, {x.dim(0) * x.dim(1), x.dim(2)});
  const Value logits = convert(decoder.head(take(flat, batch.rows)), DType::kF32);
  return {.log_probability = nn::log_probability(logits, batch.labels),
          .weights = batch.weights,
          .samples = batch.samples,
          .reference = batch.reference,
          .sample_count = batch.reference ? batch.reference.dim(0) : 0};
}

Remat remat_of(const Recipe& r) {
  if (r.remat == "block") return Remat::kBlock;
  if (r.remat == "attention") return Remat::kAttention;
  return Remat::kNone;
}

}  // namespace hone::train
