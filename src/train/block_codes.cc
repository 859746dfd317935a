#include "train/block_codes.h"

#include "ops/ops.h"

namespace hone::train {
namespace {

constexpr int64_t kEntries = 256;

// [..] -> [blocks, 256], the last block padded with zeros.
Value in_blocks(Value x) {
  const int64_t n = x.type().size(), blocks = block_count(x.type());
  return reshape(pad(reshape(x, {n}), {0}, {blocks * kCodeBlock - n}), {blocks, kCodeBlock});
}

Value out_of_blocks(Value x, const Dims& dims) {
  const int64_t n = Type{x.dtype(), dims}.size();
  return reshape(slice(reshape(x, {x.type().size()}), 0, 0, n), dims);
}

// i32: how many of the `bounds` [255], which rise, are below each element.
Value count_below(Value x, Value bounds) {
  Value count = convert(zeros_like(x), DType::kS32);
  for (int64_t half = kEntries / 2; half > 0; half /= 2) {
    const Value above =
        compare(x, Compare::kGt, take(bounds, count + constant_like(count, half - 1)));
    count = select(above, count + constant_like(count, half), count);
  }
  return count;
}

}  // namespace

int64_t block_count(const Type& array) { return (array.size() + kCodeBlock - 1) / kCodeBlock; }

BlockCodes encode(Value array, Value map) {
  const Value blocks = in_blocks(array);
  const Value largest = reduce_max(abs(blocks), {1});
  // A block of zeros stays one: its shares are 0, not 0 / 0. A device may take less than 1.2e-38,
  // which f32 writes with fewer digits, for 0.
  const Value divisor = maximum(largest, constant_like(largest, 1e-37));
  const Value share = blocks / broadcast(divisor, blocks.dims(), {0});
  const Value bounds = (slice(map, 0, 0, kEntries - 1) + slice(map, 0, 1, kEntries)) / 2.0;
  const Value codes = convert(count_below(share, bounds), DType::kU8);
  return {out_of_blocks(codes, array.dims()), largest};
}

Value decode(const BlockCodes& c, Value map) {
  const Value shares = in_blocks(take(map, convert(c.codes, DType::kS32)));
  return out_of_blocks(shares * broadcast(c.largest, shares.dims(), {0}), c.codes.dims());
}

}  // namespace hone::train
