// Attention over grouped heads, with or without a cache of earlier keys and values.
//   b batch  s query position  t key position  h query head  k key-value head  g queries a kv head
//   e head dimension
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "ir/graph.h"
#include "nn/rope.h"

namespace hone::nn {

// Keys and values of earlier tokens, updated in place: the executable donates the arrays. The token
// at place p of its (padded) row lies in slot p mod t, so an array may be shorter than the rows: it
// then holds their last t tokens.
struct KvCache {
  struct Layer {
    Value k, v;  // [b, k, t, e]
  };
  Value at;  // i32 scalar: the place of this call's first token; its s tokens do not pass the last
             // slot
  std::vector<Layer> layers;
};

// The slots that a layer needs when `chunk` tokens come at a time, the first at a multiple of it,
// and rows are no longer than `places`. window 0: all.
int64_t cache_slots(int64_t window, int64_t chunk, int64_t places);

struct Balance;  // moe.h

// What every layer of one forward pass shares.
struct Context {
  // Whole sequences without a cache. positions and segments are i32 [b, s]; segment 0 is padding,
  // and a query looks back over its own segment only.
  static Context of_sequences(Value positions, Value segments, bool remat = false);
  // Rows that end at one place: row r's tokens start at place start[r] (i32 [b]), and the s new
  // ones are at cache.at and after.
  static Context of_cache(Value start, KvCache& cache, int64_t s);

  Value positions;             // i32 [b, s], for the position embedding
  KvCache* cache = nullptr;    // null: keys are this call's tokens only, t = s
  bool remat = false;          // the backward pass makes the scores again instead of keeping them
  Value segments = {};         // i32 [b, s], 0 is padding; {} with a cache
  Balance* balance = nullptr;  // where routers of experts say what they did; null: nowhere

  // Query s may look at key t, of `keys`: pred [b, s, t]. With a window, at the `window` nearest
  // keys up to its own; 0 is none. Made at the first mention.
  Value mask(int64_t window, int64_t keys) const;
  // The turns of these frequencies at `positions`, made at the first mention.
  const Rope& rope(const std::vector<double>& frequencies) const;

 private:
  std::function<Value(int64_t window, int64_t keys)> make_mask_;
  mutable std::map<std::pair<int64_t, int64_t>, Value> masks_ = {};
  mutable std::map<std::vector<double>, Rope> ropes_ = {};
};

struct Scores {
  double scale = 1;    // of q k^T
  int64_t window = 0;  // keys that a query sees, its own among them; 0: all
  double softcap = 0;  // scores become softcap * tanh(scores / softcap); 0: as they are
};

// What queries look at: this call's [b, s, k, e], or all of a cache, [b, k, t, e].
struct KeysValues {
  Value k, v;
};
// k and v [b, s, k, e] of this call's tokens, entered into the layer's cache when there is one.
KeysValues remember(Value k, Value v, const Context& ctx, size_t layer);

// softmax(scores) v; q [b, s, h, e], of which h is a multiple of k. Returns [b, s, h * e].
Value attend(Value q, const KeysValues& seen, const Scores& scores, const Context& ctx);
Value attend(Value q, Value k, Value v, const Scores& scores, const Context& ctx, size_t layer);

}  // namespace hone::nn
