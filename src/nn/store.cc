#include "nn/store.h"

#include "base/check.h"
#include "ops/ops.h"

namespace hone::nn {

std::span<const Store* const> stores() {
  static const Store* const all[] = {&kStoreF32, &kStoreBF16, &kStoreF16, &kStoreInt8, &kStoreNf4};
  return all;
}

Value Matrix::operator()(Graph& where) const {
  Values parts;
  for (const Value& p : parts_) parts.push_back(where.capture(p));
  return convert(store_->widen(parts, dims_), compute_);
}

Value Matrix::operator()(Value& x) const {
  if (parts_.size() == 1 && parts_[0].dtype() == compute_) return (*this)(*x.graph);
  Values together{x};
  for (const Value& p : parts_) together.push_back(x.graph->capture(p));
  together = barrier(together);
  x = together[0];
  together.erase(together.begin());
  return convert(store_->widen(together, dims_), compute_);
}

Value Matrix::rows(Value ids) const {
  check(parts_.size() == 1, "rows of a {} matrix", store_->name);
  return convert(take(parts_[0], ids), compute_);
}

Value Matrix::held(Graph& where) const {
  check(parts_.size() == 1, "the one array of a {} matrix", store_->name);
  return where.capture(parts_[0]);
}

}  // namespace hone::nn
