#include "nn/attention.h"

#include <string>

#include "ops/ops.h"

namespace hone::nn {
namespace {

constexpr double kMasked = -1e30;  // finite, so that a row with no key at all stays finite too

// Writes this call's keys or values, [b, s, k, e], into their slots.
Value store(Value cache, Value fresh, Value at) {
  const Value zero = zeros_like(at);
  return dynamic_update_slice(cache, convert(transpose(fresh, {0, 2, 1, 3}), cache.dtype()),
                              {zero, zero, at, zero});
}

// Among the keys at or before a query, the `window` nearest; all where it is 0. pred of `dims`.
Value looks_back(Value query, Value key, int64_t window) {
  const Value before = compare(key, Compare::kLe, query);
  if (window == 0) return before;
  return logical_and(before, compare(query - key, Compare::kLt, constant_like(key, window)));
}

// [b, s, h, e] -> [b, s, k, g, e]
Value group(Value q, int64_t kv) {
  return reshape(q, {q.dim(0), q.dim(1), kv, q.dim(2) / kv, q.dim(3)});
}

// q [b, s, k, g, e] -> [b, s, h * e]
Value weigh(Value q, const KeysValues& seen, const Scores& how, const Context& ctx) {
  const std::string keys = ctx.cache == nullptr ? "btke" : "bkte";
  const Value mask = ctx.mask(how.window);
  auto weighted = [&](const Values& qkv) {
    Value scores = einsum("bskge," + keys + "->bkgst", qkv[0], qkv[1], DType::kF32) * how.scale;
    if (how.softcap > 0) scores = tanh(scores / how.softcap) * how.softcap;
    const Value allowed = broadcast(mask, scores.dims(), {0, 3, 4});
    const Value probs = softmax_last(select(allowed, scores, constant_like(scores, kMasked)));
    return einsum("bkgst," + keys + "->bskge", convert(probs, qkv[2].dtype()), qkv[2]);
  };
  const Values qkv{q, seen.k, seen.v};
  return reshape(ctx.remat ? checkpoint(qkv, weighted) : weighted(qkv),
                 {q.dim(0), q.dim(1), q.dim(2) * q.dim(3) * q.dim(4)});
}

}  // namespace

Context Context::of_sequences(Value positions, Value segments, bool remat) {
  Context ctx;
  ctx.positions = positions;
  ctx.remat = remat;
  ctx.segments = segments;
  ctx.make_mask_ = [segments](int64_t window) {
    Graph& g = *segments.graph;
    const Dims dims{segments.dim(0), segments.dim(1), segments.dim(1)};
    const Value query = iota(g, dims, 1, DType::kS32), key = iota(g, dims, 2, DType::kS32);
    const Value same =
        compare(broadcast(segments, dims, {0, 1}), Compare::kEq, broadcast(segments, dims, {0, 2}));
    return logical_and(looks_back(query, key, window), same);
  };
  return ctx;
}

Context Context::of_cache(Value start, KvCache& cache, int64_t s, int64_t slots) {
  Context ctx;
  const Dims each{start.dim(0), s};
  const Value place = broadcast(cache.at, each, {}) + iota(*start.graph, each, 1, DType::kS32);
  const Value position = place - broadcast(start, each, {0});
  ctx.positions = maximum(position, zeros_like(position));
  ctx.cache = &cache;
  ctx.make_mask_ = [start, place, dims = Dims{start.dim(0), s, slots}](int64_t window) {
    const Value key = iota(*start.graph, dims, 2, DType::kS32);
    return logical_and(looks_back(broadcast(place, dims, {0, 1}), key, window),
                       compare(key, Compare::kGe, broadcast(start, dims, {0})));
  };
  return ctx;
}

Value Context::mask(int64_t window) const {
  if (const auto it = masks_.find(window); it != masks_.end()) return it->second;
  return masks_[window] = make_mask_(window);
}

const Rope& Context::rope(const std::vector<double>& frequencies) const {
  return ropes_.try_emplace(frequencies, positions, frequencies).first->second;
}

KeysValues remember(Value k, Value v, const Context& ctx, size_t layer) {
  if (ctx.cache == nullptr) return {k, v};
  KvCache::Layer& own = ctx.cache->layers[layer];
  own = {store(own.k, k, ctx.cache->at), store(own.v, v, ctx.cache->at)};
  return {own.k, own.v};
}

Value attend(Value q, const KeysValues& seen, const Scores& how, const Context& ctx) {
  const int64_t heads_axis = ctx.cache == nullptr ? 2 : 1;
  return weigh(group(q, seen.k.dim(heads_axis)), seen, how, ctx);
}

Value attend(Value q, Value k, Value v, const Scores& how, const Context& ctx, size_t layer) {
  const Value queries = group(q, k.dim(2));
  return weigh(queries, remember(k, v, ctx, layer), how, ctx);
}

}  // namespace hone::nn
