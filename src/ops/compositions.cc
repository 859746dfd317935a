// Functions that are written with other operations: readable, and differentiable for free.
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

Value operator+(Value a, double s) { return a + constant_like(a, s); }
Value operator-(Value a, double s) { return a - constant_like(a, s); }
Value operator*(Value a, double s) { return a * constant_like(a, s); }
Value operator/(Value a, double s) { return a / constant_like(a, s); }

Value spread(Value x, Value like, Dims axes) { return broadcast(x, like.dims(), std::move(axes)); }

Value spread_last(Value x, Value like) {
  Dims axes;
  for (int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  return broadcast(x, like.dims(), axes);
}

Value mean_last(Value x) { return sum(x, {-1}) / static_cast<double>(x.dim(-1)); }

// The shift by the maximum changes nothing but the range, so no gradient goes through it.
Value softmax_last(Value x) {
  const Value e = exp(x - spread_last(stop_gradient(reduce_max(x, {-1})), x));
  return e / spread_last(sum(e, {-1}), x);
}

Value log_sum_exp_last(Value x) {
  const Value top = stop_gradient(reduce_max(x, {-1}));
  return log(sum(exp(x - spread_last(top, x)), {-1})) + top;
}

Value silu(Value x) { return x * sigmoid(x); }

// Hendrycks and Gimpel, arXiv:1606.08415, the tanh form.
Value gelu_tanh(Value x) {
  const double c = std::sqrt(2.0 / std::numbers::pi);
  return x * 0.5 * (tanh((x + x * x * x * 0.044715) * c) + 1.0);
}

Value arg_max_last(Value x) {
  const Value at = iota(*x.graph, x.dims(), -1, DType::kS32);
  const Value is_top = compare(x, Compare::kEq, spread_last(reduce_max(x, {-1}), x));
  const Value nowhere =
      constant_like(at, -static_cast<double>(std::numeric_limits<int32_t>::max()));
  return -reduce_max(select(is_top, -at, nowhere), {-1});
}

}  // namespace hone
