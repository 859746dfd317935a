#include "ops/op_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/ops.h"

namespace hone {
namespace {

Type f64(Dims d) { return {DType::kF64, std::move(d)}; }
Type s32(Dims d) { return {DType::kS32, std::move(d)}; }
Type u32(Dims d) { return {DType::kU32, std::move(d)}; }

std::vector<Dims> shapes() { return {{}, {3}, {2, 5}, {2, 1, 4}}; }
std::string shape_name(const Dims& d) { return Type{DType::kF64, d}.str(); }

using Unary = Value (*)(Value);
using Binary = Value (*)(Value, Value);

void unary(std::vector<OpCase>& all, std::string op, Unary f, double (*reference)(double),
           Domain domain = Domain::kNormal) {
  for (const Dims& d : shapes())
    all.push_back({op,
                   shape_name(d),
                   {f64(d)},
                   [f](Graph&, const Values& in) { return f(in[0]); },
                   domain,
                   [reference](const std::vector<Numbers>& in) {
                     Numbers out;
                     for (double x : in[0]) out.push_back(reference(x));
                     return out;
                   }});
}

void binary(std::vector<OpCase>& all, std::string op, const Type& scalar, Binary f,
            double (*reference)(double, double), Domain domain = Domain::kNormal) {
  for (const Dims& d : shapes()) {
    const Type t{scalar.dtype, d};
    all.push_back({op,
                   t.str(),
                   {t, t},
                   [f](Graph&, const Values& in) { return f(in[0], in[1]); },
                   domain,
                   [reference](const std::vector<Numbers>& in) {
                     Numbers out;
                     for (size_t i = 0; i < in[0].size(); ++i)
                       out.push_back(reference(in[0][i], in[1][i]));
                     return out;
                   }});
  }
}

void elementwise(std::vector<OpCase>& all) {
  const Type f = f64({}), u = u32({});
  unary(all, "exponential", exp, [](double x) { return std::exp(x); });
  unary(all, "log", log, [](double x) { return std::log(x); }, Domain::kPositive);
  unary(all, "sqrt", sqrt, [](double x) { return std::sqrt(x); }, Domain::kPositive);
  unary(all, "rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, Domain::kPositive);
  unary(all, "tanh", tanh, [](double x) { return std::tanh(x); });
  unary(all, "logistic", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); });
  unary(all, "sine", sin, [](double x) { return std::sin(x); });
  unary(all, "cosine", cos, [](double x) { return std::cos(x); });
  unary(all, "abs", abs, [](double x) { return std::abs(x); });
  unary(all, "negate", [](Value x) { return -x; }, [](double x) { return -x; });
  unary(all, "floor", floor, [](double x) { return std::floor(x); });
  unary(all, "stop_gradient", stop_gradient, [](double x) { return x; });
  unary(all, "logistic", silu, [](double x) { return x / (1 + std::exp(-x)); });
  unary(all, "tanh", gelu_tanh, [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  });
  binary(all, "add", f, operator+, [](double a, double b) { return a + b; });
  binary(all, "subtract", f, operator-, [](double a, double b) { return a - b; });
  binary(all, "multiply", f, operator*, [](double a, double b) { return a * b; });
  binary(all, "divide", f, operator/, [](double a, double b) { return a / b; }, Domain::kPositive);
  binary(
      all, "power", f, power, [](double a, double b) { return std::pow(a, b); }, Domain::kPositive);
  binary(all, "maximum", f, maximum, [](double a, double b) { return std::max(a, b); });
  binary(all, "minimum", f, minimum, [](double a, double b) { return std::min(a, b); });
  binary(all, "remainder", f, remainder, [](double a, double b) { return std::fmod(a, b); });
  binary(
      all, "and", u, logical_and,
      [](double a, double b) -> double {
        return static_cast<uint32_t>(a) & static_cast<uint32_t>(b);
      },
      Domain::kBits);
  binary(
      all, "or", u, logical_or,
      [](double a, double b) -> double {
        return static_cast<uint32_t>(a) | static_cast<uint32_t>(b);
      },
      Domain::kBits);
  binary(
      all, "xor", u, logical_xor,
      [](double a, double b) -> double {
        return static_cast<uint32_t>(a) ^ static_cast<uint32_t>(b);
      },
      Domain::kBits);
  binary(
      all, "shift_left", u,
      [](Value a, Value b) { return shift_left(a, logical_and(b, constant_like(b, 7))); },
      [](double a, double b) -> double {
        return static_cast<uint32_t>(a) << (static_cast<uint32_t>(b) & 7);
      },
      Domain::kBits);
  binary(
      all, "shift_right_logical", u,
      [](Value a, Value b) { return shift_right(a, logical_and(b, constant_like(b, 7))); },
      [](double a, double b) -> double {
        return static_cast<uint32_t>(a) >> (static_cast<uint32_t>(b) & 7);
      },
      Domain::kBits);
  all.push_back({"not",
                 "u32",
                 {u32({4})},
                 [](Graph&, const Values& in) { return logical_not(in[0]); },
                 Domain::kBits,
                 [](const std::vector<Numbers>& in) {
                   Numbers out;
                   for (double x : in[0]) out.push_back(~static_cast<uint32_t>(x));
                   return out;
                 }});
}

void conversions(std::vector<OpCase>& all) {
  for (DType t : {DType::kF32, DType::kF64, DType::kS32, DType::kBF16, DType::kF16, DType::kS64})
    all.push_back({"convert", std::string(name(t)), {f64({2, 3})}, [t](Graph&, const Values& in) {
                     return convert(in[0] * (is_float(t) ? 1.0 : 0.0), t);
                   }});
  all.push_back({"bit_cast",
                 "f32 there and back",
                 {f64({5})},
                 [](Graph&, const Values& in) {
                   return bit_cast(bit_cast(stop_gradient(in[0]), DType::kU64), DType::kF64);
                 },
                 Domain::kNormal,
                 [](const std::vector<Numbers>& in) { return in[0]; }});
  using enum Compare;
  for (Compare how : {kEq, kNe, kLt, kLe, kGt, kGe})
    all.push_back({"compare",
                   std::to_string(static_cast<int>(how)),
                   {s32({7}), s32({7})},
                   [how](Graph&, const Values& in) {
                     return convert(compare(in[0], how, in[1]), DType::kS32);
                   },
                   Domain::kRows,
                   [how](const std::vector<Numbers>& in) {
                     Numbers out;
                     for (size_t i = 0; i < in[0].size(); ++i) {
                       const double a = in[0][i], b = in[1][i];
                       const bool r[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
                       out.push_back(r[static_cast<int>(how)]);
                     }
                     return out;
                   }});
  all.push_back({"select", "by sign", {f64({2, 3}), f64({2, 3})}, [](Graph&, const Values& in) {
                   return select(compare(in[0], kGt, in[1]), in[0] * 2.0, in[1] * in[0]);
                 }});
}

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

void checkpoints(std::vector<OpCase>& all) {
  all.push_back(
      {"checkpoint", "captures a weight", {f64({2, 3}), f64({3, 3})}, [](Graph&, const Values& in) {
         return checkpoint({in[0]},
                           [&](const Values& v) { return tanh(einsum("ab,bc->ac", v[0], in[1])); });
       }});
  all.push_back(
      {"checkpoint", "one after another", {f64({3}), f64({3})}, [](Graph&, const Values& in) {
         Value x = in[0];
         for (int i = 0; i < 3; ++i)
           x = checkpoint({x}, [&](const Values& v) { return sin(v[0] * in[1]) + v[0] * x; });
         return x;
       }});
  all.push_back({"barrier", "two operands", {f64({3}), f64({2})}, [](Graph&, const Values& in) {
                   const Values out = barrier({tanh(in[0]), in[1]});
                   return concat({out[0], out[1] * out[1]}, 0);
                 }});
}

void scans(std::vector<OpCase>& all) {
  for (Remat remat : {Remat::kNone, Remat::kBlock}) {
    const std::string kind = remat == Remat::kNone ? " keeping" : " computing again";
    all.push_back({"scan",
                   "carry and outputs" + kind,
                   {f64({3}), f64({4, 3}), f64({3})},
                   [remat](Graph& g, const Values& in) {
                     const ScanResult r = scan(
                         g, 4, {in[0]}, {in[1]},
                         [&](const Values& c, const Values& x) -> ScanStep {
                           const Value next = tanh(c[0] * in[2] + sin(x[0]));
                           return {{next}, {next * next * x[0]}};
                         },
                         remat);
                     return concat({reshape(r.carry[0], {1, 3}), r.ys[0]}, 0);
                   }});
    all.push_back(
        {"scan", "nested" + kind, {f64({2}), f64({3, 2})}, [remat](Graph& g, const Values& in) {
           return scan(
                      g, 3, {in[0]}, {in[1]},
                      [&](const Values& c, const Values& x) -> ScanStep {
                        Graph& body = *c[0].graph;
                        const ScanResult inner = scan(
                            body, 2, {c[0]}, {},
                            [&](const Values& d, const Values&) -> ScanStep {
                              return {{sin(d[0] * x[0] + in[0])}, {}};
                            },
                            remat);
                        return {{inner.carry[0] + x[0] * c[0]}, {}};
                      },
                      remat)
               .carry[0];
         }});
    all.push_back({"scan",
                   "integer carry" + kind,
                   {f64({5, 2}), f64({2})},
                   [remat](Graph& g, const Values& in) {
                     const Value zero = constant(g, s32({}), 0);
                     return scan(
                                g, 5, {zero, in[1]}, {},
                                [&](const Values& c, const Values&) -> ScanStep {
                                  const Value row = reshape(
                                      dynamic_slice(in[0], {c[0], zeros_like(c[0])}, {1, 2}), {2});
                                  return {{c[0] + 1.0, c[1] * row}, {}};
                                },
                                remat)
                         .carry[1];
                   }});
    all.push_back(
        {"scan", "only outputs matter" + kind, {f64({3, 2})}, [remat](Graph& g, const Values& in) {
           const Value start = constant(g, f64({2}), 1);
           return scan(
                      g, 3, {start}, {in[0]},
                      [&](const Values& c, const Values& x) -> ScanStep {
                        return {{c[0] + x[0] * x[0]}, {c[0] * x[0]}};
                      },
                      remat)
               .ys[0];
         }});
  }
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> all;
  elementwise(all);
  conversions(all);
  products(all);
  movement(all);
  sources(all);
  checkpoints(all);
  scans(all);
  return all;
}

}  // namespace hone
