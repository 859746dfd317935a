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

}  // namespace

const Rope& Context::rope(const std::vector<double>& frequencies) const {
  return ropes.try_emplace(frequencies, positions, frequencies).first->second;
}

Value segment_mask(Value segments) {
  Graph& g = *segments.graph;
  const int64_t b = segments.dim(0), s = segments.dim(1);
  const Dims dims{b, s, s};
  const Value causal =
      compare(iota(g, dims, 1, DType::kS32), Compare::kGe, iota(g, dims, 2, DType::kS32));
  const Value same =
      compare(broadcast(segments, dims, {0, 1}), Compare::kEq, broadcast(segments, dims, {0, 2}));
  return logical_and(causal, same);
}

Value cache_mask(Value start, Value at, int64_t s, int64_t t) {
  Graph& g = *start.graph;
  const Dims dims{start.dim(0), s, t};
  const Value key = iota(g, dims, 2, DType::kS32);
  const Value query = iota(g, dims, 1, DType::kS32) + broadcast(at, dims, {});
  return logical_and(compare(key, Compare::kLe, query),
                     compare(key, Compare::kGe, broadcast(start, dims, {0})));
}

Value attend(Value q, Value k, Value v, double scale, const Context& ctx, size_t layer) {
  const int64_t b = q.dim(0), s = q.dim(1), heads = q.dim(2), e = q.dim(3), kv = k.dim(2);
  const Value queries = reshape(q, {b, s, kv, heads / kv, e});
  std::string keys = "btke";
  if (ctx.cache != nullptr) {
    KvCache::Layer& own = ctx.cache->layers[layer];
    k = own.k = store(own.k, k, ctx.cache->at);
    v = own.v = store(own.v, v, ctx.cache->at);
    keys = "bkte";
  }
  auto weighted = [&](const Values& qkv) {
    const Value scores = einsum("bskge," + keys + "->bkgst", qkv[0], qkv[1], DType::kF32) * scale;
    const Value allowed = broadcast(ctx.mask, scores.dims(), {0, 3, 4});
    const Value probs = softmax_last(select(allowed, scores, constant_like(scores, kMasked)));
    return einsum("bkgst," + keys + "->bskge", convert(probs, qkv[2].dtype()), qkv[2]);
  };
  const Values qkv{queries, k, v};
  return reshape(ctx.remat ? checkpoint(qkv, weighted) : weighted(qkv), {b, s, heads * e});
}

}  // namespace hone::nn
