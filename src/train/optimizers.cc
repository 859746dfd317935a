// The table of optimisers.
#include <algorithm>

#include "base/check.h"
#include "ops/ops.h"
#include "train/optimizer.h"

namespace hone::train {

extern const Optimizer kAdafactor, kAdamW, kAdamW8bit, kLion, kMuon, kSgd;  // one a file

std::span<const Optimizer* const> optimizers() {
  static const Optimizer* const all[] = {&kAdafactor, &kAdamW, &kAdamW8bit, &kLion, &kMuon, &kSgd};
  return all;
}

const Optimizer& optimizer_of(std::string_view name) {
  const auto it = std::ranges::find(optimizers(), name, &Optimizer::name);
  check(it != optimizers().end(), "optimiser \"{}\" passed the recipe's check", name);
  return **it;
}

Value everywhere(Value scalar, Value like) { return broadcast(scalar, like.dims(), {}); }

}  // namespace hone::train
