// AdamW whose moments are kept in 8 bits (Dettmers et al., arXiv:2110.02861), as bitsandbytes'
// AdamW8bit: blocks of 256, a table with signs for m and one without for v; weights below 4096
// elements keep theirs in f32. The update is AdamW's, on the moments before they are rounded.
#include "nn/dynamic_map.h"
#include "ops/ops.h"
#include "train/adamw.h"
#include "train/block_codes.h"

namespace hone::train {
namespace {

constexpr int64_t kSmallest = 4096;

// Codes and magnitudes of 0 stand for zeros.
std::vector<Optimizer::Slot> slots(const OptimRecipe& r, const Type& weight) {
  if (weight.size() < kSmallest) return kAdamW.slots(r, weight);
  const Type codes{DType::kU8, weight.dims}, largest{DType::kF32, {block_count(weight)}};
  return {{"m", codes}, {"m_largest", largest}, {"v", codes}, {"v_largest", largest}};
}

std::vector<double> numbers(const OptimRecipe& r, int64_t step) { return kAdamW.numbers(r, step); }

Optimizer::Update update(const OptimRecipe& r, const Optimizer::Now& now) {
  if (now.weight.type().size() < kSmallest) return kAdamW.update(r, now);
  Graph& g = *now.weight.graph;
  auto map = [&](bool with_sign) {
    const auto entries = nn::dynamic_map(with_sign);
    return literal(g, {DType::kF32, {256}}, {entries.begin(), entries.end()});
  };
  const Value signed_map = map(true), unsigned_map = map(false);
  Optimizer::Now wide = now;
  wide.slots = {decode({now.slots[0], now.slots[1]}, signed_map),
                decode({now.slots[2], now.slots[3]}, unsigned_map)};
  const Optimizer::Update next = kAdamW.update(r, wide);
  const BlockCodes m = encode(next.slots[0], signed_map), v = encode(next.slots[1], unsigned_map);
  return {next.weight, {m.codes, m.largest, v.codes, v.largest}};
}

}  // namespace

extern const Optimizer kAdamW8bit{"adamw8bit", slots, numbers, update};

}  // namespace hone::train
