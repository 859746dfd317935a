// The gradient of an operation that is its body: `fused` and `checkpoint`.
#pragma once

#include "ir/graph.h"

namespace hone {

// The cotangents of n's operands, {} where there is none, with the body computed again in g; dy has
// one entry a result, {} where none arrived. The first `held` operands go through a barrier
// together with dy: the second computation then neither starts before dy is there nor merges with
// the first.
Values body_vjp(const Node& n, Graph& g, std::span<const Value> dy, size_t held);

}  // namespace hone
