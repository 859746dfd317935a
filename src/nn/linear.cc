#include "nn/linear.h"

#include "nn/dropout.h"
#include "ops/ops.h"

namespace hone::nn {
namespace {

// [..., in] x [out, in] -> [..., out], as one matrix product.
Value project(Value x, Value w) {
  Dims dims = x.dims();
  const Value rows = reshape(x, {x.type().size() / x.dim(-1), x.dim(-1)});
  dims.back() = w.dim(0);
  return reshape(einsum("ri,oi->ro", rows, w), dims);
}

// The lengths of the rows of W + scale B A, a constant to the gradient as DoRA (4.3) proposes:
// [out].
Value row_lengths(Value w, Value a, Value b, double scale) {
  const Value tuned = convert(w, DType::kF32) + einsum("or,ri->oi", b, a) * scale;
  return stop_gradient(sqrt(sum(tuned * tuned, {1})));
}

// Multiplies x [..., out] by `by` f32 [out].
Value scale_rows(Value x, Value by) {
  return x * broadcast(convert(by, x.dtype()), x.dims(), {x.rank() - 1});
}

}  // namespace

Linear::Linear(Scope p, Axis in, Axis out) : w_(p.matrix(out, in)) {
  const Params& params = p.params();
  const auto lora = params.tuning.adapter_at(p.path());
  if (!lora) return;
  const Axis rank{"", lora->rank};
  adapter_ = Adapter{p.adapter_weight("lora_A.weight", {rank, in}),
                     p.adapter_weight("lora_B.weight", {out, rank}),
                     {},
                     lora->scale,
                     &params,
                     static_cast<int64_t>(params.trained.size())};
  if (params.tuning.lora->dora)
    adapter_->magnitude = p.adapter_weight("lora_magnitude_vector", {out});
}

Value Linear::operator()(Value x) const {
  const Value w = w_(x);
  const Value y = project(x, w);
  if (!adapter_) return y;
  const auto& [a, b, magnitude, scale, params, number] = *adapter_;
  const Value key = params->dropout_key;
  const Value kept = key ? dropout(x, params->tuning.lora->dropout, fold_in(key, number)) : x;
  const Value low = project(kept, convert(a, x.dtype()));
  const Value sum = y + project(low, convert(b, x.dtype())) * scale;
  return magnitude ? scale_rows(sum, magnitude / row_lengths(w, a, b, scale)) : sum;
}

}  // namespace hone::nn
