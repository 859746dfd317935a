// a^b, element-wise, a > 0 where b is differentiated.   d a^b = b a^(b-1) da + a^b log(a) db
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node& n, Value y, Value dy) {
  const Value a = n.in[0], b = n.in[1];
  return {dy * b * power(a, b - 1.0), dy * y * log(a)};
}

}  // namespace

extern const Op kPower{"power", same_type, call, vjp};
Value power(Value a, Value b) { return apply(kPower, {a, b}); }

}  // namespace hone
