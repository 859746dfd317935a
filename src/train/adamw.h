// AdamW, for the weights that other optimisers leave to it.
#pragma once

#include "train/optimizer.h"

namespace hone::train {

extern const Optimizer kAdamW;

}  // namespace hone::train
