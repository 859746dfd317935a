// AdamW (Loshchilov and Hutter, arXiv:1711.05101) in the graph, as PyTorch orders its terms.
#pragma once

#include <cstdint>
#include <utility>

#include "ir/graph.h"

namespace hone::train {

struct AdamW {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0;

  struct State {
    Value parameter, m, v;  // of one type, f32
  };
  // What both moments are divided by at this step, which counts from 1: 1 - beta^step. Numbers of
  // the host, since they cancel in f32.
  std::pair<double, double> corrections(int64_t step) const;
  // One update. lr and the corrections are f32 scalars.
  State operator()(const State& now, Value gradient, Value lr, Value correction1,
                   Value correction2) const;
};

// The factor that brings the global norm down to `clip`, at most 1; clip <= 0 means no clipping.
Value clip_factor(Value norm, double clip);

}  // namespace hone::train
