// One short module for each syntax, held against the text in tests/golden/emit.
// HONE_UPDATE_GOLDEN=1 writes the texts anew; their diff is the review.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

#include "ir/emit.h"
#include "ir/grad.h"
#include "ops/ops.h"

namespace hone {
namespace {

constexpr size_t kFloor = 8;
const std::string kFolder = "tests/golden/emit/";

struct Case {
  const char* name;
  std::function<std::string(Graph&)> emit;
};

Value f32(Graph& g, const char* label, Dims d) {
  return g.parameter(label, {DType::kF32, std::move(d)});
}

std::vector<Case> cases() {
  return {
      {"einsum",
       [](Graph& g) {
         const Value x = f32(g, "x", {2, 3, 4}), w = f32(g, "model.w.weight", {5, 4});
         return emit(g, {{einsum("bsi,oi->bos", x, w)}});
       }},
      {"reduce", [](Graph& g) { return emit(g, {{reduce_max(f32(g, "x", {2, 3}), {1})}}); }},
      {"compare_select",
       [](Graph& g) {
         const Value x = f32(g, "x", {2});
         return emit(g, {{select(compare(x, Compare::kGt, zeros_like(x)), x, -x)}});
       }},
      {"gather_scatter",
       [](Graph& g) {
         const Value table = f32(g, "table", {7, 2});
         const Value rows = g.parameter("rows", {DType::kS32, {3}});
         return emit(g, grad(sum(take(table, rows), {0, 1}), {{table}}));
       }},
      {"donated",
       [](Graph& g) {
         const Value cache = f32(g, "cache", {8, 2}), x = f32(g, "x", {1, 2});
         const Value at = g.parameter("at", {DType::kS32, {}});
         const Value out = dynamic_update_slice(cache, x, {at, zeros_like(at)});
         return emit(g, {{out}}, {.kernels = {}, .donated = {{0, 0}}});
       }},
      {"scan",
       [](Graph& g) {
         const Value x = f32(g, "x", {2}), w = f32(g, "w", {3, 2}), b = f32(g, "b", {2});
         const ScanResult r =
             scan(g, 3, {x}, {w}, [&](const Values& c, const Values& s) -> ScanStep {
               return {{c[0] * s[0] + b}, {tanh(c[0])}};
             });
         return emit(g, {{r.carry[0], r.ys[0]}});
       }},
      {"custom_call",
       [](Graph& g) {
         const Value y = fused("hone_twice", {f32(g, "x", {2})}, {{"eps", 1e-5}},
                               [](const Values& v) { return v[0] * 2.0; });
         return emit(g, {{y}}, {.kernels = {"hone_twice"}, .donated = {}});
       }},
      {"composition",
       [](Graph& g) {
         const Value y = fused("hone_twice", {f32(g, "x", {2})}, {{"eps", 1e-5}},
                               [](const Values& v) { return v[0] * 2.0; });
         return emit(g, {{y}});
       }},
      {"random_bits_barrier",
       [](Graph& g) {
         const Value key = g.parameter("key", {DType::kU64, {2}});
         return emit(g, {{barrier({random_bits(key, {4}), random_bits(key, {2})})[1]}});
       }},
  };
}

TEST(EmitGolden, TextIsWhatItWas) {
  size_t checked = 0;
  for (const Case& c : cases()) {
    Graph once, again;
    const std::string text = c.emit(once);
    EXPECT_EQ(text, c.emit(again)) << c.name << ": the same graph gave other bytes";
    const std::string file = kFolder + c.name + ".mlir";
    if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) std::ofstream(file) << text;
    std::ifstream in(file);
    ASSERT_TRUE(in) << file;
    EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(in), {})) << c.name;
    ++checked;
  }
  std::printf("%zu modules\n", checked);
  EXPECT_GE(checked, kFloor);
}

}  // namespace
}  // namespace hone
