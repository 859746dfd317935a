// Attention over grouped heads, with or without a cache of earlier keys and values.
//   b batch  s query position  t key position  h query head  k key-value head  g queries a kv head
//   e head dimension
#pragma once

#include <map>
#include <vector>

#include "ir/graph.h"
#include "nn/rope.h"

namespace hone::nn {

// Keys and values of earlier tokens, updated in place: the executable donates the arrays.
struct KvCache {
  struct Layer {
    Value k, v;  // [b, k, t, e]
  };
  Value at;  // i32 scalar: where this call's tokens go on the t axis
  std::vector<Layer> layers;
};

// What every layer of one forward pass shares.
struct Context {
  Value positions;           // i32 [b, s], for the position embedding
  Value mask;                // pred [b, s, t]: query s may look at key t
  KvCache* cache = nullptr;  // null: keys are this call's tokens only, t = s
  bool remat = false;        // the backward pass makes the scores again instead of keeping them

  // The turns of these frequencies at `positions`, made at the first mention.
  const Rope& rope(const std::vector<double>& frequencies) const;
  mutable std::map<std::vector<double>, Rope> ropes = {};
};

// Queries look back over their own example only. segments are i32 [b, s], 0 = padding.
Value segment_mask(Value segments);
// Rows that end at one place: row r's tokens start at start[r] (i32 [b]) of the t cache slots, and
// the s new ones are written from slot `at`. pred [b, s, t].
Value cache_mask(Value start, Value at, int64_t s, int64_t t);

// softmax(q k^T * scale) v; q [b, s, h, e], k and v [b, s, k, e] of this call's tokens, which enter
// the cache when there is one. h is a multiple of k. Returns [b, s, h * e].
Value attend(Value q, Value k, Value v, double scale, const Context& ctx, size_t layer);

}  // namespace hone::nn
