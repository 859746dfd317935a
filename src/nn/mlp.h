// The gated feed-forward layer: down(act(gate x) * up x).
#pragma once

#include "nn/linear.h"
#include "ops/ops.h"

namespace hone::nn {

struct GatedMlp {
  using Activation = Value (*)(Value);

  Linear gate, up, down;
  Activation act;  // silu (SwiGLU, arXiv:2002.05202) or gelu_tanh (GeGLU)

  GatedMlp(Scope p, int64_t hidden, int64_t ffw, Activation activation)
      : gate(p / "gate_proj", {"embed", hidden}, {"mlp", ffw}),
        up(p / "up_proj", {"embed", hidden}, {"mlp", ffw}),
        down(p / "down_proj", {"mlp", ffw}, {"embed", hidden}),
        act(activation) {}

  Value operator()(Value x) const { return down(act(gate(x)) * up(x)); }
};

}  // namespace hone::nn
