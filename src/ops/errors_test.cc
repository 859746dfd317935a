// What a graph's builder is told when operands do not fit: op, types, axis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ir/grad.h"
#include "ops/ops.h"

namespace hone {
namespace {

constexpr size_t kFloor = 25;

struct Row {
  std::function<void(Graph&)> build;
  const char* message;
};

Value f32(Graph& g, Dims d) { return g.parameter("", {DType::kF32, std::move(d)}); }
Value s32(Graph& g, Dims d) { return g.parameter("", {DType::kS32, std::move(d)}); }

std::vector<Row> rows() {
  return {
      {[](Graph& g) { f32(g, {2}) + f32(g, {3}); }, "add: tensor<2xf32> and tensor<3xf32> differ"},
      {[](Graph& g) { f32(g, {2}) * s32(g, {2}); },
       "multiply: tensor<2xf32> and tensor<2xi32> differ"},
      {[](Graph& g) { einsum("ab,bc->ac", f32(g, {2, 3}), f32(g, {4, 5})); }, "axis b is 3 and 4"},
      {[](Graph& g) { einsum("ab,bc->ac", f32(g, {2}), f32(g, {4, 5})); },
       "\"ab\" does not fit tensor<2xf32>"},
      {[](Graph& g) { einsum("ab,bc->ad", f32(g, {2, 3}), f32(g, {3, 5})); },
       "names an axis that no operand has"},
      {[](Graph& g) { einsum("ab,bc->a", f32(g, {2, 3}), f32(g, {3, 5})); },
       "axis c is summed on one side only"},
      {[](Graph& g) { einsum("abd,bc->ac", f32(g, {2, 3, 4}), f32(g, {3, 5})); },
       "axis d is summed on one side only"},
      {[](Graph& g) { einsum("ab->a", f32(g, {2, 3}), f32(g, {3, 5})); }, "want the form"},
      {[](Graph& g) { einsum("a,a->a", f32(g, {2}), s32(g, {2})); }, "different dtypes"},
      {[](Graph& g) { reshape(f32(g, {2, 3}), {7}); }, "reshape: tensor<2x3xf32> has not the size"},
      {[](Graph& g) { transpose(f32(g, {2, 3}), {0, 0}); }, "[0, 0] is no permutation"},
      {[](Graph& g) { transpose(f32(g, {2, 3}), {0}); }, "is no permutation"},
      {[](Graph& g) { broadcast(f32(g, {2}), {3}, {0}); },
       "broadcast: tensor<2xf32> along axes [0]"},
      {[](Graph& g) { broadcast(f32(g, {2}), {2, 2}, {5}); }, "broadcast:"},
      {[](Graph& g) { slice(f32(g, {4}), 0, 2, 9); }, "slice: [2, 9) of axis 0"},
      {[](Graph& g) { slice(f32(g, {4}), 3, 0, 1); }, "slice: tensor<4xf32> has no axis 3"},
      {[](Graph& g) { concat({f32(g, {2, 3}), f32(g, {2, 4})}, 0); }, "differ outside axis 0"},
      {[](Graph& g) { concat({f32(g, {2, 3}), f32(g, {2})}, 0); }, "differ outside axis 0"},
      {[](Graph& g) { pad(f32(g, {2}), {-1}, {0}); }, "pad: [-1] and [0]"},
      {[](Graph& g) { sum(f32(g, {2, 3}), {0, 0}); }, "sum: axes [0, 0] repeat"},
      {[](Graph& g) { sum(f32(g, {2, 3}), {2}); }, "sum: tensor<2x3xf32> has no axis 2"},
      {[](Graph& g) { take(f32(g, {2, 3}), f32(g, {4})); }, "want i32 rows"},
      {[](Graph& g) { scatter_add(f32(g, {2, 3}), s32(g, {4}), f32(g, {4, 2})); },
       "scatter_add: rows tensor<4xi32>"},
      {[](Graph& g) { dynamic_slice(f32(g, {4}), {s32(g, {})}, {5}); }, "dynamic_slice: sizes [5]"},
      {[](Graph& g) { dynamic_update_slice(f32(g, {4}), f32(g, {5}), {s32(g, {})}); },
       "does not fit into tensor<4xf32>"},
      {[](Graph& g) { select(f32(g, {2}), f32(g, {2}), f32(g, {2})); },
       "select: tensor<2xf32> between"},
      {[](Graph& g) { random_bits(s32(g, {2}), {3}); }, "random_bits: the key is"},
      {[](Graph& g) { bit_cast(f32(g, {2}), DType::kF64); }, "bit_cast:"},
      {[](Graph& g) {
         scan(g, 3, {f32(g, {2})}, {f32(g, {4, 2})},
              [](const Values& c, const Values&) -> ScanStep { return {c, {}}; });
       },
       "scan: 3 iterations over tensor<4x2xf32>"},
      {[](Graph& g) {
         scan(g, 3, {f32(g, {2})}, {},
              [](const Values& c, const Values&) -> ScanStep { return {{sum(c[0], {0})}, {}}; });
       },
       "scan: carry 0 is tensor<2xf32> before and tensor<f32> after"},
      {[](Graph& g) { grad(f32(g, {2}), {}); }, "grad: want a float scalar, got tensor<2xf32>"},
  };
}

TEST(OpErrors, NameTheOpAndTheTypes) {
  for (const Row& r : rows()) {
    Graph g;
    EXPECT_THAT([&] { r.build(g); },
                testing::ThrowsMessage<ShapeError>(testing::HasSubstr(r.message)));
  }
  std::printf("%zu errors\n", rows().size());
  EXPECT_GE(rows().size(), kFloor);
}

}  // namespace
}  // namespace hone
