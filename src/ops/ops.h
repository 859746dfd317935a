// The graph-building vocabulary. Each function is defined in the .cc file that also holds the
// operation's shape rule, StableHLO text and gradient; compositions are in compositions.cc.
//
// Nothing broadcasts or converts by itself, as in StableHLO: the caller says it. All functions
// throw ShapeError. An axis may count from the end.
#pragma once

#include <functional>
#include <string_view>

#include "ir/builtin.h"
#include "ir/graph.h"

namespace hone {

// --- element-wise ----------------------------------------------------------------------------
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator-(Value x);
Value operator+(Value a, double s);
Value operator-(Value a, double s);
Value operator*(Value a, double s);
Value operator/(Value a, double s);
Value maximum(Value a, Value b);  // equal operands share the gradient
Value minimum(Value a, Value b);
Value power(Value a, Value b);
Value remainder(Value a, Value b);  // no gradient
Value abs(Value x);
Value exp(Value x);
Value log(Value x);
Value sqrt(Value x);
Value rsqrt(Value x);
Value tanh(Value x);
Value sigmoid(Value x);
Value sin(Value x);
Value cos(Value x);
Value floor(Value x);               // no gradient
Value convert(Value x, DType to);   // rounds to nearest even; from pred: 0 or 1
Value bit_cast(Value x, DType to);  // same element size; no gradient
Value stop_gradient(Value x);

// --- booleans and integers (no gradients) ----------------------------------------------------
enum class Compare { kEq, kNe, kLt, kLe, kGt, kGe };
Value compare(Value a, Compare how, Value b);  // pred
Value logical_and(Value a, Value b);           // bit-wise on integers, as below
Value logical_or(Value a, Value b);
Value logical_xor(Value a, Value b);
Value logical_not(Value x);
Value shift_left(Value x, Value bits);
Value shift_right(Value x, Value bits);  // logical: zeros come in
Value select(Value pred, Value on_true, Value on_false);

// --- products and reductions -----------------------------------------------------------------
// einsum("bsd,df->bsf", x, w): axes are single letters; what is missing on the right is summed.
// The result has x's dtype, accumulated in f32 at least; `out` asks for another.
Value einsum(std::string_view spec, Value a, Value b);
Value einsum(std::string_view spec, Value a, Value b, DType out);
Value sum(Value x, Dims axes);
Value reduce_max(Value x, Dims axes);  // the gradient goes to the maxima, shared when equal

// The k largest of the last axis, the largest first, [.., k] each; the gradient goes to `values`.
struct TopK {
  Value values;
  Value at;  // i32, where they are
};
TopK top_k(Value x, int64_t k);
Value arg_sort(Value x);  // the places that bring the last axis in ascending order, stable; i32

// Rows x [r, k] are sorted by group: the first sizes[0] are of group 0, and so on; sizes is i32
// [g]. Each meets its group's matrix of w [g, n, k]: [r, n]; transposed, rows [r, n] become [r, k].
// Rows past the sum of the sizes become zeros. The result has x's dtype, w may have another.
Value grouped_matmul(Value x, Value w, Value sizes, bool transposed = false);
// The sums over each group's rows of a[r, n] b[r, k]: [g, n, k].
Value grouped_outer(Value a, Value b, Value sizes);

// --- shape and movement ----------------------------------------------------------------------
Value reshape(Value x, Dims dims);
Value transpose(Value x, Dims perm);
Value broadcast(Value x, Dims to, Dims axes);  // x's axis i becomes result axis axes[i]
Value slice(Value x, int64_t axis, int64_t lo, int64_t hi);
Value concat(Values parts, int64_t axis);
Value pad(Value x, Dims low, Dims high, double value = 0.0);
Value dynamic_slice(Value x, Values start, Dims sizes);  // start: one i32 scalar an axis, clamped
Value dynamic_update_slice(Value x, Value update, Values start);
Value take(Value table, Value rows);  // [n, ...] and i32 [r...] -> [r..., ...]; rows are clamped
Value scatter_add(Value to, Value rows, Value updates);  // to[rows[i]] += updates[i], rows i32 [r]

// --- sources ---------------------------------------------------------------------------------
Value iota(Graph& g, Dims dims, int64_t axis, DType t);
Value literal(Graph& g, Type type, std::vector<double> values);  // row-major; small tables only
Value random_bits(Value key, Dims dims);  // u32 bits; key is u64 [2]; ThreeFry, same everywhere

// --- structure -------------------------------------------------------------------------------
// What the backward pass of a scan keeps of each iteration: all it needs, or only what enters the
// iteration, computing the rest again.
enum class Remat { kNone, kAttention, kBlock };

struct ScanResult {
  Values carry;  // after the last iteration
  Values ys;     // each [n, ...]
};
// for i in [0, n): carry, y = body(carry, xs[i]); xs are [n, ...]. The body may mention values of
// the enclosing graphs. Gradients flow to init, xs and captured values.
struct ScanStep {
  Values carry, ys;
};
ScanResult scan(Graph& g, int64_t n, Values init, Values xs,
                const std::function<ScanStep(const Values& carry, const Values& x)>& body,
                Remat remat = Remat::kNone);

// part(in), of which the backward pass keeps `in` alone and computes the rest again. The part may
// mention other values of the graph; they are kept. Results that are such values are themselves.
Values checkpoint(Values in, const std::function<Values(const Values&)>& part);
Value checkpoint(Values in, const std::function<Value(const Values&)>& part);
// Its operands; none is used before all of them are there.
Values barrier(const Values& in);

// A composition that a device may have a kernel for. The kernel gets `in` and `attrs`; the
// composition is what all other devices run, what the gradient is, and what tests compare with.
Value fused(std::string_view kernel, Values in, Attrs attrs,
            const std::function<Value(const Values&)>& composition);

// --- compositions ----------------------------------------------------------------------------
Value spread(Value x, Value like, Dims axes);  // broadcast x over like's dims
Value spread_last(Value x, Value like);        // [..] -> [.., n]: repeats x along like's last axis
Value mean_last(Value x);                      // [.., n] -> [..]
Value softmax_last(Value x);
Value log_sum_exp_last(Value x);  // [.., n] -> [..]
Value silu(Value x);
Value gelu_tanh(Value x);
Value arg_max_last(Value x);  // i32 [..], the first of equals; no gradient

}  // namespace hone
