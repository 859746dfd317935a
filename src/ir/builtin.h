// The two operations that the reverse walk itself needs: constants to start from and sums to
// accumulate with. Every other operation lives in ops/.
#pragma once

#include "ir/graph.h"

namespace hone {

// A tensor filled with one number; integers and booleans are rounded from the double.
Value constant(Graph& g, Type type, double value);
Value constant_like(Value x, double value);
Value zeros_like(Value x);

Value operator+(Value a, Value b);  // types must be equal

extern const Op kConstant, kAdd;

}  // namespace hone
