#include "nn/dropout.h"

#include "ops/ops.h"

namespace hone::nn {

Value fold_in(Value key, int64_t n) {
  const Value word = literal(*key.graph, {DType::kU64, {2}}, {0.0, static_cast<double>(n)});
  return logical_xor(key, word);
}

Value dropout(Value x, double rate, Value key) {
  if (rate <= 0.0) return x;
  const Value bits =
      random_bits(x.graph->capture(key), x.dims());  // where x is, to be made again there
  const Value threshold = constant_like(bits, rate * 0x1p32);
  const Value keep = compare(bits, Compare::kGe, threshold);
  return select(keep, x / (1.0 - rate), zeros_like(x));
}

}  // namespace hone::nn
