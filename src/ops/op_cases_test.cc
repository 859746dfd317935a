// Cases of products, movement and sources; and the table of all.
#include "ops/op_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/ops.h"

namespace hone {
namespace {

void products(std::vector<OpCase>& all) {
  struct Row {
    const char* spec;
    Dims a, b;
  };
  const Row rows[] = {
      {"ab,bc->ac", {2, 3}, {3, 4}},
      {"ba,bc->ac", {3, 2}, {3, 4}},
      {"ab,cb->ac", {2, 3}, {4, 3}},
      {"ab,bc->ca", {2, 3}, {3, 4}},
      {"bsi,oi->bso", {2, 3, 4}, {5, 4}},
      {"bij,bjk->bik", {2, 3, 4}, {2, 4, 5}},
      {"bij,bjk->bki", {2, 3, 4}, {2, 4, 5}},
      {"a,b->ab", {3}, {4}},
      {"a,a->a", {3}, {3}},
      {"a,a->", {3}, {3}},
      {",ab->ab", {}, {2, 3}},
      {"ab,ab->", {2, 3}, {2, 3}},
      {"bskge,btke->bkgst", {2, 3, 2, 2, 4}, {2, 5, 2, 4}},
      {"bkgst,btke->bskge", {2, 2, 2, 3, 5}, {2, 5, 2, 4}},
      {"bskge,bkte->bkgst", {2, 3, 2, 2, 4}, {2, 2, 5, 4}},
  };
  for (const Row& r : rows)
    all.push_back({"einsum",
                   r.spec,
                   {f64(r.a), f64(r.b)},
                   [spec = std::string(r.spec)](Graph&, const Values& in) {
                     return einsum(spec, in[0], in[1]);
                   }});
  all.push_back({"einsum",
                 "matrix product",
                 {f64({2, 2}), f64({2, 2})},
                 [](Graph&, const Values& in) { return einsum("ab,bc->ac", in[0], in[1]); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) -> Numbers {
                   const Numbers &a = in[0], &b = in[1];
                   return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                           a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
                 }});
  for (const Dims& axes : {Dims{0}, Dims{1}, Dims{-1}, Dims{0, 2}, Dims{0, 1, 2}}) {
    all.push_back(
        {"sum", Type{DType::kS32, axes}.str(), {f64({2, 3, 4})}, [axes](Graph&, const Values& in) {
           return sum(in[0], axes);
         }});
    all.push_back({"reduce_max",
                   Type{DType::kS32, axes}.str(),
                   {f64({2, 3, 4})},
                   [axes](Graph&, const Values& in) { return reduce_max(in[0], axes); }});
  }
  all.push_back({"sum",
                 "all",
                 {f64({4})},
                 [](Graph&, const Values& in) { return sum(in[0], {0}); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) -> Numbers {
                   return {in[0][0] + in[0][1] + in[0][2] + in[0][3]};
                 }});
  all.push_back({"reduce_max",
                 "all",
                 {f64({4})},
                 [](Graph&, const Values& in) { return reduce_max(in[0], {0}); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) -> Numbers {
                   return {*std::ranges::max_element(in[0])};
                 }});
  all.push_back({"reduce_max",
                 "integers",
                 {s32({4})},
                 [](Graph&, const Values& in) { return reduce_max(in[0], {0}); },
                 Domain::kRows,
                 [](const std::vector<Numbers>& in) -> Numbers {
                   return {*std::ranges::max_element(in[0])};
                 }});
  for (Value (*f)(Value) : {mean_last, softmax_last, log_sum_exp_last})
    all.push_back({"sum", "softmax and friends", {f64({2, 3, 4})}, [f](Graph&, const Values& in) {
                     return f(in[0]);
                   }});
  all.push_back({"sum",
                 "softmax values",
                 {f64({1, 3})},
                 [](Graph&, const Values& in) { return softmax_last(in[0] + 800.0); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) {
                   Numbers out;
                   double total = 0;
                   for (double x : in[0]) total += std::exp(x);
                   for (double x : in[0]) out.push_back(std::exp(x) / total);
                   return out;
                 }});
  all.push_back({"reduce_max",
                 "arg_max_last",
                 {f64({3, 5})},
                 [](Graph&, const Values& in) { return arg_max_last(in[0]); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) {
                   Numbers out;
                   for (int r = 0; r < 3; ++r) {
                     const auto begin = in[0].begin() + r * 5;
                     out.push_back(static_cast<double>(std::max_element(begin, begin + 5) - begin));
                   }
                   return out;
                 }});
}

void movement(std::vector<OpCase>& all) {
  all.push_back({"reshape",
                 "2x6 to 3x4",
                 {f64({2, 6})},
                 [](Graph&, const Values& in) { return reshape(in[0], {3, 4}); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) { return in[0]; }});
  for (const Dims& perm : {Dims{1, 0, 2}, Dims{2, 1, 0}, Dims{1, 2, 0}})
    all.push_back({"transpose",
                   Type{DType::kS32, perm}.str(),
                   {f64({2, 3, 4})},
                   [perm](Graph&, const Values& in) { return transpose(in[0], perm); }});
  all.push_back({"transpose",
                 "values",
                 {f64({2, 2})},
                 [](Graph&, const Values& in) { return transpose(in[0], {1, 0}); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) -> Numbers {
                   return {in[0][0], in[0][2], in[0][1], in[0][3]};
                 }});
  all.push_back({"broadcast",
                 "new axis",
                 {f64({3})},
                 [](Graph&, const Values& in) { return broadcast(in[0], {2, 3}, {1}); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) -> Numbers {
                   return {in[0][0], in[0][1], in[0][2], in[0][0], in[0][1], in[0][2]};
                 }});
  all.push_back({"broadcast", "grown axis", {f64({2, 1})}, [](Graph&, const Values& in) {
                   return broadcast(in[0], {2, 3}, {0, 1});
                 }});
  all.push_back({"broadcast", "scalar", {f64({})}, [](Graph&, const Values& in) {
                   return broadcast(in[0], {2, 3}, {});
                 }});
  all.push_back({"broadcast", "axis of size 1 kept", {f64({1, 2})}, [](Graph&, const Values& in) {
                   return broadcast(in[0], {3, 1, 2}, {1, 2});
                 }});
  for (int64_t axis : {0, 1, -1})
    all.push_back({"slice", std::to_string(axis), {f64({4, 5})}, [axis](Graph&, const Values& in) {
                     return slice(in[0], axis, 1, 3);
                   }});
  all.push_back({"slice",
                 "values",
                 {f64({4})},
                 [](Graph&, const Values& in) { return slice(in[0], 0, 1, 3); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) -> Numbers { return {in[0][1], in[0][2]}; }});
  for (int64_t axis : {0, 1})
    all.push_back(
        {"concat",
         std::to_string(axis),
         {f64({2, 2}), f64({2, 2}), f64({2, 2})},
         [axis](Graph&, const Values& in) { return concat({in[0], in[1], in[2]}, axis); }});
  all.push_back(
      {"concat",
       "values",
       {f64({1}), f64({2})},
       [](Graph&, const Values& in) { return concat({in[0], in[1]}, 0); },
       Domain::kNormal,
       [](const std::vector<Numbers>& in) -> Numbers { return {in[0][0], in[1][0], in[1][1]}; }});
  all.push_back({"pad", "both sides", {f64({2, 3})}, [](Graph&, const Values& in) {
                   return pad(in[0], {1, 0}, {2, 1}, 3.0);
                 }});
  all.push_back(
      {"pad",
       "values",
       {f64({2})},
       [](Graph&, const Values& in) { return pad(in[0], {1}, {1}, 7.0); },
       Domain::kNormal,
       [](const std::vector<Numbers>& in) -> Numbers { return {7, in[0][0], in[0][1], 7}; }});
  auto corner = [](const Value& at) {
    return Values{reshape(slice(at, 0, 0, 1), {}), reshape(slice(at, 0, 1, 2), {})};
  };
  all.push_back(
      {"dynamic_slice", "2x2 of 4x5", {f64({4, 5}), s32({2})}, [corner](Graph&, const Values& in) {
         return dynamic_slice(in[0], corner(in[1]), {2, 2});
       }});
  all.push_back({"dynamic_update_slice",
                 "2x2 into 4x5",
                 {f64({4, 5}), f64({2, 2}), s32({2})},
                 [corner](Graph&, const Values& in) {
                   return dynamic_update_slice(in[0], in[1], corner(in[2]));
                 }});
  all.push_back({"dynamic_slice",
                 "values",
                 {f64({5}), s32({})},
                 [](Graph&, const Values& in) { return dynamic_slice(in[0], {in[1]}, {2}); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) -> Numbers {
                   const auto i = static_cast<size_t>(in[1][0]);
                   return {in[0][i], in[0][i + 1]};
                 }});
  all.push_back(
      {"dynamic_update_slice",
       "values",
       {f64({4}), f64({1}), s32({})},
       [](Graph&, const Values& in) { return dynamic_update_slice(in[0], in[1], {in[2]}); },
       Domain::kNormal,
       [](const std::vector<Numbers>& in) {
         Numbers out = in[0];
         out[static_cast<size_t>(in[2][0])] = in[1][0];
         return out;
       }});
  for (const Dims& rows : {Dims{}, Dims{4}, Dims{2, 3}})
    all.push_back({"take",
                   Type{DType::kS32, rows}.str(),
                   {f64({3, 4}), s32(rows)},
                   [](Graph&, const Values& in) { return take(in[0], in[1]); }});
  all.push_back({"take",
                 "scalars",
                 {f64({3}), s32({4})},
                 [](Graph&, const Values& in) { return take(in[0], in[1]); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) {
                   Numbers out;
                   for (double r : in[1]) out.push_back(in[0][static_cast<size_t>(r)]);
                   return out;
                 }});
  all.push_back({"scatter_add",
                 "rows repeat",
                 {f64({3, 2}), s32({5}), f64({5, 2})},
                 [](Graph&, const Values& in) { return scatter_add(in[0], in[1], in[2]); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) {
                   Numbers out = in[0];
                   for (size_t i = 0; i < 5; ++i)
                     for (size_t j = 0; j < 2; ++j)
                       out[static_cast<size_t>(in[1][i]) * 2 + j] += in[2][i * 2 + j];
                   return out;
                 }});
}

void sources(std::vector<OpCase>& all) {
  all.push_back({"iota",
                 "axis 1",
                 {f64({2, 3})},
                 [](Graph& g, const Values& in) { return in[0] * iota(g, {2, 3}, 1, DType::kF64); },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) -> Numbers {
                   return {0, in[0][1], 2 * in[0][2], 0, in[0][4], 2 * in[0][5]};
                 }});
  all.push_back(
      {"literal",
       "table",
       {f64({2})},
       [](Graph& g, const Values& in) { return in[0] * literal(g, f64({2}), {0.1, -3e-7}); },
       Domain::kNormal,
       [](const std::vector<Numbers>& in) -> Numbers {
         return {in[0][0] * 0.1, in[0][1] * -3e-7};
       }});
  all.push_back({"constant",
                 "infinity",
                 {f64({2})},
                 [](Graph&, const Values& in) {
                   return maximum(in[0],
                                  constant_like(in[0], -std::numeric_limits<double>::infinity()));
                 },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) { return in[0]; }});
  all.push_back(
      {"random_bits",
       "half are set",
       {f64({})},
       [](Graph& g, const Values& in) {
         const Value key = literal(g, {DType::kU64, {2}}, {1, 2});
         const Value top = shift_right(random_bits(key, {1024}), constant(g, u32({1024}), 31));
         const Value share = sum(convert(top, DType::kF64), {0}) / 1024.0;
         return convert(compare(abs(share - 0.5), Compare::kLt, constant_like(share, 0.05)),
                        DType::kF64) +
                in[0] * 0.0;
       },
       Domain::kNormal,
       [](const std::vector<Numbers>&) -> Numbers { return {1}; }});
  all.push_back(
      {"fused", "square times weight", {f64({2, 3}), f64({3})}, [](Graph&, const Values& in) {
         return fused("no_such_kernel", {in[0], in[1]}, {{"eps", 1.0}},
                      [](const Values& v) { return v[0] * v[0] * spread(v[1], v[0], {1}); });
       }});
  all.push_back(
      {"fused", "operands depend on each other", {f64({3})}, [](Graph&, const Values& in) {
         return fused("no_such_kernel", {in[0], in[0] * in[0], tanh(in[0])}, {},
                      [](const Values& v) { return v[0] * v[1] + v[2] * v[1]; });
       }});
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> all;
  elementwise_cases(all);
  conversion_cases(all);
  products(all);
  movement(all);
  sources(all);
  checkpoint_cases(all);
  scan_cases(all);
  grouped_cases(all);
  return all;
}

}  // namespace hone
