// A small table of numbers written into the program.
#include <fmt/ranges.h>

#include "base/check.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::string emit(const Node& n, Args) {
  return fmt::format("stablehlo.constant dense<[{}]> : {}", n.text("values"), n.type().str());
}

}  // namespace

extern const Op kLiteral{"literal", nullptr, emit};
Value literal(Graph& g, Type type, std::vector<double> values) {
  check(static_cast<int64_t>(values.size()) == type.size() && type.dtype != DType::kPred,
        "literal: {} numbers for {}", values.size(), type.str());
  std::vector<std::string> text;
  for (double v : values) text.push_back(number(type.dtype, v));
  const Value flat = g.add({.op = &kLiteral,
                            .in = {},
                            .attrs = {{"values", fmt::format("{}", fmt::join(text, ", "))}},
                            .results = {Type{type.dtype, {type.size()}}},
                            .label = {},
                            .body = {}});
  return reshape(flat, type.dims);
}

}  // namespace hone
