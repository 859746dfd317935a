// Cases of operations that work element by element, and of conversions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/op_cases.h"
#include "ops/ops.h"

namespace hone {
namespace {

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

}  // namespace

void elementwise_cases(std::vector<OpCase>& all) {
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

void conversion_cases(std::vector<OpCase>& all) {
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

}  // namespace hone
