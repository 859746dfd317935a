// Weights as NF4 with double quantisation (nf4.h). The arrays are filled up to whole blocks and
// whole groups of scales.
#include <cstring>

#include "nn/dynamic_map.h"
#include "nn/nf4.h"
#include "nn/store.h"
#include "ops/ops.h"

namespace hone::nn {
namespace {

struct Sizes {
  int64_t values, blocks, groups;

  explicit Sizes(const Dims& dims)
      : values(Type{DType::kF32, dims}.size()),
        blocks((values + kNf4Block - 1) / kNf4Block),
        groups((blocks + kNf4ScaleGroup - 1) / kNf4ScaleGroup) {}
};

std::vector<Store::Part> parts(const Dims& dims) {
  const Sizes n(dims);
  return {{".codes", {DType::kU8, {n.blocks, kNf4Block / 2}}},
          {".absmax", {DType::kU8, {n.groups, kNf4ScaleGroup}}},
          {".absmax2", {DType::kF32, {n.groups}}},
          {".offset", {DType::kF32, {}}}};
}

template <class T>
void put(std::span<const T> from, std::span<std::byte> to) {
  std::memset(to.data(), 0, to.size());
  std::memcpy(to.data(), from.data(), from.size_bytes());
}

void encode(std::span<const float> values, const Dims&, std::span<const std::span<std::byte>> out) {
  const Nf4 q = quantise_nf4(values);
  put(std::span(q.codes), out[0]);
  put(std::span(q.absmax), out[1]);
  put(std::span(q.absmax2), out[2]);
  put(std::span(&q.offset, 1), out[3]);
}

// kNf4Values[code], by the code's bits: selects run in vectors where a look-up does not.
Value values_of(Value codes) {
  const Type type{DType::kF32, codes.dims()};
  Values level;
  for (float v : kNf4Values) level.push_back(constant(*codes.graph, type, static_cast<double>(v)));
  for (int bit = 1; level.size() > 1; bit *= 2) {
    const Value is_set = compare(logical_and(codes, constant_like(codes, bit)), Compare::kNe,
                                 constant_like(codes, 0));
    Values next;
    for (size_t i = 0; i < level.size(); i += 2)
      next.push_back(select(is_set, level[i + 1], level[i]));
    level = next;
  }
  return level[0];
}

// The blocks' scales, [groups, 256].
Value scales_of(const Values& parts) {
  Graph& g = *parts[1].graph;
  const auto map = dynamic_map(true);
  const Value table = literal(g, {DType::kF32, {256}}, {map.begin(), map.end()});
  const Value share = take(table, convert(parts[1], DType::kS32));
  const Value largest = broadcast(parts[2], share.dims(), {0});
  // A share is at most 1, so the minimum changes nothing; it keeps the compiler from rounding the
  // product and the sum as one, which bitsandbytes does not.
  return minimum(share * largest, largest) + broadcast(parts[3], share.dims(), {});
}

Value widen(const Values& parts, const Dims& dims) {
  const Sizes n(dims);
  const Dims pairs{n.blocks, kNf4Block / 2, 2};
  const Value bytes = broadcast(parts[0], pairs, {0, 1});
  const Value second = convert(iota(*bytes.graph, pairs, 2, DType::kS32), DType::kU8);
  const Value shift = (constant_like(second, 1) - second) * constant_like(second, 4);
  const Value codes = logical_and(shift_right(bytes, shift), constant_like(bytes, 15));
  const Value scales =
      slice(reshape(scales_of(parts), {n.groups * kNf4ScaleGroup}), 0, 0, n.blocks);
  const Value values = values_of(codes) * broadcast(scales, pairs, {0});
  const Value flat = reshape(values, {n.blocks * kNf4Block});
  return stop_gradient(reshape(slice(flat, 0, 0, n.values), dims));
}

}  // namespace

extern const Store kStoreNf4{"nf4", parts, encode, widen};

}  // namespace hone::nn
