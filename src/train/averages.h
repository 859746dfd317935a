// The running mean of the weights (optim.ema) in the place of the weights, for a while.
#pragma once

#include <utility>

#include "engine/weights.h"

namespace hone::train {

// Swaps "ema.NAME" of `state` with NAME of `trained`, where it is there; again swaps back.
inline void swap_averages(engine::Buffers& trained, engine::Buffers& state) {
  for (auto& [name, weight] : trained)
    if (const auto mean = state.find("ema." + name); mean != state.end())
      std::swap(weight, mean->second);
}

class Averaged {
 public:
  Averaged(engine::Buffers& trained, engine::Buffers& state) : trained_(trained), state_(state) {
    swap_averages(trained_, state_);
  }
  ~Averaged() { swap_averages(trained_, state_); }
  Averaged(const Averaged&) = delete;
  Averaged& operator=(const Averaged&) = delete;

 private:
  engine::Buffers &trained_, &state_;
};

}  // namespace hone::train
