// A micro-batch through the model to its objective's sums; training and validation share it.
#pragma once

#include "models/family.h"
#include "nn/moe.h"
#include "ops/ops.h"
#include "train/objective.h"
#include "train/step_batch.h"

namespace hone::train {

// `batch` is one micro-batch, without the first axis. Only target rows meet the head.
// `balance`: as sequence_states() takes it.
Objective::Targets targets_of(const Decoder& decoder, const BatchInputs& batch, Remat remat,
                              nn::Balance* balance = nullptr);

Remat remat_of(const Recipe& recipe);

}  // namespace hone::train
