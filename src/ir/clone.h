// Copies parts of one graph into another: the way compositions are inlined and bodies recomputed.
#pragma once

#include <map>
#include <span>
#include <utility>

#include "ir/graph.h"

namespace hone {

// What a source graph's values are called in the target: (id, result) -> value.
using Known = std::map<std::pair<int, int>, Value>;

// Copies what `outs` need and `known` does not have yet; adds the copies to `known`.
// Every parameter that is needed must be known. Bodies are copied, not shared.
Values clone(const Graph& from, std::span<const Value> outs, Graph& into, Known& known);

// The body's results with `args` (values of `into`) in place of its parameters.
Values inline_body(const Body& body, std::span<const Value> args, Graph& into);

}  // namespace hone
