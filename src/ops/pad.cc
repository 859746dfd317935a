// Adds low[i] elements before and high[i] after axis i.
#include <algorithm>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const Dims &low = n.list("low"), &high = n.list("high");
  Type t = n.operand(0);
  const bool fits = low.size() == t.dims.size() && high.size() == t.dims.size() &&
                    std::ranges::all_of(low, [](int64_t v) { return v >= 0; }) &&
                    std::ranges::all_of(high, [](int64_t v) { return v >= 0; });
  if (!fits) throw ShapeError("pad: {} and {} around {}", list(low), list(high), t.str());
  for (size_t i = 0; i < low.size(); ++i) t.dims[i] += low[i] + high[i];
  return t;
}

std::string emit(const Node& n, Args args) {
  return fmt::format("stablehlo.pad {}, {}, low = {}, high = {}, interior = {}{}", args[0], args[1],
                     list(n.list("low")), list(n.list("high")), list(Dims(n.list("low").size(), 0)),
                     signature(n));
}

Values vjp(const Node& n, Value, Value dy) {
  const Dims& low = n.list("low");
  Value d = dy;
  for (size_t i = 0; i < low.size(); ++i)
    d = slice(d, static_cast<int64_t>(i), low[i], low[i] + n.operand(0).dims[i]);
  return {d, {}};
}

}  // namespace

extern const Op kPad{"pad", infer, emit, vjp};
Value pad(Value x, Dims low, Dims high, double value) {
  return apply(kPad, {x, constant(*x.graph, {x.dtype(), {}}, value)},
               {{"low", std::move(low)}, {"high", std::move(high)}});
}

}  // namespace hone
