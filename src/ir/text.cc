#include "ir/text.h"

#include <fmt/ranges.h>

#include <bit>
#include <cmath>

namespace hone {
namespace {

std::string infinity(DType t, bool negative) {
  switch (t) {
    case DType::kF64:
      return negative ? "0xFFF0000000000000" : "0x7FF0000000000000";
    case DType::kF32:
      return negative ? "0xFF800000" : "0x7F800000";
    case DType::kBF16:
      return negative ? "0xFF80" : "0x7F80";
    case DType::kF16:
      return negative ? "0xFC00" : "0x7C00";
    default:
      throw ShapeError("constant: {} has no infinity", name(t));
  }
}

}  // namespace

std::string number(DType t, double value) {
  if (t == DType::kPred) return value != 0 ? "true" : "false";
  if (!is_float(t)) return fmt::format("{:.0f}", value);
  if (std::isinf(value)) return infinity(t, value < 0);
  return fmt::format("{:.17e}", value);
}

std::string list(const Dims& d) { return fmt::format("[{}]", fmt::join(d, ", ")); }

std::string signature(const Node& n) {
  std::string s = " : (";
  for (size_t i = 0; i < n.in.size(); ++i) s += (i ? ", " : "") + n.operand(i).str();
  return s + ") -> " + n.type().str();
}

std::string call(const Node& n, Args args) {
  return fmt::format("stablehlo.{} {} : {}", n.op->name, fmt::join(args, ", "), n.type().str());
}

Type same_type(const Node& n) {
  for (size_t i = 1; i < n.in.size(); ++i)
    if (n.operand(i) != n.operand(0))
      throw ShapeError("{}: {} and {} differ; broadcast or convert explicitly", n.op->name,
                       n.operand(0).str(), n.operand(i).str());
  return n.operand(0);
}

int64_t axis_of(std::string_view op, const Type& t, int64_t axis) {
  const int64_t i = axis < 0 ? axis + t.rank() : axis;
  if (i < 0 || i >= t.rank()) throw ShapeError("{}: {} has no axis {}", op, t.str(), axis);
  return i;
}

}  // namespace hone
