// What the reductions share: the attribute "axes", sorted; the initial value is operand 1.
#pragma once

#include <string_view>

#include "ir/graph.h"

namespace hone {

Value reduce(const Op& op, Value x, Dims axes, double initial);
Type infer_reduce(const Node& n);
std::string emit_reduce(std::string_view combine, const Node& n, Args args);
Dims kept_axes(const Node& n);  // the axes of operand 0 that stay

}  // namespace hone
