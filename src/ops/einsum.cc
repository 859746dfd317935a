// einsum: every matrix product in the program, and its own gradient.
#include <algorithm>
#include <map>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

bool has(std::string_view s, char c) { return s.find(c) != std::string_view::npos; }

struct Spec {
  std::string a, b, out;

  explicit Spec(std::string_view s) {
    const size_t comma = s.find(','), arrow = s.find("->");
    if (comma == std::string_view::npos || arrow == std::string_view::npos || arrow < comma)
      throw ShapeError("einsum \"{}\": want the form \"ab,bc->ac\"", s);
    a = s.substr(0, comma);
    b = s.substr(comma + 1, arrow - comma - 1);
    out = s.substr(arrow + 2);
  }
  // The axes of a raw dot_general result: batch, then what only a has, then what only b has.
  std::string raw() const {
    std::string batch, left, right;
    for (char c : a)
      if (has(out, c)) (has(b, c) ? batch : left) += c;
    for (char c : b)
      if (has(out, c) && !has(a, c)) right += c;
    return batch + left + right;
  }
};

Type infer(const Node& n) {
  const std::string& text = n.text("spec");
  const Spec s(text);
  std::map<char, int64_t> extent;
  auto bind = [&](const std::string& axes, const Type& t) {
    if (static_cast<int64_t>(axes.size()) != t.rank())
      throw ShapeError("einsum \"{}\": \"{}\" does not fit {}", text, axes, t.str());
    for (size_t i = 0; i < axes.size(); ++i)
      if (auto [it, fresh] = extent.emplace(axes[i], t.dims[i]); !fresh && it->second != t.dims[i])
        throw ShapeError("einsum \"{}\": axis {} is {} and {}", text, axes[i], it->second,
                         t.dims[i]);
  };
  bind(s.a, n.operand(0));
  bind(s.b, n.operand(1));
  if (n.operand(0).dtype != n.operand(1).dtype)
    throw ShapeError("einsum \"{}\": {} and {} have different dtypes; convert one", text,
                     n.operand(0).str(), n.operand(1).str());
  Type t{DType(n.integer("out")), {}};
  for (char c : s.raw()) t.dims.push_back(extent[c]);
  return t;
}

std::string axes_of(const std::string& in, const std::string& letters) {
  Dims axes;
  for (char c : letters) axes.push_back(static_cast<int64_t>(in.find(c)));
  return list(axes);
}

std::string emit(const Node& n, Args args) {
  const Spec s(n.text("spec"));
  std::string batch, contract;
  for (char c : s.a)
    if (has(s.b, c)) (has(s.out, c) ? batch : contract) += c;
  return fmt::format(
      "stablehlo.dot_general {}, {}, batching_dims = {} x {}, contracting_dims = {} x {}{}",
      args[0], args[1], axes_of(s.a, batch), axes_of(s.b, batch), axes_of(s.a, contract),
      axes_of(s.b, contract), signature(n));
}

// The gradient of a product of sums is a product of sums: rotate the spec.
Values vjp(const Node& n, Value, Value dy) {
  const Spec s(n.text("spec"));
  const std::string out = s.raw();
  const DType t = n.operand(0).dtype;
  const Value d = convert(dy, t);
  return {einsum(out + "," + s.b + "->" + s.a, d, n.in[1]),
          einsum(out + "," + s.a + "->" + s.b, d, n.in[0])};
}

}  // namespace

extern const Op kEinsum{"einsum", infer, emit, vjp};

Value einsum(std::string_view spec, Value a, Value b, DType out) {
  const Spec s(spec);
  const std::string raw = s.raw();
  auto sorted = [](std::string t) {
    std::sort(t.begin(), t.end());
    return t;
  };
  if (sorted(raw) != sorted(s.out))
    throw ShapeError("einsum \"{}\": the result names an axis that no operand has", spec);
  for (char c : s.a + s.b)
    if (!has(s.out, c) && !(has(s.a, c) && has(s.b, c)))
      throw ShapeError("einsum \"{}\": axis {} is summed on one side only; use sum()", spec, c);
  const Value y =
      apply(kEinsum, {a, b}, {{"spec", std::string(spec)}, {"out", static_cast<int64_t>(out)}});
  if (raw == s.out) return y;
  Dims perm;
  for (char c : s.out) perm.push_back(static_cast<int64_t>(raw.find(c)));
  return transpose(y, perm);
}

Value einsum(std::string_view spec, Value a, Value b) {
  const DType t = a.dtype();
  const bool half = t == DType::kBF16 || t == DType::kF16;
  return half ? convert(einsum(spec, a, b, DType::kF32), t) : einsum(spec, a, b, t);
}

}  // namespace hone
