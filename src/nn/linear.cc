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

}  // namespace

Linear::Linear(Scope p, Axis in, Axis out) : w_(p.weight({out, in})) {
  const Params& params = p.params();
  if (!params.lora || !params.lora->applies_to(p.path())) return;
  const Axis rank{"", params.lora->rank};
  adapter_ = Adapter{p.adapter_weight("lora_A", {rank, in}),
                     p.adapter_weight("lora_B", {out, rank}),
                     params.lora->scale,
                     params.lora->dropout,
                     {}};
  if (params.dropout_key)
    adapter_->dropout_key =
        fold_in(params.dropout_key, static_cast<int64_t>(params.adapter.size()));
}

Value Linear::operator()(Value x) const {
  const Value y = project(x, w_);
  if (!adapter_) return y;
  const auto& [a, b, scale, rate, key] = *adapter_;
  const Value kept = key ? dropout(x, rate, key) : x;
  const Value low = project(kept, convert(a, x.dtype()));
  return y + project(low, convert(b, x.dtype())) * scale;
}

}  // namespace hone::nn
