// Random bits from a key, by ThreeFry: the same key gives the same bits on every device.
#include "ir/emit.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::vector<Type> infer(const Node& n) {
  if (n.operand(0) != Type{DType::kU64, {2}})
    throw ShapeError("random_bits: the key is {}; want tensor<2xui64>", n.operand(0).str());
  return {n.operand(0), {DType::kU32, n.list("dims")}};
}

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  const std::string state = e.fresh(), bits = e.fresh();
  e.line(fmt::format(
      "    {}, {} = stablehlo.rng_bit_generator {}, algorithm = THREE_FRY : ({}) -> ({}, {})",
      state, bits, args[0], n.operand(0).str(), n.results[0].str(), n.results[1].str()));
  return {state, bits};
}

const Structured kRules{infer, emit, nullptr};

}  // namespace

extern const Op kRandomBits{"random_bits", nullptr, nullptr, nullptr, &kRules};
Value random_bits(Value key, Dims dims) {
  const Value state =
      apply_structured(kRandomBits, *key.graph, {key}, {{"dims", std::move(dims)}}, nullptr);
  return {state.graph, state.id, 1};
}

}  // namespace hone
