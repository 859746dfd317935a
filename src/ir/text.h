// The pieces of StableHLO text and the shape rules that many operations share.
#pragma once

#include <string>

#include "ir/graph.h"

namespace hone {

// "1.5e+00" for floats (17 digits), "3" for integers, "true"; infinities as the bits of the type.
std::string number(DType t, double value);
// "[0, 2]"
std::string list(const Dims& d);
// " : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>"
std::string signature(const Node& n);
// "stablehlo.NAME %a, %b : type": an element-wise operation named as StableHLO names it.
std::string call(const Node& n, Args args);

// All operands have one type, which is the result's. Throws ShapeError.
Type same_type(const Node& n);
// The axis counted from the front. Throws ShapeError naming the op when it is out of range.
int64_t axis_of(std::string_view op, const Type& t, int64_t axis);

}  // namespace hone
