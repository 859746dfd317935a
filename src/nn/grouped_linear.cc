#include "nn/grouped_linear.h"

#include "ops/ops.h"

namespace hone::nn {

GroupedLinear::GroupedLinear(Scope p, std::string_view leaf, Axis groups, Axis in, Axis out)
    : w_(p.stack(groups, out, in, leaf)) {
  const Scope own = p / leaf;
  const auto lora = p.params().tuning.adapter_at_parameter(own.path());
  if (!lora) return;
  const Axis rank{"", lora->rank};
  adapter_ = Adapter{own.adapter_weight("lora_A.weight", {groups, rank, in}),
                     own.adapter_weight("lora_B.weight", {groups, out, rank}), lora->scale};
}

Value GroupedLinear::operator()(Value x, Value sizes) const {
  // As it is held, not widened: that would read the matrices of all groups.
  const Value y = grouped_matmul(x, w_.held(*x.graph), sizes);
  if (!adapter_) return y;
  const Value low = grouped_matmul(x, convert(adapter_->a, x.dtype()), sizes);
  return y + grouped_matmul(low, convert(adapter_->b, x.dtype()), sizes) * adapter_->scale;
}

}  // namespace hone::nn
