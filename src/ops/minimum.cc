// min(a, b), element-wise; where they are equal each gets half the gradient.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node& n, Value, Value dy) {
  const Value a = n.in[0], b = n.in[1], half = dy * 0.5, zero = zeros_like(dy);
  auto side = [&](Compare wins) {
    return select(compare(a, wins, b), dy, select(compare(a, Compare::kEq, b), half, zero));
  };
  return {side(Compare::kLt), side(Compare::kGt)};
}

}  // namespace

extern const Op kMinimum{"minimum", same_type, call, vjp};
Value minimum(Value a, Value b) { return apply(kMinimum, {a, b}); }

}  // namespace hone
