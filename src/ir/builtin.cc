#include "ir/builtin.h"

#include <cmath>

#include "ir/text.h"

namespace hone {
namespace {

std::string emit_constant(const Node& n, Args) {
  return fmt::format("stablehlo.constant dense<{}> : {}", number(n.type().dtype, n.real("value")),
                     n.type().str());
}

Values vjp_add(const Node&, Value, Value dy) { return {dy, dy}; }

}  // namespace

const Op kConstant{.name = "constant", .infer = nullptr, .emit = emit_constant};
const Op kAdd{"add", same_type, call, vjp_add};

Value constant(Graph& g, Type type, double value) {
  return g.add({.op = &kConstant,
                .in = {},
                .attrs = {{"value", value}},
                .results = {std::move(type)},
                .label = {},
                .body = {}});
}
Value constant_like(Value x, double value) { return constant(*x.graph, x.type(), value); }
Value zeros_like(Value x) { return constant_like(x, 0.0); }

Value operator+(Value a, Value b) { return apply(kAdd, {a, b}); }

}  // namespace hone
