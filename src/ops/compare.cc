// a < b and its five relatives, element-wise; the result is boolean.
#include <array>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) { return {DType::kPred, same_type(n).dims}; }

std::string_view comparison(DType t) {
  if (is_float(t)) return "FLOAT";
  const bool is_unsigned =
      t == DType::kPred || t == DType::kU8 || t == DType::kU32 || t == DType::kU64;
  return is_unsigned ? "UNSIGNED" : "SIGNED";
}

std::string emit(const Node& n, Args args) {
  static constexpr std::array kNames{"EQ", "NE", "LT", "LE", "GT", "GE"};
  return fmt::format("stablehlo.compare {}, {}, {}, {}{}",
                     kNames[static_cast<size_t>(n.integer("how"))], args[0], args[1],
                     comparison(n.operand(0).dtype), signature(n));
}

}  // namespace

extern const Op kCompare{"compare", infer, emit};
Value compare(Value a, Compare how, Value b) {
  return apply(kCompare, {a, b}, {{"how", static_cast<int64_t>(how)}});
}

}  // namespace hone
