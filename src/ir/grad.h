// Reverse-mode gradients by one backward walk over the graph.
#pragma once

#include <span>

#include "ir/graph.h"

namespace hone {

// d(y)/d(wrt[i]) for a scalar y, of wrt[i]'s type; zeros where y does not depend on it.
Values grad(Value y, std::span<const Value> wrt);

// The general form: given cotangents dys of ys ({} = zero), the cotangents of wrt.
// Entries that ys do not depend on are {}. All ys belong to one graph.
Values pullback(std::span<const Value> ys, std::span<const Value> dys, std::span<const Value> wrt);

}  // namespace hone
