#include "nn/attention.h"

#include <algorithm>
#include <string>

#include "ops/ops.h"

namespace hone::nn {
namespace {

constexpr double kMasked = -1e30;  // finite, so that a row with no key at all stays finite too

// Writes this call's keys or values, [b, s, k, e], into their slots.
Value store(Value cache, Value fresh, Value at) {
  const Value zero = zeros_like(at);
  const Value slot = remainder(at, constant_like(at, static_cast<double>(cache.dim(2))));
  return dynamic_update_slice(cache, convert(transpose(fresh, {0, 2, 1, 3}), cache.dtype()),
                              {zero, zero, slot, zero});
}

// The places of the tokens in t slots when `last` is the last one: i32 [t]; below 0 in slots that
// nothing was written to.
Value places(Value last, int64_t t) {
  const Value slot = iota(*last.graph, {t}, 0, DType::kS32);
  const Value newest = broadcast(last, {t}, {}), size = constant_like(slot, static_cast<double>(t));
  return newest - remainder(newest - slot + size, size);
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
  const Value mask = ctx.mask(how.window, seen.k.dim(ctx.cache == nullptr ? 1 : 2));
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

int64_t cache_slots(int64_t window, int64_t chunk, int64_t places) {
  if (window == 0) return places;
  const int64_t seen = window + chunk - 1;  // by a chunk's tokens together
  return std::min(places, (seen + chunk - 1) / chunk * chunk);
}

Context Context::of_sequences(Value positions, Value segments, bool remat) {
  Context ctx;
  ctx.positions = positions;
  ctx.remat = remat;
  ctx.segments = segments;
  ctx.make_mask_ = [segments](int64_t window, int64_t keys) {
    Graph& g = *segments.graph;
    const Dims dims{segments.dim(0), segments.dim(1), keys};
    const Value query = iota(g, dims, 1, DType::kS32), key = iota(g, dims, 2, DType::kS32);
    const Value same =
        compare(broadcast(segments, dims, {0, 1}), Compare::kEq, broadcast(segments, dims, {0, 2}));
    return logical_and(looks_back(query, key, window), same);
  };
  return ctx;
}

Context Context::of_cache(Value start, KvCache& cache, int64_t s) {
  Context ctx;
  const Dims each{start.dim(0), s};
  const Value place = broadcast(cache.at, each, {}) + iota(*start.graph, each, 1, DType::kS32);
  const Value position = place - broadcast(start, each, {0});
  ctx.positions = maximum(position, zeros_like(position));
  ctx.cache = &cache;
  const Value last = cache.at + constant_like(cache.at, static_cast<double>(s - 1));
  ctx.make_mask_ = [start, place, last](int64_t window, int64_t keys) {
    const Dims dims{place.dim(0), place.dim(1), keys};
    const Value key = broadcast(places(last, keys), dims, {2});
    return logical_and(looks_back(broadcast(place, dims, {0, 1}), key, window),
                       compare(key, Compare::kGe, broadcast(start, dims, {0})));
  };
  return ctx;
}

Value Context::mask(int64_t window, int64_t keys) const {
  const auto [it, made] = masks_.try_emplace({window, keys});
  if (made) it->second = make_mask_(window, keys);
  return it->second;
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
